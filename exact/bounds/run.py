"""A bound in the making: limits, the incumbent, the best multipliers so far."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from exact.bounds.result import Bound, BoundPoint, Column
from exact.rounding import oracle_rounding
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.result import StopReason, package_versions
from prefixplace.stopping import Budget, Clock, Progress, ProgressCallback

__all__ = ["BoundRun", "LimitReached"]


class LimitReached(Exception):
    """Raised out of a method when a limit of its budget, or the gap asked for, is reached."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BoundRun:
    """What a bounding method reports to. Everything reported survives a limit and Ctrl-C.

    Parameters
    ----------
    instance : Instance
    mask : bool array (M, n)
        A feasible placement to begin with.
    clock : Clock
        Running since the call began, with the limits on seconds and iterations (evaluations of a dual function)
        and the gap at which to stop.
    """

    def __init__(
        self,
        instance: Instance,
        mask: NDArray[np.bool_],
        clock: Clock,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.instance, self.clock, self.progress = instance, clock, progress
        self.mask, self.value = mask, instance.objective.value(mask)
        self.bound = np.inf
        self.master: float | None = None
        self.history: list[BoundPoint] = []
        self.multipliers: dict[str, NDArray[np.float64]] = {}
        self.weights: NDArray[np.float64] | None = None
        self.columns: tuple[Column, ...] = ()
        self.counters: dict[str, float] = {}

    def check_limits(self) -> None:
        """Count one iteration; raise :class:`LimitReached` when there is no room for it."""
        if np.isfinite(self.bound):  # one evaluation is always made: a bound must come back
            if self.bound - self.value <= self.clock.budget.gap * abs(self.bound):
                raise LimitReached("finished")
            reason = self.clock.expired()
            if reason is not None:
                raise LimitReached(reason)
        self.clock.iterations += 1

    def improve(
        self,
        bound: float,
        *,
        master: float | None = None,
        weights: NDArray[np.float64] | None = None,
        **multipliers: NDArray[np.float64],
    ) -> None:
        """Report a value of a dual function with its multipliers, and the present primal weights."""
        if bound < self.bound:
            self.bound = bound
            self.multipliers = {
                name: array for name, array in multipliers.items() if not np.isnan(array).any()
            }
        if weights is not None:
            self.weights = weights
        if master is not None:
            self.master = master
        if not np.isfinite(self.bound):
            return  # a master alone is no bound yet
        seconds = self.clock.seconds
        self.history.append(BoundPoint(seconds, self.master, self.bound))
        if self.progress is not None:
            self.progress(Progress(seconds, self.value, self.bound, f"iteration {self.clock.iterations}"))

    def offer(self, mask: NDArray[np.bool_]) -> None:
        """Report a feasible placement; it becomes the incumbent when it is better."""
        value = self.instance.objective.value(mask)
        if value > self.value:
            self.value, self.mask = value, mask

    def offer_rounding(self, weights: NDArray[np.float64]) -> None:
        """Report the rounding of a fractional solution (shape (M, n)), improved by best responses.

        M oracle calls for the rounding and a few sweeps of M, as far as the time allows.
        """
        from prefixplace.planner import solve

        rounded = oracle_rounding(self.instance, weights)
        self.offer(rounded.mask)
        improved = solve(self.instance, "refined", start=rounded, budget=Budget(seconds=self.clock.remaining))
        if improved.placement is not None:
            self.offer(improved.placement.mask)

    def count(self, **counters: float) -> None:
        """Set counters of the result."""
        self.counters.update({name: int(value) for name, value in counters.items()})

    def result(self, kind: str, stop_reason: str, packages: tuple[str, ...]) -> Bound:
        """The outcome. A bound that rounding has put below the incumbent is raised to it."""
        return Bound(
            kind=kind,
            bound=float(max(self.bound, self.value)),
            proof="float",
            seconds=self.clock.seconds,
            stop_reason=cast(StopReason, stop_reason),
            history=tuple(self.history),
            multipliers=self.multipliers,
            columns=self.columns,
            weights=self.weights,
            placement=Placement(self.instance.tree, self.mask),
            value=self.value,
            counters={"iterations": self.clock.iterations, **self.counters},
            instance_digest=self.instance.digest,
            versions=package_versions(*packages),
        )
