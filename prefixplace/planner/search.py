"""A running search: the oracle with its limits, the incumbent, the trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.objective import Objective, State
from prefixplace.result import TracePoint
from prefixplace.stopping import Clock, Progress, ProgressCallback

__all__ = ["Mask", "Search", "Stopped"]

Mask = NDArray[np.bool_]


class Stopped(Exception):
    """Raised out of a search when a limit of its budget is reached; carries the stop reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Search:
    """What a method works with: best responses by the exact oracle, and offers of placements.

    A method may be stopped inside any oracle call. It loses nothing: whatever it works on is registered by
    :meth:`working`, and the driver offers that placement as it stands.
    """

    def __init__(self, instance: Instance, clock: Clock, progress: ProgressCallback | None = None) -> None:
        from prefixplace.oracle.service import (
            shared_oracle,
        )  # brings Numba, which listing the methods need not

        self.instance, self.clock, self.progress = instance, clock, progress
        self.objective: Objective = instance.objective
        self._oracle = shared_oracle(instance.tree)
        self._multipliers: dict[
            int, float | None
        ] = {}  # each worker's last price, where its next search begins
        self._working: State | None = None
        self.best_mask: Mask = self.empty()
        self.best_value = self.objective.value(self.best_mask)
        self.trace: list[TracePoint] = []
        self.log: list[str] = []

    def empty(self) -> Mask:
        """The mask of the placement that keeps nothing, always feasible."""
        return np.zeros((self.instance.num_workers, self.instance.num_chunks), np.bool_)

    def working(self, mask: Mask) -> State:
        """State of the objective at `mask`, registered as what the method works on now."""
        self._working = self.objective.state(mask)
        return self._working

    def respond(self, worker: int, profit: NDArray[np.float64]) -> Mask:
        """Best parent-closed set of `worker` within its budget for `profit` (shape (n,)): one oracle call."""
        reason = self.clock.expired()
        if reason is not None:
            raise Stopped(reason)
        self.clock.iterations += 1
        budget = int(self.instance.budgets[worker])
        answer = self._oracle.solve(profit, budget, warm=self._multipliers.get(worker))
        self._multipliers[worker] = answer.multiplier
        return answer.mask

    def offer(self, mask: Mask, event: str) -> float:
        """Propose a placement; it becomes the incumbent when it is better. Returns its value."""
        value = self.objective.value(mask)
        if value > self.best_value:
            self.best_value, self.best_mask = value, mask.copy()
        seconds = self.clock.seconds
        self.trace.append(TracePoint(seconds, self.best_value, None))
        self.log.append(f"{event}: {value!r}")
        if self.progress is not None:
            self.progress(Progress(seconds, self.best_value, None, event))
        return value

    def offer_unfinished(self) -> None:
        """Offer what the method was working on when it was stopped."""
        self.progress = None  # whoever stopped the search is told no more: a callback may have been the one
        if self._working is not None:
            self.offer(self._working.mask, "as it stood when stopped")
