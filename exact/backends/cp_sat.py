"""CP-SAT of OR-Tools: clauses instead of rows, whole numbers instead of floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams, building
from exact.compact import CompactProblem, compact_sets
from exact.interruptible import Interruptible
from prefixplace.errors import InputError
from prefixplace.result import StopReason

__all__ = ["CpSat", "CpSatParams", "cp_sat_model", "whole_numbers"]


@dataclass(frozen=True)
class CpSatParams(CompactParams):
    """Parameters of ``cp-sat``.

    Parameters
    ----------
    digits : int in 1 … 52, default 50
        Binary digits of the sum of all objective coefficients after scaling.
    """

    digits: int = 50

    def __post_init__(self) -> None:
        if not 1 <= self.digits <= 52:
            raise InputError(
                f"digits is {self.digits}, must be in 1 … 52 so that float64 holds every bound exactly"
            )


class CpSat(CompactBackend):
    """CP-SAT on the compact programme with integer coefficients, rounded up.

    CP-SAT accepts float objectives but treats them approximately. Scaling is therefore ours: coefficients are
    multiplied by a power of two and rounded *up*, so that its bound, divided by the same power, is a bound on the
    true optimum. The excess is at most the sum of what was rounded; the log states it, and it is 0 for values
    that are whole multiples of a power of two.
    """

    name = "cp-sat"
    summary = "OR-Tools CP-SAT on the compact programme, coefficients rounded up to integers"
    packages = ("ortools",)
    modules = ("ortools.sat.python.cp_model",)
    hint = "pip install 'ortools==9.15.*'"
    counts_nodes = False
    params = CpSatParams

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Write the clauses, hint every variable, solve, and translate."""
        from ortools.sat.python import cp_model

        assert isinstance(params, CpSatParams)
        coefficients, scale, excess = whole_numbers(problem.cost, params.digits)
        run.say(
            f"objective multiplied by {scale:g} and rounded up: bounds are at most {excess:.3g} ms too high"
        )
        with building():
            model, variables = cp_sat_model(problem, coefficients)
        if start is not None:
            for variable, value in zip(variables, start.tolist(), strict=True):
                model.add_hint(variable, int(value))

        solver = cp_model.CpSolver()
        process = Interruptible(solver.stop_search)
        parameters: dict[str, Any] = {
            "num_workers": run.threads,
            "linearization_level": 2,  # with few workers the default leaves the LP weak, and the bound with it
            "relative_gap_limit": run.budget.gap,
            "absolute_gap_limit": 0.0,
            "log_search_progress": True,
            "log_to_stdout": False,
            "catch_sigint_signal": False,
        }
        if run.clock.remaining is not None:
            parameters["max_time_in_seconds"] = run.clock.remaining
        for name, value in {**parameters, **params.options}.items():
            try:
                setattr(solver.parameters, name, value)
            except (AttributeError, TypeError, ValueError) as error:
                raise InputError(f"CP-SAT refuses the parameter {name} = {value!r}: {error}") from None

        def report(found: Any) -> None:
            run.offer(problem.placement_values(np.array([found.value(x) for x in variables])))

        class OnSolution(cp_model.CpSolverSolutionCallback):
            def on_solution_callback(self) -> None:
                process.guarded(report)(self)

        accepted = False

        @process.guarded
        def log(line: str) -> None:
            nonlocal accepted
            accepted |= "hint is complete and is feasible" in line
            for part in line.splitlines():
                run.say(part)

        solver.log_callback = log
        solver.best_bound_callback = process.guarded(lambda bound: run.tighten(bound / scale))
        status = process.call(lambda: solver.solve(model, OnSolution()))
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            report(solver)
            run.tighten(solver.best_objective_bound / scale)  # 0.0, and false, while nothing is known
        return Outcome(
            "user" if process.interrupted else _stop_reason(solver.status_name(status), run),
            None if start is None else accepted,
            {"branches": solver.num_branches, "conflicts": solver.num_conflicts},
            claims_infeasible=status == cp_model.INFEASIBLE,
        )


def whole_numbers(cost: NDArray[np.float64], digits: int) -> tuple[NDArray[np.int64], float, float]:
    """Coefficients times a power of two, rounded up; that power; and by how much a bound may be too high, in ms.

    The power is the largest with a sum of coefficients below ``2**digits``, or the smallest that leaves no fraction.
    """
    total, terms = float(cost.sum()), int(np.count_nonzero(cost))
    if total == 0.0:
        return np.zeros(cost.size, np.int64), 1.0, 0.0
    if terms > 2 ** (digits - 1):
        raise InputError(f"digits is {digits}, too few for {terms} coefficients of at least 1")
    scale = float(np.exp2(min(digits - int(np.frexp(total)[1]), 1000)))  # tinier values round up to one
    while float(np.ceil(cost * scale).sum()) > 2.0**digits:  # rounding up adds at most one per coefficient
        scale /= 2
    while np.array_equal(np.trunc(cost * scale / 2), cost * scale / 2):
        scale /= 2
    rounded = np.ceil(cost * scale)
    return rounded.astype(np.int64), scale, float((rounded / scale - cost).sum())


def cp_sat_model(problem: CompactProblem, coefficients: NDArray[np.int64]) -> tuple[Any, list[Any]]:
    """The compact programme in clauses, and its variables in the order of a solution vector."""
    from ortools.sat.python import cp_model

    model, sets = cp_model.CpModel(), compact_sets(problem)
    x = {mb: model.new_bool_var("") for mb in sets.x}
    y = {b: model.new_bool_var("") for b in sets.y}
    z = {rhb: model.new_bool_var("") for rhb in sets.z}
    variables = [*x.values(), *y.values(), *z.values()]
    model.maximize(cp_model.LinearExpr.weighted_sum(variables, coefficients.tolist()))

    def all_imply(lower: list[Any], upper: Any) -> None:
        if len(lower) == 1:
            model.add_implication(lower[0], upper)
        else:
            model.add(sum(lower) <= len(lower) * upper)

    for (m, b), children in sets.closure:
        all_imply([x[m, c] for c in children], x[m, b])
    for m, chunks, sizes, budget in sets.budget:
        model.add(cp_model.LinearExpr.weighted_sum([x[m, b] for b in chunks], sizes) <= budget)
    for b, holders in sets.cover:
        model.add_bool_or([~y[b], *(x[m, b] for m in holders)])
    for (h, b), requesters in sets.link:
        all_imply([z[r, h, b] for r in requesters], x[h, b])
    for (r, b), holders in sets.once:
        model.add_at_most_one([z[r, h, b] for h in holders])
    for m, later in sets.order:
        weights = [sets.rank[b] for b in sets.chunks[m]]
        first, second = ([x[worker, b] for b in sets.chunks[m]] for worker in (m, later))
        model.add(
            cp_model.LinearExpr.weighted_sum(first, weights)
            >= cp_model.LinearExpr.weighted_sum(second, weights)
        )
    return model, variables


def _stop_reason(status: str, run: Run) -> StopReason:
    if status == "OPTIMAL":  # said at a gap limit too
        return "finished"
    if status in ("FEASIBLE", "UNKNOWN") and run.budget.seconds is not None:
        return "time"  # the only limit that it was given, and it stops a little before
    run.say(f"CP-SAT ended with {status}")
    return "error"
