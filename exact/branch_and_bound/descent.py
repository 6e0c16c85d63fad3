"""Deflected subgradient steps towards a moving level: how both duals with many multipliers are minimised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Descent"]

Floats = NDArray[np.float64]

_PATIENCE = 12


class Descent:
    """State of a descent on a convex piecewise linear function.

    Steps have Polyak's length towards a level below the best value, never below `target` (the value of an incumbent,
    which no dual value undercuts). The level is lowered when it is reached with ease and raised when it is out of
    reach for a while; directions are deflected so that they do not turn against the last one (Camerini, Fratta,
    Maffioli 1975).

    Parameters
    ----------
    start : float array
    target : int
    rounds : int
        Most evaluations.
    """

    def __init__(self, start: NDArray[np.int64] | Floats, target: int, rounds: int) -> None:
        self.point: Floats = start.astype(np.float64)
        self.target, self.rounds = target, rounds
        self.best, self.spent = 0, 0
        self._best_point = self.point
        self._direction = np.zeros_like(self.point)
        self._ambition, self._stale = 0.0, 0

    def improves(self, value: int) -> bool:
        """Count an evaluation at `point`; whether it is the best so far."""
        self.spent += 1
        self._stale += 1
        if self.spent > 1 and value >= self.best:
            return False
        if self.spent == 1:
            self._ambition = 0.5 * (value - self.target)
        elif self.best - value > 0.1 * self._ambition:
            self._stale = 0
            if self.best - value > 0.5 * self._ambition:
                self._ambition *= 1.5
        self.best, self._best_point = value, self.point
        return True

    def done(self) -> bool:
        """Whether rounds are used up or steps have become too short to matter."""
        return (
            self.spent >= self.rounds
            or self._ambition < 1.0
            or self._ambition < 1e-4 * (self.best - self.target)
        )

    def step(self, value: int, gradient: Floats) -> Floats | None:
        """The next point, before projection, from the present one with `value` and `gradient`; None at an optimum."""
        if self._stale > _PATIENCE:
            self._ambition, self._stale = 0.5 * self._ambition, 0
            self._direction = np.zeros_like(self.point)
            return self._best_point
        direction = self._direction
        along, size = float(np.vdot(gradient, direction)), float(np.vdot(direction, direction))
        blend = max(0.0, -1.5 * along / size) if size > 0.0 else 0.0
        self._direction = direction = gradient + blend * direction
        norm = float(np.vdot(direction, direction))
        if norm == 0.0:
            return None
        level = max(float(self.target), self.best - self._ambition)
        return self.point - (value - level) / norm * direction
