"""When to stop: limits, and the clock that watches them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from prefixplace.errors import InputError

__all__ = ["Budget", "Clock", "Progress", "ProgressCallback", "is_interrupt"]


@dataclass(frozen=True)
class Budget:
    """Limits of one run; ``None`` means no limit. A limit on something that a method does not count is never met.

    Parameters
    ----------
    seconds : float ≥ 0, optional
        Wall-clock time.
    nodes : int ≥ 0, optional
        Nodes of a branch-and-bound tree.
    iterations : int ≥ 0, optional
        Oracle calls of a heuristic, or rounds of a bound.
    gap : float ≥ 0, default 0
        Relative gap at which an exact method may stop; 0 asks for the proof.
    """

    seconds: float | None = None
    nodes: int | None = None
    iterations: int | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        for name in ("seconds", "nodes", "iterations", "gap"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, int | float | np.number) and limit >= 0):
                raise InputError(f"budget: {name} is {limit!r}, must be a number ≥ 0")


@dataclass
class Clock:
    """Counts seconds and iterations of a run against its :class:`Budget`."""

    budget: Budget
    started: float = field(default_factory=time.perf_counter)
    iterations: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def remaining(self) -> float | None:
        """Seconds left, never negative; None without a time limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds)

    def expired(self) -> str | None:
        """The stop reason whose limit is reached (``time`` or ``iterations``), else None."""
        if self.budget.seconds is not None and self.seconds >= self.budget.seconds:
            return "time"
        if self.budget.iterations is not None and self.iterations >= self.budget.iterations:
            return "iterations"
        return None


@dataclass(frozen=True)
class Progress:
    """What a running method tells: best value and bound so far (None = nothing yet), and what it does now."""

    seconds: float
    value: float | None
    bound: float | None
    message: str


ProgressCallback = Callable[[Progress], None]


def is_interrupt(error: BaseException) -> bool:
    """Whether `error` is Ctrl-C, also in disguise: within a compiled kernel it surfaces as SystemError."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
