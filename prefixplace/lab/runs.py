"""One run of anything that has a name: a heuristic, an exact back-end or a bound. Failures are outcomes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.planner import METHODS
from prefixplace.planner import solve as solve_heuristic
from prefixplace.result import Result
from prefixplace.stopping import Budget, ProgressCallback

if TYPE_CHECKING:
    from exact.bounds import Bound

__all__ = ["Run", "run_bound", "run_method", "solve_by_name", "warm_up"]


@dataclass(frozen=True)
class Run:
    """What one named run gave, before it is compared with others.

    Attributes
    ----------
    method, kind
        Name, and whether it is a heuristic, an exact back-end or a bound.
    value, bound : float or None
    proof : str
        What makes the bound true.
    guarantee : float or None
        Approximation factor of the method.
    seconds : float
    stop_reason : str
    reason : str
        Why there is no outcome; empty otherwise.
    result : Result or None
        The full result of a heuristic or back-end that ran.
    found : Bound or None
        The full bound of a bound that ran.
    """

    method: str
    kind: Literal["heuristic", "exact", "bound"]
    value: float | None = None
    bound: float | None = None
    proof: str = "none"
    guarantee: float | None = None
    seconds: float = 0.0
    stop_reason: str = "finished"
    reason: str = ""
    result: Result | None = None
    found: Bound | None = None


def solve_by_name(
    instance: Instance,
    method: str,
    *,
    budget: Budget,
    threads: int = 1,
    seed: int = 0,
    start: Placement | None = None,
    progress: ProgressCallback | None = None,
) -> Result:
    """Solve by a heuristic or an exact back-end, whichever has the name `method`.

    Raises
    ------
    InputError
        For a name that is neither, or whatever the chosen solver refuses.
    """
    if method in METHODS:
        return solve_heuristic(instance, method, budget=budget, seed=seed, start=start, progress=progress)
    import exact

    if method not in exact.BACKENDS:
        raise InputError(f"unknown method {method!r}; known are {', '.join([*METHODS, *exact.BACKENDS])}")
    return exact.solve(instance, method, budget=budget, threads=threads, start=start, progress=progress)


def run_method(
    instance: Instance,
    method: str,
    budget: Budget,
    threads: int,
    seed: int,
    progress: ProgressCallback | None = None,
) -> Run:
    """Run a heuristic or back-end; whatever goes wrong becomes a run without outcome and a reason."""
    kind: Literal["heuristic", "exact"] = "heuristic" if method in METHODS else "exact"
    guarantee = METHODS[method].guarantee if method in METHODS else None
    started = time.perf_counter()
    try:
        result = solve_by_name(instance, method, budget=budget, threads=threads, seed=seed, progress=progress)
    except Exception as error:  # one method that fails must not take the others with it
        seconds = time.perf_counter() - started
        return Run(
            method, kind, guarantee=guarantee, seconds=seconds, stop_reason="error", reason=_told(error)
        )
    return Run(
        method,
        kind,
        value=result.value,
        bound=result.bound,
        proof=result.bound_proof,
        guarantee=guarantee,
        seconds=result.seconds,
        stop_reason=result.stop_reason,
        reason=_why_without_outcome(result),
        result=result,
    )


def run_bound(instance: Instance, kind: str, budget: Budget) -> Run:
    """Compute a bound; whatever goes wrong becomes a run without bound and a reason."""
    import exact

    started = time.perf_counter()
    try:
        found = exact.bound(instance, kind, budget=budget)
    except Exception as error:  # as in run_method
        seconds = time.perf_counter() - started
        return Run(kind, "bound", seconds=seconds, stop_reason="error", reason=_told(error))
    return Run(
        kind,
        "bound",
        bound=found.bound,
        proof=found.proof,
        seconds=found.seconds,
        stop_reason=found.stop_reason,
        found=found,
    )


@cache
def warm_up(name: str, pairwise: bool) -> None:
    """Run a method or bound once per process on a small instance, so that no timing has imports and compiling in it."""
    from instances.families.rag import RagShaped, TwoGroupRag

    small = (
        TwoGroupRag(workers=2, documents=4)
        if pairwise
        else RagShaped(documents=6, document_chunks=(2, 9), queries=3, sharing=0.5)
    )
    instance, budget = small.sample(seed=0), Budget()
    if name in METHODS:
        run_method(instance, name, budget, threads=1, seed=0)
        return
    import exact

    if name in exact.BACKENDS:
        run_method(instance, name, budget, threads=1, seed=0)
    else:
        run_bound(instance, name, budget)


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) and text else f"{type(error).__name__}: {text}"


def _why_without_outcome(result: Result) -> str:
    if result.stop_reason in ("error", "unavailable"):
        return result.log[-1] if result.log else result.stop_reason
    if result.value is None:
        return f"no placement found ({result.stop_reason})"
    return ""
