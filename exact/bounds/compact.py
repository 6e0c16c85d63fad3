"""The compact LP by HiGHS, its duals turned into a bound of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from exact.bounds.coverage import starting_multipliers
from exact.bounds.lagrangian import CoverageDual
from exact.bounds.run import BoundRun, LimitReached
from prefixplace.errors import InputError

if TYPE_CHECKING:
    from exact.compact import CompactProblem

__all__ = ["CompactParams", "compact_lp"]

Vector = NDArray[np.float64]

SOLVERS = {"simplex": "simplex", "ipm": "ipm", "pdlp": "hipdlp"}  # with the names that HiGHS gives them
SIMPLEX_ENTRIES = 300_000
"""``auto`` uses the dual simplex up to this many matrix entries, above it the first-order method PDLP."""


@dataclass(frozen=True)
class CompactParams:
    """Parameters of ``compact-lp``.

    Parameters
    ----------
    solver : {"auto", "simplex", "ipm", "pdlp"}, default "auto"
        The algorithm within HiGHS.
    """

    solver: Literal["auto", "simplex", "ipm", "pdlp"] = "auto"

    def __post_init__(self) -> None:
        if self.solver not in ("auto", *SOLVERS):
            raise InputError(f"solver is {self.solver!r}, not one of auto, {', '.join(SOLVERS)}")


def compact_lp(run: BoundRun, params: CompactParams) -> None:
    """Solve the LP relaxation of the compact programme and evaluate the coverage dual at its multipliers.

    The duals of the coverage rows, moved into range, are multipliers of the coverage dual with priced budgets,
    whose minimum is the compact LP. So the bound is valid whatever tolerance or limit the solver stopped at, and
    equals the LP when it is solved. Master values in the history are the solver's own LP value.
    """
    import highspy

    from exact.backends.highs import new_highs, pass_model, set_option
    from exact.compact import MODEL, compact_arrays, compact_problem
    from exact.interruptible import Interruptible

    dual = CoverageDual(run.instance, "price")
    run.check_limits()
    problem = compact_problem(run.instance, MODEL)
    arrays = compact_arrays(problem)
    solver = params.solver
    if solver == "auto":
        solver = "simplex" if arrays.value.size <= SIMPLEX_ENTRIES else "pdlp"
    highs = new_highs()
    set_option(highs, "threads", 1)
    set_option(highs, "solver", SOLVERS[solver])
    if solver == "simplex":  # the others converge to the default 1e-7 only
        set_option(highs, "primal_feasibility_tolerance", 1e-9)
        set_option(highs, "dual_feasibility_tolerance", 1e-9)
    if run.clock.remaining is not None:
        set_option(highs, "time_limit", run.clock.remaining)
    pass_model(highs, arrays, problem.objective_scale, relax=True)
    process = Interruptible()
    highs.cbSimplexInterrupt += lambda event: event.interrupt() if process.stopping.is_set() else None
    highs.cbIpmInterrupt += lambda event: event.interrupt() if process.stopping.is_set() else None
    process.call(highs.run)

    status, info, solution = highs.getModelStatus(), highs.getInfo(), highs.getSolution()
    solved = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)
    multipliers = starting_multipliers(dual, run.mask)
    weights = None
    if solution.dual_valid:
        rows = np.asarray(solution.row_dual) / problem.objective_scale
        multipliers = dual.clip(_multipliers(dual, problem, arrays.row_family, np.abs(rows)))
    if solution.value_valid:
        weights = problem.placement_values(solution.col_value)
    here = dual.evaluate(multipliers)
    run.improve(
        here.value,
        master=info.objective_function_value / problem.objective_scale if solved else None,
        weights=here.weights if weights is None else weights,
        coverage=multipliers,
        budget=here.prices,
    )
    run.offer_rounding(here.weights if weights is None else weights)
    run.count(
        rows=arrays.num_rows,
        columns=arrays.cost.size,
        entries=arrays.value.size,
        lp_iterations=sum(
            max(count, 0)  # −1 where the algorithm was not used
            for count in (info.simplex_iteration_count, info.ipm_iteration_count, info.pdlp_iteration_count)
        ),
    )
    if process.interrupted:
        raise KeyboardInterrupt
    if not solved:
        raise LimitReached("time" if status == highspy.HighsModelStatus.kTimeLimit else "error")


def _multipliers(
    dual: CoverageDual, problem: CompactProblem, families: list[tuple[str, int]], rows: Vector
) -> Vector:
    """Coverage multipliers from row duals (≥ 0, in ms).

    Requester-side they are the duals of y_b ≤ Σ x. Pairwise, ν = dual of z_{rhb} ≤ x_{hb} determines the least
    σ_{rb} = max_h [s_{r←h}(b) − ν_{rhb}]₊ that is feasible with it.
    """
    wanted = "link" if dual.saving is not None else "cover"
    first = 0
    for name, count in families:
        if name == wanted:
            break
        first += count
    result = np.zeros(dual.shape)
    last = problem.reduction.last
    if dual.saving is None:
        result[last[problem.covered]] = rows[first : first + count]
    else:
        least = np.maximum(problem.saving - rows[first : first + count], 0.0)
        np.maximum.at(result, (problem.link_requester, last[problem.link_chunk]), least)
    return result
