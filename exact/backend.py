"""What an exact back-end is: the protocol, the run it reports to, and the facts it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.params import NoParams
from prefixplace.result import BoundProof, StopReason, TracePoint
from prefixplace.stopping import Budget, Clock, Progress, ProgressCallback

__all__ = ["Availability", "Backend", "Outcome", "Run", "closed_part"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Availability:
    """Whether a back-end can be used here.

    Attributes
    ----------
    usable : bool
    reason : str
        The version found, or what is wrong.
    hint : str
        How to get it; empty when it is usable.
    """

    usable: bool
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Outcome:
    """Why a back-end stopped, and what it counted. Placements and bounds are told to the :class:`Run` instead.

    Attributes
    ----------
    stop_reason : str
        ``finished`` (tree exhausted, or the gap asked for is reached), ``time``, ``nodes``, ``iterations``,
        ``user`` or ``error``.
    start_accepted : bool or None
        Whether the solver itself confirmed the start; None when there was none or it does not tell.
    counters : mapping of str to number
        ``nodes`` and whatever else the solver counts.
    claims_infeasible : bool
        The solver called the model infeasible. Always wrong here: keeping nothing is feasible.
    """

    stop_reason: StopReason
    start_accepted: bool | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    claims_infeasible: bool = False


class Run:
    """One run in progress: the problem and limits to read, and the places to report to.

    Whatever has been reported survives a limit, a crash of the solver, the end of its process and Ctrl-C.

    Attributes
    ----------
    instance : Instance
    budget : Budget
    threads : int
    start : bool array, shape (M, n), or None
    clock : Clock
        Started before the model is built, so that a time limit covers the building.
    best_mask : bool array, shape (M, n), or None
        The best feasible placement reported so far, with its recomputed value in ``best_value``.
    bound : float or None
        The least upper bound reported so far.
    callback_error : Exception or None
        What the caller's own log or progress callback raised.
    """

    def __init__(
        self,
        instance: Instance,
        budget: Budget,
        threads: int = 1,
        start: Mask | None = None,
        log: Callable[[str], None] | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.instance, self.budget, self.threads, self.start = instance, budget, threads, start
        self.clock = Clock(budget)
        self.best_mask: Mask | None = None
        self.best_value: float | None = None
        self.bound: float | None = None
        self.trace: list[TracePoint] = []
        self.lines: list[str] = []
        self.callback_error: Exception | None = None
        self._log, self._progress = log, progress

    def restart_clock(self) -> None:
        """Begin counting the time now; what is known already was known at second 0."""
        self.clock = Clock(self.budget)
        self.trace = [point._replace(seconds=0.0) for point in self.trace]

    def say(self, line: str) -> None:
        """Add one line to the log."""
        self.lines.append(line)
        if self._log is not None:
            self._tell(self._log, line)

    def offer(self, values: NDArray[Any], source: str = "solver") -> bool:
        """Report a placement as values in [0, 1], shape (M, n); True when it is feasible.

        Solvers satisfy constraints to a tolerance, so nothing is taken on trust: the values are rounded, reduced
        to their parent-closed part, checked against the budgets and valued by the instance's own objective. One
        that breaks a budget is refused and leaves a line in the log. It becomes the incumbent when it is better.
        """
        instance = self.instance
        mask = closed_part(instance, values)
        sizes = np.count_nonzero(mask, axis=1)
        over = np.flatnonzero(sizes > instance.budgets)
        if over.size:
            m = int(over[0])
            self.say(
                f"refused a placement of the {source}: worker {m} would keep {sizes[m]} chunks "
                f"with a budget of {instance.budgets[m]}"
            )
            return False
        value = instance.objective.value(mask)
        if self.best_value is None or value > self.best_value:
            self.best_mask, self.best_value = mask, value
            self._note(f"placement of the {source}")
        return True

    def tighten(self, bound: float) -> None:
        """Report an upper bound on the optimum in ms; the least one is kept, and NaN or inf says nothing."""
        if np.isfinite(bound) and (self.bound is None or bound < self.bound):
            self.bound = float(bound)
            self._note("bound")

    def _note(self, message: str) -> None:
        seconds = self.clock.seconds
        self.trace.append(TracePoint(seconds, self.best_value, self.bound))
        if self._progress is not None:
            self._tell(self._progress, Progress(seconds, self.best_value, self.bound, message))

    def _tell(self, callback: Callable[[Any], None], what: Any) -> None:
        try:
            callback(what)
        except Exception as error:
            self.callback_error = (
                self.callback_error or error
            )  # a mistake of the caller, not of the solver: it must come out
            raise


class Backend(ABC):
    """An exact method behind :func:`exact.solve`.

    Attributes
    ----------
    name, summary : str
    packages : tuple of str
        Distributions that it needs and whose versions go into the result.
    modules : tuple of str
        Modules to import before the clock starts.
    hint : str
        How to get them.
    bound_proof : {"solver-claim", "float", "exact"}
        What makes its bounds true.
    takes_start, counts_nodes : bool
        Whether it can begin from a placement; whether it honours a node limit.
    own_process : bool
        Whether :func:`exact.solve` runs it in a process of its own, to be killed when it overruns its limit.
    params : type
        The frozen dataclass of its parameters, all of which have defaults.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()
    modules: ClassVar[tuple[str, ...]] = ()
    hint: ClassVar[str] = "pip install prefixplace"
    bound_proof: ClassVar[BoundProof] = "solver-claim"
    takes_start: ClassVar[bool] = True
    counts_nodes: ClassVar[bool] = True
    own_process: ClassVar[bool] = False
    params: ClassVar[type] = NoParams

    def available(self) -> Availability:
        """Whether it can be used here, why not, and how to get it. Imports nothing heavy."""
        found = []
        for package in self.packages:
            try:
                found.append(f"{package} {version(package)}")
            except PackageNotFoundError:
                return Availability(False, f"{package} is not installed", self.hint)
        return Availability(True, ", ".join(found) or "part of this project")

    def load(self) -> None:
        """Import what the back-end needs: a second or two once per process, which no time limit should pay for."""
        for module in self.modules:
            import_module(module)

    def refuses(self, instance: Instance, params: Any) -> str | None:
        """Why it cannot take `instance` at all (too large to enumerate …); None when it can."""
        return None

    @abstractmethod
    def run(self, run: Run, params: Any) -> Outcome:
        """Solve ``run.instance`` within ``run.clock``; report to ``run.offer``, ``run.tighten`` and ``run.say``.

        Ctrl-C may simply be left to propagate: what has been reported is kept.
        """


def closed_part(instance: Instance, values: NDArray[Any]) -> Mask:
    """The largest parent-closed placement within `values` rounded at ½, shape (M, n). O(M·n)."""
    mask: Mask = np.asarray(values) > 0.5
    end = instance.tree.end
    for row in mask:
        missing = np.flatnonzero(~row)
        # every missing chunk takes its whole subtree along: count how many such ranges cover each position
        opened = np.bincount(missing, minlength=row.size + 1)
        closed = np.bincount(end[missing], minlength=row.size + 1)
        row[:] = np.cumsum(opened - closed)[:-1] == 0
    return mask
