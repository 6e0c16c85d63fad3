"""How long the compact programme takes to build, and how much memory: arrays against modelling languages.

Each builder runs in a process of its own, since the peak of a process never falls again. Part of
``prefixplace bench exact``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from exact.backends.compact import building
from exact.compact import CompactProblem, compact_arrays, compact_problem
from prefixplace.instance import Instance
from prefixplace.tree import PrefixTree

__all__ = ["BUILDERS", "Building", "measure"]

WORKERS = 4


@dataclass(frozen=True)
class Building:
    """Seconds from the instance to the finished model; peak memory of the process in MB, before and after."""

    builder: str
    placements: int
    variables: int
    seconds: float
    before: float
    peak: float


def measure(placements: int = 240_000) -> Iterator[Building]:
    """Build the programme of a random forest with ``n·M = placements`` by every builder, one after another."""
    for name in BUILDERS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            yield pool.submit(_measure, name, placements).result()


def _measure(name: str, placements: int) -> Building:
    instance, build = _instance(placements // WORKERS), BUILDERS[name]()
    build(compact_problem(_instance(200)))  # the first call imports
    before, start = _peak(), time.perf_counter()
    problem = compact_problem(instance)
    model = build(problem)
    seconds = time.perf_counter() - start
    found = Building(name, placements, problem.num_variables, seconds, before, _peak())
    del model
    return found


def _instance(n: int) -> Instance:
    rng = np.random.default_rng(0)
    parents = [-1 if i < 100 else int(rng.integers(max(0, i - 2000), i)) for i in range(n)]
    local, coverage = rng.random((WORKERS, n)), rng.random(n)
    tree = PrefixTree.from_parents(parents)
    return Instance.from_values(tree, local=local, coverage=coverage, budgets=[n // 10] * WORKERS)


def _peak() -> float:
    """Peak resident memory of this process in megabytes.

    On Linux ``getrusage`` also counts the parent's memory at the moment of the fork; ``VmHWM`` does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # in bytes on macOS


def _highspy() -> Callable[[CompactProblem], Any]:
    from exact.backends.highs import new_highs, pass_model

    def build(problem: CompactProblem) -> Any:
        highs = new_highs()
        pass_model(highs, compact_arrays(problem), problem.objective_scale)
        return highs

    return build


def _pulp() -> Callable[[CompactProblem], Any]:
    from exact.backends.pulp_model import pulp_model

    def build(problem: CompactProblem) -> Any:
        with building():
            return pulp_model(problem, problem.objective_scale)

    return build


def _cp_sat() -> Callable[[CompactProblem], Any]:
    from exact.backends.cp_sat import cp_sat_model, whole_numbers

    def build(problem: CompactProblem) -> Any:
        with building():
            return cp_sat_model(problem, whole_numbers(problem.cost, 50)[0])

    return build


def _mathopt() -> Callable[[CompactProblem], Any]:
    from exact.backends.scip import mathopt_model

    def build(problem: CompactProblem) -> Any:
        with building():
            return mathopt_model(problem, problem.objective_scale)

    return build


BUILDERS: dict[str, Callable[[], Callable[[CompactProblem], Any]]] = {
    "highspy arrays": _highspy,
    "PuLP": _pulp,
    "CP-SAT": _cp_sat,
    "MathOpt": _mathopt,
}
