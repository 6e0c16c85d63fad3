"""HiGHS by its own Python interface: the whole matrix is passed at once."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams
from exact.compact import CompactArrays, CompactProblem, compact_arrays
from exact.interruptible import Interruptible
from exact.streams import captured_stdout
from prefixplace.errors import InputError
from prefixplace.result import StopReason

__all__ = ["Highs", "new_highs", "pass_model", "set_option", "solve_highs"]

TOLERANCE = 1e-9
"""On rows, integrality and reduced costs; the default 1e-6 would let bounds differ from values in the sixth digit."""


class Highs(CompactBackend):
    """Branch and cut by HiGHS on the compact programme."""

    name = "highs"
    summary = "HiGHS on the compact programme, as arrays (highspy)"
    packages = ("highspy",)
    modules = ("highspy",)
    hint = "pip install 'highspy>=1.16,<1.17'"

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Pass the arrays, and solve."""
        highs = new_highs(run.say)
        pass_model(highs, compact_arrays(problem), problem.objective_scale)
        return solve_highs(highs, problem, np.arange(problem.num_variables), 1.0, start, run, params)


def solve_highs(
    highs: Any,
    problem: CompactProblem,
    column: NDArray[np.int64],
    sign: float,
    start: NDArray[np.float64] | None,
    run: Run,
    params: CompactParams,
) -> Outcome:
    """Solve a model that HiGHS already has: options, start, callbacks, translation.

    Parameters
    ----------
    highs : highspy.Highs
    problem : CompactProblem
    column : int64 array, shape (num_variables,)
        The column of each entry of a solution vector.
    sign : float
        What HiGHS's objective is to ours, besides the scale: 1.0, or -1.0 for a minimisation.
    """
    import highspy

    for name, value in {**_options(run), **params.options}.items():
        set_option(highs, name, value)
    if start is not None:
        solution = highspy.HighsSolution()
        values = np.empty(start.size)
        values[column] = start
        solution.col_value = values
        highs.setSolution(solution)
    watch = _Watch(highs, problem, column, sign, run)
    if run.clock.remaining is not None:
        set_option(highs, "time_limit", run.clock.remaining)
    watch.process.call(highs.run)

    info, status = highs.getInfo(), highs.getModelStatus()
    infeasible = status == highspy.HighsModelStatus.kInfeasible
    if not infeasible:
        watch.on_bound(info.mip_dual_bound)
    if np.isfinite(info.objective_function_value):  # +inf without incumbent
        watch.on_solution(highs.getSolution().col_value)
    return Outcome(
        "user" if watch.process.interrupted else _stop_reason(status, run),
        None if start is None else watch.start_accepted,
        {
            "nodes": max(int(info.mip_node_count), 0),
            "lp_iterations": max(int(info.simplex_iteration_count), 0),
        },
        claims_infeasible=infeasible,
    )


class _Watch:
    """The callbacks of one run: log, incumbents, bounds, and the question whether to stop."""

    def __init__(
        self, highs: Any, problem: CompactProblem, column: NDArray[np.int64], sign: float, run: Run
    ) -> None:
        self.problem, self.column, self.run = problem, column, run
        self.factor = sign * problem.objective_scale
        self.process = Interruptible()
        self.start_accepted = False
        self._line = ""
        highs.cbLogging += self.process.guarded(lambda event: self._on_log(event.message))
        highs.cbMipImprovingSolution += self.process.guarded(
            lambda event: self.on_solution(event.data_out.mip_solution)
        )
        highs.cbMipLogging += self.process.guarded(lambda event: self.on_bound(event.data_out.mip_dual_bound))
        highs.cbMipInterrupt += self._on_interrupt

    def _on_log(self, message: str) -> None:
        *lines, self._line = (self._line + message).split("\n")
        for line in lines:
            self.run.say(line)
            # an infeasible start is dropped without any other sign than the absence of this line
            self.start_accepted |= line.startswith("Assessing feasibility of MIP solution") and line.endswith(
                ": feasible"
            )

    def on_solution(self, values: Any) -> None:
        self.run.offer(self.problem.placement_values(np.asarray(values)[self.column]))

    def on_bound(self, bound: float) -> None:
        self.run.tighten(bound / self.factor)

    def _on_interrupt(self, event: Any) -> None:
        if self.process.stopping.is_set():
            event.interrupt()


def _options(run: Run) -> dict[str, Any]:
    options: dict[str, Any] = {
        "threads": run.threads,
        "mip_rel_gap": run.budget.gap,  # 1e-4 by default, at which HiGHS says "Optimal"
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": TOLERANCE,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    if run.budget.nodes is not None:
        options["mip_max_nodes"] = min(run.budget.nodes, 2**31 - 1)
    return options


def _stop_reason(status: Any, run: Run) -> StopReason:
    import highspy

    known: dict[Any, StopReason] = {
        highspy.HighsModelStatus.kOptimal: "finished",  # said at a gap limit too: what is optimal is derived later
        highspy.HighsModelStatus.kTimeLimit: "time",
        highspy.HighsModelStatus.kSolutionLimit: "nodes",
    }
    if status not in known:
        run.say(f"HiGHS ended with {status.name}")
    return known.get(status, "error")


def new_highs(say: Callable[[str], None] | None = None) -> Any:
    """A new silent Highs object; `say` gets the banner that the first one in a process prints all the same.

    One object serves one run: its clock adds up over runs.
    """
    import highspy

    with captured_stdout() as banner:
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
    if say is not None:
        for line in banner:
            say(line)
    set_option(highs, "log_to_console", False)
    # the number of threads belongs to the process and is fixed at its first use, until the scheduler is reset
    highspy.Highs.resetGlobalScheduler(True)
    return highs


def set_option(highs: Any, name: str, value: Any) -> None:
    """Set an option and insist on it: HiGHS itself answers a wrong one with a return code only."""
    import highspy

    if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
        raise InputError(f"HiGHS {version('highspy')} refuses the option {name} = {value!r}")


def pass_model(highs: Any, arrays: CompactArrays, scale: float, *, relax: bool = False) -> None:
    """Hand over the arrays with the objective multiplied by `scale`; with `relax` as a linear programme."""
    import highspy

    columns = arrays.cost.size
    integrality = np.zeros(columns, np.int32) if relax else arrays.integral.astype(np.int32)
    status = highs.passModel(
        columns,
        arrays.num_rows,
        arrays.value.size,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        arrays.cost * scale,
        np.zeros(columns),
        np.ones(columns),
        np.full(arrays.num_rows, -np.inf),
        arrays.row_upper,
        arrays.start.astype(np.int32),
        arrays.index.astype(np.int32),
        arrays.value,
        integrality,
    )
    if status == highspy.HighsStatus.kError:
        raise RuntimeError("HiGHS refused the model")
