"""CBC by PuLP: the programme goes through a file, the bound comes back in the log."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Availability, Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams, building
from exact.backends.pulp_model import pulp_availability, pulp_model
from exact.compact import CompactProblem
from prefixplace.result import StopReason

__all__ = ["CbcLog", "PulpCbc"]

INCREMENT = 1e-9
"""By how much (in units of the scaled objective) a node must promise more than the incumbent. CBC's own 1e-5 is
above the precision asked for, and what it prunes by it must be added to the bound."""

_NUMBER = r"([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
_POSSIBLE = re.compile(rf"best possible {_NUMBER}")
_OBJECTIVE = re.compile(rf"Objective value: +{_NUMBER}")
_BOUND = re.compile(rf"Lower bound: +{_NUMBER}")
_NODES = re.compile(r"Enumerated nodes: +(\d+)")


class PulpCbc(CompactBackend):
    """Branch and cut by the CBC that PuLP bundles.

    The programme is handed over as a minimisation: in the maximisation form CBC 2.10 takes the value of a start
    with the wrong sign and then prefers worse solutions to it.
    """

    name = "pulp-cbc"
    summary = "CBC bundled with PuLP, on the compact programme"
    packages = ("pulp",)
    modules = ("pulp",)
    hint = "pip install 'pulp>=3.3.2,<4'"
    own_process = True

    def available(self) -> Availability:
        """PuLP 3 and a CBC that can be executed."""
        found = pulp_availability(self.hint)
        if not found.usable:
            return found
        package = find_spec("pulp")  # found, not imported
        folders = [] if package is None else package.submodule_search_locations or []
        if not any(any(Path(folder, "solverdir", "cbc").rglob("cbc*")) for folder in folders):
            return Availability(False, f"{found.reason} comes without CBC", self.hint)
        return found

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Build, solve while following the log, and translate what the log says."""
        import pulp

        with building():
            model, variables = pulp_model(problem, problem.objective_scale, minimise=True)
        if start is not None:
            for variable, value in zip(variables, start.tolist(), strict=True):
                variable.setInitialValue(value)
        with TemporaryDirectory() as folder, CbcLog(Path(folder) / "log", problem, run) as log:
            solver = pulp.PULP_CBC_CMD(
                msg=False,
                logPath=str(log.path),
                threads=None if run.threads == 1 else run.threads,
                timeLimit=run.clock.remaining,
                gapRel=run.budget.gap,
                gapAbs=0.0,
                maxNodes=run.budget.nodes,
                warmStart=start is not None,
                options=[
                    f"increment {INCREMENT}",
                    *(f"{key} {value}" for key, value in params.options.items()),
                ],
            )
            model.solve(solver)
            log.finish()
        if model.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
            # without an incumbent the variables hold the values of some LP
            run.offer(problem.placement_values(np.array([variable.value() for variable in variables])))
        return Outcome(
            log.stop_reason or "error",
            None if start is None else log.start_accepted,
            {"nodes": log.nodes},
            claims_infeasible=model.status == pulp.LpStatusInfeasible,
        )


class CbcLog:
    """Follows the log of a CBC that minimises the negated objective, and reports its lines and bounds to a run."""

    def __init__(self, path: Path, problem: CompactProblem, run: Run) -> None:
        self.path, self.scale, self.run = path, problem.objective_scale, run
        self.stop_reason: StopReason | None = None
        self.start_accepted = False
        self.nodes = 0
        self._proven = False
        self._done = Event()
        self._thread = Thread(target=self._follow, daemon=True)

    def __enter__(self) -> CbcLog:
        self._thread.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.finish()

    def finish(self) -> None:
        """Read what is left, and stop following."""
        self._done.set()
        self._thread.join()

    def read(self, line: str) -> None:
        """Take in one line."""
        self.run.say(line)
        if line.startswith("Result - "):
            # at a gap limit it says "Optimal solution found (within gap tolerance)", and "Search completed" too
            self._proven = line == "Result - Optimal solution found"
            self.stop_reason = _stop_reason(line)
        self.start_accepted |= "MIPStart provided solution with cost" in line
        if match := _POSSIBLE.search(line):
            self._report(float(match[1]))
        elif (match := _BOUND.match(line)) or (self._proven and (match := _OBJECTIVE.match(line))):
            decimals = len(match[1].partition(".")[2])
            self._report(float(match[1]) - 0.5 * 10.0**-decimals)
        elif match := _NODES.match(line):
            self.nodes = int(match[1])

    def _report(self, minimised: float) -> None:
        self.run.tighten((INCREMENT - minimised) / self.scale)

    def _follow(self) -> None:
        while not self.path.exists() and not self._done.wait(0.02):
            pass
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            partial = ""
            while True:
                done = self._done.is_set()  # asked before reading, so that nothing written earlier is missed
                *lines, partial = (partial + file.read()).split("\n")
                for line in lines:
                    self.read(line)
                if done:
                    return
                self._done.wait(0.1)


def _stop_reason(result: str) -> StopReason | None:
    known: list[tuple[str, StopReason]] = [
        ("Optimal solution found", "finished"),
        ("Stopped on time limit", "time"),
        ("Stopped on node limit", "nodes"),
        ("User ctrl-cuser ctrl-c", "user"),
    ]
    return next((reason for phrase, reason in known if phrase in result), None)
