"""What can be searched for: the worst ratio of a method, or of an optimum to a relaxation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from instances.search.gaps import (
    compact_solution,
    configuration_solution,
    worst_compact_gap,
    worst_configuration_gap,
)
from instances.search.realism import Values
from instances.search.revealing import Row, objective_row, worst_values
from instances.search.runs import METHODS, Run, SearchedMethod
from instances.search.shapes import Shape

__all__ = ["TARGETS", "Examined", "Target", "ascend"]

_STEPS = 30
_PROGRESS = 1e-7


@dataclass(frozen=True, eq=False)
class Examined:
    """The ratio at some values, and what the next LP holds fixed (decisions and optimum, or an LP solution)."""

    ratio: float
    fixed: Any


@dataclass(frozen=True)
class Target:
    """A quantity ≤ 1 that the search makes small.

    Attributes
    ----------
    name, summary : str
    known : str
        The least value known, as text.
    examine : callable
        Shape, values, z → :class:`Examined`; None where everything is worth 0.
    reveal : callable
        Shape, values, what is fixed, margin → (ratio, z) of the factor-revealing LP, or None.
    propose : callable
        Shape, values, random generator, present z or None → another z to ascend from, or None when it drew none.
    reachable : bool
        Whether budgets must reach every chunk, because the ratio is 0 otherwise.
    """

    name: str
    summary: str
    known: str
    examine: Callable[[Shape, Values, Row], Examined | None]
    reveal: Callable[[Shape, Values, Any, float], tuple[float, Row] | None]
    propose: Callable[[Shape, Values, np.random.Generator, Row | None], Row | None]
    reachable: bool = False


def ascend(target: Target, shape: Shape, values: Values, z: Row, margin: float) -> tuple[float, Row] | None:
    """Alternate solving and the LP over values from z on, as long as the ratio falls.

    Returns the last ratio that was examined, and its values scaled to an optimum (or relaxation) of about 1; None
    where everything is worth 0.
    """
    best: tuple[float, Row] | None = None
    for _ in range(_STEPS):
        examined = target.examine(shape, values, z)
        if examined is None or (best is not None and examined.ratio >= best[0] - _PROGRESS):
            break
        best = examined.ratio, z
        revealed = target.reveal(shape, values, examined.fixed, margin)
        if revealed is None:
            break
        z = revealed[1]
    return best


def _kicked(shape: Shape, values: Values, rng: np.random.Generator, z: Row | None) -> Row:
    """Small whole numbers, half of them 0; or the present values with some exchanged, dropped or drawn anew."""
    if z is None:
        return np.where(rng.random(values.variables) < 0.5, rng.integers(0, 4, values.variables), 0).astype(
            np.float64
        )
    hit = rng.random(z.size) < (0.1, 0.3, 0.6)[int(rng.integers(3))]
    if rng.random() < 0.5:
        other = rng.permutation(z) * np.array([0.0, 1.0, 1.0, 1.2])[rng.integers(4, size=z.size)]
    else:
        other = rng.integers(0, 4, z.size) * (max(float(z.max()), 1e-3) / 3)
    return np.where(hit, other, z)


def _mixed(shape: Shape, values: Values, rng: np.random.Generator, z: Row | None) -> Row | None:
    """Worst values for one to three random sets of each worker in equal parts: integral solutions show no gap."""
    kept = []
    for m in range(shape.workers):
        sets = shape.sets(m)
        kept.append(sets[rng.integers(len(sets), size=int(rng.integers(1, 4)))].mean(axis=0))
    revealed = worst_configuration_gap(shape, values, np.array(kept))
    return None if revealed is None else revealed[1]


def _method_target(method: SearchedMethod) -> Target:
    def examine(shape: Shape, values: Values, z: Row) -> Examined | None:
        run = Run(shape, values, z)
        method.run(run)
        optimum, mask = shape.best_placement(values.local @ z, values.coverage @ z)
        if optimum <= 0:
            return None
        reached = max(float(objective_row(values, outcome) @ z) for outcome in run.outcomes)
        return Examined(reached / optimum, (run.decisions, run.outcomes, mask))

    def reveal(shape: Shape, values: Values, fixed: Any, margin: float) -> tuple[float, Row] | None:
        decisions, outcomes, optimum = fixed
        return worst_values(shape, values, decisions, outcomes, optimum, margin)

    return Target(method.name, method.summary, method.known, examine, reveal, _kicked)


def _examine_configuration(shape: Shape, values: Values, z: Row) -> Examined | None:
    optimum, _ = shape.best_placement(values.local @ z, values.coverage @ z)
    if optimum <= 0:
        return None
    solution = configuration_solution(shape, values, z)
    return Examined(optimum / solution.value, solution)


def _examine_compact(shape: Shape, values: Values, z: Row) -> Examined | None:
    compact = compact_solution(shape, values, z)
    if compact.value <= np.finfo(float).tiny:
        return None
    return Examined(configuration_solution(shape, values, z).value / compact.value, compact)


TARGETS: Mapping[str, Target] = {
    **{name: _method_target(method) for name, method in METHODS.items()},
    "configuration-gap": Target(
        "configuration-gap",
        "optimum / configuration LP",
        "4/5",
        _examine_configuration,
        lambda shape, values, fixed, margin: worst_configuration_gap(shape, values, fixed.kept),
        _mixed,
    ),
    "compact-gap": Target(
        "compact-gap",
        "configuration LP / compact LP, every chunk within every budget",
        "0 where chunks are out of reach",
        _examine_compact,
        lambda shape, values, fixed, margin: worst_compact_gap(shape, values, fixed),
        _kicked,
        reachable=True,
    ),
}
"""Search targets by name."""
