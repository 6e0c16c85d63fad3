"""The joint dual: holder states exact in coverage and closure, workers exact in their budgets, a price between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.descent import Descent
from exact.branch_and_bound.problem import Problem
from prefixplace.joint.prices import Pricing, payable
from prefixplace.joint.states import FAR, FREE, INSIDE, LARGEST, StateSpace

__all__ = ["JointDual", "JointPoint"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointPoint:
    """The best of a descent.

    Attributes
    ----------
    bound : int
    multipliers : int64 array (M, n)
        π.
    weights : float array (M, n)
        How often each pair was taken in late rounds, by workers and states alike: a primal near-solution.
    rounds : int
    """

    bound: int
    multipliers: Ints
    weights: Floats
    rounds: int


class JointDual:
    """L(π) = max over states Σ_b (v_b(H_b) − Σ_{m ∈ H_b} π_m(b)) + Σ_m W_m(π_m), for both objectives.

    The first maximum is over all assignments of states with children within parents, budgets ignored; W_m is the
    best closed set of worker m within its budget. With π_m(b) = λ_m it is the holder-set dual, with
    π_m(b) = a_m(b) + μ_b it is at most the coverage dual, so its minimum is at least as tight as both. π ≥ 0 is
    enough since v is monotone, and interchangeable workers share their π.

    Parameters
    ----------
    problem : Problem
    space : StateSpace
    twin : bool array (M,)
    """

    def __init__(self, problem: Problem, space: StateSpace, twin: NDArray[np.bool_]) -> None:
        self.problem, self.space = problem, space
        self.fix = space.pairs()
        self.first = np.flatnonzero(~twin)
        self.copies = np.diff(np.append(self.first, twin.size))
        self.owner = np.repeat(np.arange(self.first.size), self.copies)
        left = problem.budgets - np.count_nonzero(self.fix == INSIDE, axis=1)
        self.feasible = bool((left >= 0).all())
        free = self.fix[self.first] == FREE
        self.cells = int((np.count_nonzero(free, axis=1) * np.maximum(left[self.first], 0)).sum())
        self._free = free
        self._bits = ((space.holders >> np.arange(space.workers)[:, None]) & 1).astype(np.bool_)
        self._chunk = np.repeat(space.chunks, np.diff(space.offset))
        self._zero = np.zeros(problem.instance.num_chunks, np.int64)
        self._nothing = np.zeros(space.workers, np.int64)

    def clean(self, multipliers: Ints) -> Ints:
        """Multipliers (M, n) equal among twins, ≥ 0, and 0 where a pair is fixed, which changes nothing else."""
        rows = np.clip(multipliers[self.first], 0, FAR // max(self.owner.size, 1))
        return np.where(self._free, rows, 0)[self.owner]

    def paid(self, multipliers: Ints) -> Ints:
        """Σ π_m(b) over the holders of each state."""
        paid = np.zeros(self.space.states, np.int64)
        for m in range(self.space.workers):
            paid += np.where(self._bits[m], multipliers[m, self._chunk], 0)
        return paid

    def evaluate(self, multipliers: Ints, answers: Floats) -> tuple[int, Pricing, int]:
        """``(L, forest part with its tables, Σ W_m)``; workers' answers go to rows `first` of `answers` (M, n).

        L is :data:`~prefixplace.joint.states.FAR` where int64 cannot hold the sums.
        """
        from exact.branch_and_bound._pairs import coverage_value

        space = replace(self.space, value=self.space.value - self.paid(multipliers))
        forest = Pricing(space)
        states = forest.bound(self._nothing)
        prices = np.zeros(self.first.size, np.int64)
        worth = int(
            coverage_value(
                self.problem.instance.tree.end, self.fix, multipliers, self._zero, self.problem.budgets, self.first,
                self.copies, True, prices, answers,
            )
        )  # fmt: skip
        safe = worth <= LARGEST and payable(multipliers)
        return states + worth if safe else FAR, forest, worth

    def descend(
        self,
        start: Ints,
        *,
        floor: int,
        target: int,
        rounds: int,
        visit: Callable[[Floats], int] | None = None,
        every: int = 1,
        expired: Callable[[], bool] = lambda: False,
    ) -> JointPoint:
        """Lower L from `start` (M, n); see :class:`Descent`.

        `visit` receives the answers of all workers every so many rounds and may return a better target.
        """
        answers = np.zeros(self.fix.shape)
        weight = np.sqrt(self.copies.astype(np.float64))[:, None]  # so that a class counts like its members
        descent = Descent(self.clean(start)[self.first] * weight, target, rounds)
        best_at = self.clean(start)
        weights = np.zeros(self.fix.shape)
        while True:
            multipliers = self.clean(np.rint(descent.point / weight).astype(np.int64)[self.owner])
            bound, forest, _ = self.evaluate(multipliers, answers)
            if descent.improves(bound):
                best_at = multipliers
            if visit is not None and descent.spent % every == 0:
                descent.target = max(descent.target, visit(answers[self.first[self.owner]]))
                floor = max(floor, descent.target)
            if descent.best <= floor or descent.done() or (descent.spent % 16 == 0 and expired()):
                break
            forest.used()
            held = np.zeros(self.fix.shape, np.float64)
            chosen = self._bits[:, forest.choice]
            held[:, self.space.chunks] = chosen
            both = 0.5 * (answers[self.first[self.owner]] + held)
            weights += max(0.03, 1.0 / descent.spent) * (both - weights)
            gradient = answers[self.first] * self.copies[:, None]
            gradient -= np.add.reduceat(held, self.first, axis=0)
            gradient = np.where(self._free, gradient / weight, 0.0)
            gradient[(descent.point <= 0.0) & (gradient > 0.0)] = 0.0
            moved = descent.step(bound, gradient)
            if moved is None:
                break
            descent.point = np.maximum(moved, 0.0)
        return JointPoint(descent.best, best_at, weights, descent.spent)

    def state_bounds(self, point: JointPoint) -> Ints:
        """Upper bound on every placement that has a chunk in a state, shape (states,)."""
        from exact.branch_and_bound._pairs import pair_losses
        from exact.branch_and_bound._state_losses import state_losses

        answers = np.zeros(self.fix.shape)
        bound, forest, _ = self.evaluate(point.multipliers, answers)
        if bound == FAR:
            return np.full(self.space.states, FAR)
        through = forest.through(bound)
        entry, leave = np.zeros(self.fix.shape, np.int64), np.zeros(self.fix.shape, np.int64)
        pair_losses(
            self.problem.instance.tree.end, self.fix, point.multipliers, self._zero, self.problem.budgets, self.first,
            True, np.zeros(self.first.size, np.int64), entry, leave,
        )  # fmt: skip
        owner = self.first[self.owner]
        lost = np.empty(self.space.states, np.int64)
        space = self.space
        state_losses(
            space.chunks,
            space.offset,
            space.holders,
            entry[owner],
            leave[owner],
            self._zero,
            self._zero,
            lost,
        )
        return through - lost
