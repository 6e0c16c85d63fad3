"""SCIP by PySCIPOpt: a newer SCIP than that of OR-Tools, for those who install it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams, building
from exact.compact import CompactProblem, compact_sets
from prefixplace.errors import InputError
from prefixplace.result import StopReason

__all__ = ["PyScipOpt"]

_ACCEPTED = re.compile(r"[1-9]\d*/\d+ feasible solution given by solution candidate storage")


class PyScipOpt(CompactBackend):
    """Branch and cut by SCIP on the compact programme written in PySCIPOpt. SCIP uses one thread."""

    name = "pyscipopt"
    summary = "SCIP of PySCIPOpt on the compact programme (an extra package)"
    packages = ("pyscipopt",)
    modules = ("pyscipopt",)
    hint = "pip install pyscipopt"
    own_process = True

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Write the model, solve with every incumbent reported, and translate."""
        scale = problem.objective_scale
        with building():
            model, variables = _model(problem, scale)
        _set_options(model, run, params)
        _report_incumbents(model, variables, problem, run)
        if start is not None:
            solution = model.createSol()
            for variable, value in zip(variables, start.tolist(), strict=True):
                model.setSolVal(solution, variable, value)
            model.addSol(solution)
        lines = _Lines(run)
        model.redirectOutput()
        with redirect_stdout(lines):
            model.optimize()
        status = model.getStatus()
        if model.getNSols() > 0:
            best = model.getBestSol()
            run.offer(problem.placement_values(np.array([best[variable] for variable in variables])))
        if status != "infeasible":
            run.tighten(model.getDualbound() / scale)
        return Outcome(
            _stop_reason(status, run),
            None if start is None else lines.start_accepted,
            {"nodes": model.getNTotalNodes(), "lp_iterations": model.getNLPIterations()},
            claims_infeasible=status == "infeasible",
        )


class _Lines(io.TextIOBase):
    """What SCIP prints, line by line into the log of a run."""

    def __init__(self, run: Run) -> None:
        self.run, self.rest, self.start_accepted = run, "", False

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            self.run.say(line)
            self.start_accepted |= bool(_ACCEPTED.match(line))
        return len(text)


def _set_options(model: Any, run: Run, params: CompactParams) -> None:
    options: dict[str, Any] = {"limits/gap": run.budget.gap, "limits/absgap": 0.0}
    if run.clock.remaining is not None:
        options["limits/time"] = run.clock.remaining
    if run.budget.nodes is not None:
        options["limits/totalnodes"] = run.budget.nodes
    for name, value in {**options, **params.options}.items():
        try:
            model.setParam(name, value)
        except (KeyError, ValueError, LookupError, TypeError) as error:
            raise InputError(f"SCIP refuses the parameter {name} = {value!r}: {error}") from None


def _report_incumbents(model: Any, variables: list[Any], problem: CompactProblem, run: Run) -> None:
    import pyscipopt

    class Incumbents(pyscipopt.Eventhdlr):  # type: ignore[misc, unused-ignore]
        def eventinit(self) -> None:
            self.model.catchEvent(pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, event: Any) -> None:
            best = self.model.getBestSol()
            run.offer(problem.placement_values(np.array([best[variable] for variable in variables])))
            run.tighten(self.model.getDualbound() / problem.objective_scale)

    model.includeEventhdlr(Incumbents(), "incumbents", "reports incumbents and bounds")


def _model(problem: CompactProblem, scale: float) -> tuple[Any, list[Any]]:
    """The compact programme in PySCIPOpt, and its variables in the order of a solution vector."""
    from pyscipopt import Model, quicksum

    model, sets = Model(), compact_sets(problem)
    x = {mb: model.addVar(vtype="B") for mb in sets.x}
    y = {b: model.addVar(lb=0.0, ub=1.0) for b in sets.y}
    z = {rhb: model.addVar(lb=0.0, ub=1.0) for rhb in sets.z}
    variables = [*x.values(), *y.values(), *z.values()]
    model.setObjective(
        quicksum(c * v for c, v in zip((problem.cost * scale).tolist(), variables, strict=True)), "maximize"
    )
    for (m, b), children in sets.closure:
        model.addCons(quicksum(x[m, c] for c in children) <= len(children) * x[m, b])
    for m, chunks, sizes, budget in sets.budget:
        model.addCons(quicksum(size * x[m, b] for b, size in zip(chunks, sizes, strict=True)) <= budget)
    for b, holders in sets.cover:
        model.addCons(y[b] <= quicksum(x[m, b] for m in holders))
    for (h, b), requesters in sets.link:
        model.addCons(quicksum(z[r, h, b] for r in requesters) <= len(requesters) * x[h, b])
    for (r, b), holders in sets.once:
        model.addCons(quicksum(z[r, h, b] for h in holders) <= 1)
    for m, later in sets.order:
        first, second = (quicksum(sets.rank[b] * x[w, b] for b in sets.chunks[m]) for w in (m, later))
        model.addCons(first >= second)
    return model, variables


def _stop_reason(status: str, run: Run) -> StopReason:
    known: dict[str, StopReason] = {
        "optimal": "finished",
        "gaplimit": "finished",
        "infeasible": "finished",
        "timelimit": "time",
        "nodelimit": "nodes",
        "totalnodelimit": "nodes",
        "userinterrupt": "user",
    }
    if status not in known:
        run.say(f"SCIP ended with {status}")
    return known.get(status, "error")
