"""HiGHS by its own Python interface: the whole matrix is passed at once."""

from __future__ import annotations

from importlib.metadata import version
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams
from exact.compact import CompactArrays, CompactProblem, compact_arrays
from exact.streams import captured_stdout
from prefixplace.errors import InputError
from prefixplace.result import StopReason

__all__ = ["Highs", "new_highs", "pass_model", "set_option"]

FEASIBILITY = 1e-9
"""Tolerance on rows and integrality; the default 1e-6 would let values differ from bounds in the sixth digit."""


class Highs(CompactBackend):
    """Branch and cut by HiGHS on the compact programme.

    HiGHS runs in a thread of its own, so that Ctrl-C reaches Python, and is asked to stop by its callbacks.
    """

    name = "highs"
    summary = "HiGHS on the compact programme, as arrays (highspy)"
    packages = ("highspy",)
    hint = "pip install 'highspy>=1.16,<1.17'"

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Pass the arrays, set the start, run, and translate."""
        import highspy

        highs = new_highs(run)
        scale = problem.objective_scale
        pass_model(highs, compact_arrays(problem), scale)
        options: dict[str, Any] = {
            "threads": run.threads,
            "mip_rel_gap": run.budget.gap,
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": FEASIBILITY,
            "primal_feasibility_tolerance": FEASIBILITY,
            "dual_feasibility_tolerance": FEASIBILITY,
        }
        if run.budget.nodes is not None:
            options["mip_max_nodes"] = min(run.budget.nodes, 2**31 - 1)
        for name, value in {**options, **params.options}.items():
            set_option(highs, name, value)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start
            highs.setSolution(solution)
        watch = _Watch(highs, problem, run)
        remaining = run.clock.remaining
        if remaining is not None:
            if remaining == 0.0:
                return Outcome("time")
            set_option(highs, "time_limit", remaining)
        stopped = watch.solve()
        info = highs.getInfo()
        if highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
            run.tighten(info.mip_dual_bound / scale)
        if np.isfinite(info.objective_function_value):  # +inf without incumbent
            run.offer(problem.placement_values(highs.getSolution().col_value))
        counters = {
            "nodes": max(int(info.mip_node_count), 0),
            "lp_iterations": int(info.simplex_iteration_count),
        }
        return Outcome(
            stopped or _stop_reason(highs, run),
            None if start is None else watch.start_accepted,
            counters,
            claims_infeasible=highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible,
        )


class _Watch:
    """Callbacks of one run, and the thread that it happens in."""

    def __init__(self, highs: Any, problem: CompactProblem, run: Run) -> None:
        self.highs, self.problem, self.run = highs, problem, run
        self.stop = Event()
        self.failure: BaseException | None = None
        self.start_accepted = False
        self._line = ""
        highs.cbLogging += self._guarded(self._on_log)
        highs.cbMipImprovingSolution += self._guarded(self._on_solution)
        highs.cbMipLogging += self._guarded(self._on_bound)
        highs.cbMipInterrupt += self._on_interrupt

    def solve(self) -> StopReason | None:
        """Run HiGHS to its end, or to the end that Ctrl-C asks for."""
        thread = Thread(target=self.highs.run, name="highs", daemon=True)
        thread.start()
        interrupted: StopReason | None = None
        while thread.is_alive():
            try:
                thread.join(0.1)
            except KeyboardInterrupt:
                if self.stop.is_set():
                    raise
                self.run.say("interrupted; waiting for HiGHS to stop")
                self.stop.set()
                interrupted = "user"
        if self.failure is not None:
            raise self.failure
        return interrupted

    def _guarded(self, handler: Any) -> Any:
        """An exception must not pass through the C++ frames: keep it, stop the solver, raise it afterwards."""

        def call(event: Any) -> None:
            try:
                handler(event)
            except BaseException as error:
                self.failure = error
                self.stop.set()

        return call

    def _on_log(self, event: Any) -> None:
        *lines, self._line = (self._line + event.message).split("\n")
        for line in lines:
            self.run.say(line)
            # an infeasible start is dropped without any other sign than the absence of this line
            self.start_accepted |= line.startswith("MIP start solution is feasible")

    def _on_solution(self, event: Any) -> None:
        self.run.offer(self.problem.placement_values(event.data_out.mip_solution))

    def _on_bound(self, event: Any) -> None:
        self.run.tighten(event.data_out.mip_dual_bound / self.problem.objective_scale)

    def _on_interrupt(self, event: Any) -> None:
        if self.stop.is_set():
            event.interrupt()


def new_highs(run: Run | None = None) -> Any:
    """A silent Highs object. Its first construction in a process prints a banner, which goes to the log instead."""
    import highspy

    with captured_stdout() as banner:
        highs = highspy.Highs()
    if run is not None:
        for line in banner:
            run.say(line)
    set_option(highs, "log_to_console", False)
    # the number of threads is a property of the process, fixed at its first use until the scheduler is reset
    highspy.Highs.resetGlobalScheduler(True)
    return highs


def set_option(highs: Any, name: str, value: Any) -> None:
    """Set an option and insist: HiGHS itself answers a wrong one with a return code only."""
    import highspy

    if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
        raise InputError(f"HiGHS {version('highspy')} refuses the option {name} = {value!r}")


def pass_model(highs: Any, arrays: CompactArrays, scale: float, *, relax: bool = False) -> None:
    """Hand over the arrays with the objective multiplied by `scale`; with `relax` as the LP."""
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


def _stop_reason(highs: Any, run: Run) -> StopReason:
    import highspy

    status = highs.getModelStatus()
    known: dict[Any, StopReason] = {
        highspy.HighsModelStatus.kOptimal: "finished",  # also at the gap asked for: optimal is derived later
        highspy.HighsModelStatus.kTimeLimit: "time",
        highspy.HighsModelStatus.kSolutionLimit: "nodes",
        highspy.HighsModelStatus.kInterrupt: "user",
    }
    if status not in known:
        run.say(f"HiGHS ended with {status.name}")
    return known.get(status, "error")
