"""Budget prices: the minimum of the holder-set dual, a convex function of one number per class of workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace.joint.states import FAR, LARGEST, Ints, StateSpace

__all__ = ["Pricing", "affordable", "best_prices", "payable"]


_LONGEST = 40  # moves along one direction, for the case that it leads along the edge of the box


def priced(prices: Ints, chunks: Ints) -> int:
    """Σ_m λ_m · chunks_m in Python's integers."""
    return sum(p * c for p, c in zip(prices.tolist(), chunks.tolist(), strict=True))


def affordable(space: StateSpace, prices: Ints) -> bool:
    """Whether int64 holds the sums of a pass at `prices`, see :data:`~prefixplace.joint.states.LARGEST`."""
    return priced(prices, space.slack) <= LARGEST and sum(prices.tolist()) <= 2 * LARGEST


def payable(multipliers: Ints) -> bool:
    """Whether int64 holds what all holders of a chunk pay together, and what a worker could earn on all chunks."""
    paid = multipliers.astype(np.float64)
    most = max(paid.sum(axis=0).max(initial=0.0), paid.sum(axis=1).max(initial=0.0))
    return bool(paid.min(initial=0.0) >= 0.0 and most <= 4.0 * LARGEST)


@dataclass(eq=False)
class Pricing:
    """L(λ) = worth + Σ_m λ_m·slack_m + Σ_roots max_H G(H) over a state space; every value is an upper bound.

    Attributes
    ----------
    inside, reach : int64 arrays
        Tables of the last evaluation (see :mod:`prefixplace.joint._states`).
    choice : int64 array
        State of every undecided chunk in the assignment that :meth:`used` found.
    evaluations : int
    safe : bool
        Whether int64 could hold the last evaluation. Where it could not, the bound is FAR, everything survives it, and
        an assignment that uses nothing says that prices are too high.
    """

    space: StateSpace
    evaluations: int = 0
    safe: bool = True

    def __post_init__(self) -> None:
        self.inside = np.empty(self.space.states, np.int64)
        self.reach = np.empty(int(self.space.base[-1]), np.int64)
        self.choice = np.empty(self.space.size, np.int64)

    def bound(self, prices: Ints) -> int:
        """L at integer `prices`, shape (M,)."""
        from prefixplace.joint._states import price

        space = self.space
        self.safe = affordable(space, prices)
        if not self.safe:
            self.evaluations += 1
            return FAR
        self.roots = price(
            space.parent,
            space.offset,
            space.holders,
            space.value,
            space.base,
            prices,
            self.inside,
            self.reach,
        )
        self.evaluations += 1
        return space.worth + priced(prices, space.slack) + int(self.roots)

    def used(self) -> Ints:
        """Chunks per worker in a best assignment of the last evaluation."""
        from prefixplace.joint._states import usage

        space = self.space
        if not self.safe:
            return np.zeros(space.workers, np.int64)
        used: Ints = usage(
            space.parent,
            space.offset,
            space.holders,
            space.base,
            self.inside,
            self.reach,
            space.workers,
            self.choice,
        )
        return used

    def through(self, total: int) -> Ints:
        """Bound of the last evaluation (`total`) for each state being taken, shape (states,)."""
        from prefixplace.joint._states import survivors

        space = self.space
        if not self.safe:
            return np.full(space.states, FAR)
        through = np.empty(space.states, np.int64)
        survivors(
            space.parent, space.offset, space.holders, space.base, self.inside, self.reach, total,
            1 << space.workers, through,
        )  # fmt: skip
        return through


def best_prices(
    pricing: Pricing,
    start: NDArray[np.float64],
    classes: Ints,
    *,
    floor: int,
    limit: int,
    expired: Callable[[], bool] = lambda: False,
) -> tuple[int, Ints]:
    """Minimise L by Shor's r-algorithm (subgradients in a space that is dilated along their differences).

    Parameters
    ----------
    start : float array, shape (M,)
    classes : int array, shape (M,)
        Interchangeable workers share a number and a price: L is convex and symmetric in them, so nothing is lost.
    floor : int
        Stop as soon as L is at most this.
    limit : int
        Most evaluations.
    expired : callable
        Asked now and then; true ends the descent.

    Returns
    -------
    (L, λ)
        The least value found and its prices.

    Notes
    -----
    N. Z. Shor, Minimization Methods for Non-Differentiable Functions, 1985. On a polyhedral function of few
    variables it converges in a few dozen evaluations each.
    """
    count = int(classes[-1]) + 1 if classes.size else 0
    # no price above the value of a chunk is ever needed
    highest = float(pricing.space.value.max(initial=0))
    point = np.zeros(count)
    np.maximum.at(point, classes, np.clip(start, 0.0, highest))

    def evaluate(x: NDArray[np.float64]) -> tuple[int, NDArray[np.float64], Ints]:
        prices = np.rint(x).astype(np.int64)[classes]
        bound = pricing.bound(prices)
        gradient = np.zeros(count)
        np.add.at(gradient, classes, (pricing.space.slack - pricing.used()).astype(np.float64))
        gradient[(x <= 0.0) & (gradient > 0.0)] = 0.0
        return bound, gradient, prices

    best, gradient, best_at = evaluate(point)
    transform = np.eye(count)
    step = 0.1 * float(point.max(initial=0.0)) or 1.0
    spent = 1
    while best > floor and spent < limit and not expired():
        towards = transform.T @ gradient
        norm = float(np.linalg.norm(towards))
        if norm < 1e-12:
            break
        direction = transform @ (towards / norm)
        if step * np.abs(direction).max() < 0.5:
            break
        moves = 0
        while True:
            point = np.clip(point - step * direction, 0.0, highest)
            bound, new_gradient, prices = evaluate(point)
            spent, moves = spent + 1, moves + 1
            if bound < best:
                best, best_at = bound, prices
            if best <= floor or spent >= limit or new_gradient @ direction <= 0.0 or expired():
                break
            if moves >= _LONGEST:
                break
            if moves % 2 == 0:
                step *= 1.5
        if moves == 1:
            step *= 0.9
        difference = transform.T @ (new_gradient - gradient)
        length = float(np.linalg.norm(difference))
        if length > 1e-12:
            axis = difference / length
            transform += np.outer(transform @ axis, axis) * (1.0 / 3.0 - 1.0)
        gradient = new_gradient
    return best, best_at
