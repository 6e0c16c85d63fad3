"""`exact.solve`: one verb over all exact back-ends, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from exact.backend import Availability, Backend, Outcome, Run
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.params import checked_params
from prefixplace.placement import Placement
from prefixplace.result import Result, package_versions
from prefixplace.stopping import Budget, ProgressCallback, is_interrupt

__all__ = ["BACKENDS", "solve"]

Log = str | Path | Callable[[str], None]

_HOME = {
    "brute-force": "exact.backends.brute_force:BruteForce",
    "highs": "exact.backends.highs:Highs",
    "pulp-highs": "exact.backends.pulp_highs:PulpHighs",
    "pulp-cbc": "exact.backends.pulp_cbc:PulpCbc",
    "cp-sat": "exact.backends.cp_sat:CpSat",
    "scip": "exact.backends.scip:Scip",
    "pyscipopt": "exact.backends.pyscipopt:PyScipOpt",
    "branch-and-bound": "exact.branch_and_bound.backend:BranchAndBound",
}


class _Backends(Mapping[str, Backend]):
    """Back-ends by name; a module is imported when its back-end is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Backend] = {}

    def __getitem__(self, name: str) -> Backend:
        if name not in self._loaded:
            module, _, cls = _HOME[name].partition(":")
            self._loaded[name] = getattr(import_module(module), cls)()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_HOME)

    def __len__(self) -> int:
        return len(_HOME)


BACKENDS: Mapping[str, Backend] = _Backends()
"""The exact back-ends of :func:`solve` by name."""


def solve(
    instance: Instance,
    backend: str = "highs",
    *,
    budget: Budget | None = None,
    threads: int = 1,
    start: Placement | None = None,
    log: Log | None = None,
    progress: ProgressCallback | None = None,
    params: Any = None,
) -> Result:
    """Solve `instance` to optimality, or as far as the budget goes.

    Parameters
    ----------
    instance : Instance
    backend : str, default "highs"
        A name of :data:`BACKENDS`.
    budget : Budget, optional
        Limits on seconds (building the model included, importing a solver not) and nodes, and the relative gap at
        which to stop.
    threads : int ≥ 1, default 1
    start : Placement, optional
        A feasible placement to begin from. It is never lost: the result is at least as good. Whether the solver
        itself took it is ``counters["start_accepted"]`` (1 or 0; absent when the solver does not tell).
    log : path or callable, optional
        Receives the solver's log line by line; a file is written anew. Nothing is printed.
    progress : callable, optional
        Called with a :class:`~prefixplace.stopping.Progress` at every new incumbent or bound.
    params : dataclass, optional
        Parameters of the back-end (``BACKENDS[name].params``).

    Returns
    -------
    Result
        With the value recomputed from the sets, the bound as far as it is consistent with it, and the status
        derived from the two. Ctrl-C ends the run with the incumbent kept and ``stop_reason == "user"``. A back-end
        that is not installed gives ``stop_reason == "unavailable"``, one that crashes ``"error"``; the log says why.

    Raises
    ------
    InputError
        For an unknown back-end, an instance that it refuses, parameters of another back-end, fewer than one
        thread, or a start that does not fit.
    """
    chosen = _backend(backend)
    params = checked_params(repr(backend), params, chosen.params)
    if threads < 1:
        raise InputError(f"threads is {threads}, must be ≥ 1")
    if start is not None:
        if not chosen.takes_start:
            raise InputError(f"{backend!r} takes no start")
        instance.check(start)
    refusal = chosen.refuses(instance, params)
    if refusal is not None:
        raise InputError(f"{backend!r} cannot take this instance: {refusal}")
    availability = chosen.available()
    if availability.usable and not chosen.own_process:
        chosen.load()
    with _line_writer(log) as write:
        mask = None if start is None else np.array(start.mask)
        run = Run(instance, budget or Budget(), threads, mask, write, progress)
        outcome = _run(chosen, availability, run, params)
    counters = dict(outcome.counters)
    if outcome.start_accepted is not None:
        counters["start_accepted"] = int(outcome.start_accepted)
    return Result.of(
        instance,
        backend,
        None if run.best_mask is None else Placement(instance.tree, run.best_mask),
        stop_reason=outcome.stop_reason,
        seconds=run.clock.seconds,
        bound=run.bound,
        bound_proof=chosen.bound_proof,
        claims_infeasible=outcome.claims_infeasible,
        trace=tuple(run.trace),
        counters=counters,
        versions=package_versions(*chosen.packages),
        log=tuple(run.lines),
    )


def _backend(name: str) -> Backend:
    if name not in BACKENDS:
        raise InputError(f"unknown back-end {name!r}; known are {', '.join(BACKENDS)}")
    return BACKENDS[name]


def _run(backend: Backend, availability: Availability, run: Run, params: Any) -> Outcome:
    if not availability.usable:
        run.say(f"{availability.reason}; {availability.hint}")
        return Outcome("unavailable")
    if run.start is not None:
        run.offer(run.start, "start")
    if run.clock.expired() is not None:
        return Outcome("time")
    try:
        if backend.own_process:
            from exact.own_process import run_in_own_process

            return run_in_own_process(backend, run, params)
        return backend.run(run, params)
    except KeyboardInterrupt:
        run.say("interrupted")
        return Outcome("user")
    except InputError:
        raise
    except Exception as error:
        if error is run.callback_error:
            raise
        if is_interrupt(error):
            run.say("interrupted")
            return Outcome("user")
        # a solver that fails is a fact about the solver: what it had found is kept
        run.say(f"{type(error).__name__}: {error}")
        return Outcome("error")


@contextmanager
def _line_writer(log: Log | None) -> Iterator[Callable[[str], None] | None]:
    if log is None or callable(log):
        yield log
        return
    try:
        file = Path(log).open("w", encoding="utf-8")  # noqa: SIM115  (closed below)
    except OSError as error:
        raise InputError(f"{log}: cannot be written: {error.strerror or error}") from None
    with file:
        yield lambda line: print(line, file=file, flush=True)
