"""SCIP by MathOpt of OR-Tools."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams, building
from exact.compact import CompactProblem, compact_sets
from prefixplace.errors import InputError
from prefixplace.result import StopReason

__all__ = ["Scip", "mathopt_model"]

_ACCEPTED = re.compile(r"[1-9]\d*/\d+ feasible solution given by solution candidate storage")


class Scip(CompactBackend):
    """Branch and cut by the SCIP that OR-Tools bundles, on the compact programme written in MathOpt."""

    name = "scip"
    summary = "SCIP bundled with OR-Tools, on the compact programme, written in MathOpt"
    packages = ("ortools",)
    modules = ("ortools.math_opt.python.mathopt",)
    hint = "pip install 'ortools==9.15.*'"
    own_process = True

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Write the model, solve with every incumbent reported, and translate."""
        from ortools.math_opt.python import mathopt

        scale = problem.objective_scale
        with building():
            model, variables = mathopt_model(problem, scale)
        hints = []
        if start is not None:
            hints = [mathopt.SolutionHint(variable_values=dict(zip(variables, start.tolist(), strict=True)))]
        accepted = False

        def log(lines: list[str]) -> None:
            nonlocal accepted
            for line in lines:
                run.say(line)
                accepted |= bool(_ACCEPTED.match(line))

        def incumbent(data: Any) -> Any:
            values = np.array([data.solution[variable] for variable in variables])
            run.offer(problem.placement_values(values))
            if data.mip_stats.explored_nodes > 0:  # before that the bound reads 0, which is false
                run.tighten(data.mip_stats.dual_bound / scale)
            return mathopt.CallbackResult()

        result = mathopt.solve(
            model,
            mathopt.SolverType.GSCIP,
            params=_parameters(run, params),
            model_params=mathopt.ModelSolveParameters(solution_hints=hints),
            msg_cb=log,
            callback_reg=mathopt.CallbackRegistration(events={mathopt.Event.MIP_SOLUTION}),
            cb=incumbent,
        )
        if result.has_primal_feasible_solution():
            values = result.variable_values(variables)
            run.offer(problem.placement_values(np.array(values)))
        infeasible = result.termination.reason == mathopt.TerminationReason.INFEASIBLE
        if not infeasible:
            run.tighten(result.dual_bound() / scale)
        return Outcome(
            _stop_reason(result.termination, run),
            None if start is None else accepted,
            {"nodes": result.solve_stats.node_count, "lp_iterations": result.solve_stats.simplex_iterations},
            claims_infeasible=infeasible,
        )


def _parameters(run: Run, params: CompactParams) -> Any:
    from ortools.math_opt.python import mathopt

    parameters = mathopt.SolveParameters(
        threads=run.threads,
        relative_gap_tolerance=run.budget.gap,
        absolute_gap_tolerance=0.0,
        node_limit=run.budget.nodes,
        time_limit=None if run.clock.remaining is None else timedelta(seconds=run.clock.remaining),
    )
    parameters.gscip.bool_params["misc/catchctrlc"] = True  # MathOpt turns it off
    kinds = {bool: "bool_params", int: "int_params", float: "real_params", str: "string_params"}
    for name, value in params.options.items():
        if type(value) not in kinds:
            raise InputError(f"a SCIP parameter is a bool, int, float or str, not {name} = {value!r}")
        getattr(parameters.gscip, kinds[type(value)])[name] = value
    return parameters


def mathopt_model(problem: CompactProblem, scale: float) -> tuple[Any, list[Any]]:
    """The compact programme in MathOpt, and its variables in the order of a solution vector."""
    from ortools.math_opt.python import mathopt

    total = mathopt.fast_sum
    model, sets = mathopt.Model(), compact_sets(problem)
    x = {mb: model.add_binary_variable() for mb in sets.x}
    y = {b: model.add_variable(lb=0.0, ub=1.0) for b in sets.y}
    z = {rhb: model.add_variable(lb=0.0, ub=1.0) for rhb in sets.z}
    variables = [*x.values(), *y.values(), *z.values()]
    model.maximize(total([c * v for c, v in zip((problem.cost * scale).tolist(), variables, strict=True)]))
    for (m, b), children in sets.closure:
        model.add_linear_constraint(total([x[m, c] for c in children]) <= len(children) * x[m, b])
    for m, chunks, sizes, budget in sets.budget:
        load = total([size * x[m, b] for b, size in zip(chunks, sizes, strict=True)])
        model.add_linear_constraint(load <= budget)
    for b, holders in sets.cover:
        model.add_linear_constraint(y[b] <= total([x[m, b] for m in holders]))
    for (h, b), requesters in sets.link:
        model.add_linear_constraint(total([z[r, h, b] for r in requesters]) <= len(requesters) * x[h, b])
    for (r, b), holders in sets.once:
        model.add_linear_constraint(total([z[r, h, b] for h in holders]) <= 1)
    for m, later in sets.order:
        first, second = (total([sets.rank[b] * x[w, b] for b in sets.chunks[m]]) for w in (m, later))
        model.add_linear_constraint(first >= second)
    return model, variables


def _stop_reason(termination: Any, run: Run) -> StopReason:
    from ortools.math_opt.python import mathopt

    if termination.reason in (mathopt.TerminationReason.OPTIMAL, mathopt.TerminationReason.INFEASIBLE):
        return "finished"
    known: dict[Any, StopReason] = {
        mathopt.Limit.TIME: "time",
        mathopt.Limit.NODE: "nodes",
        mathopt.Limit.INTERRUPTED: "user",
    }
    if termination.limit not in known:
        run.say(f"SCIP ended with {termination.reason} {termination.limit} {termination.detail}")
    return known.get(termination.limit, "error")
