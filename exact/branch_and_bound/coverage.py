"""The coverage dual on the grid: bounds, and what each pair costs, for any number of workers (requester-side)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.descent import Descent
from exact.branch_and_bound.problem import Problem
from prefixplace.joint.states import FAR, FREE, INSIDE, NEVER, OUTSIDE, StateSpace

__all__ = ["CoverageDual", "CoveragePoint", "Losses"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_STATES, _MOST_AT_ONE = 1 << 17, 1 << 10
_MOST_ROOM = 1 << 56  # so that the losses of 62 workers add up in an int64
_BURST = 16  # rounds between two looks at the clock
_DEAREST = 16  # most multiplier of a chunk that somebody has to hold, in values of the largest chunk
_MANY_PAIRS = 200_000  # free pairs from which on classes are spread over threads


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="coverage-dual")


@dataclass(frozen=True, eq=False)
class CoveragePoint:
    """The best multipliers of a descent.

    Attributes
    ----------
    bound : int
        L(μ) in grid units; NEVER-like (very negative) when the fixings leave nothing feasible.
    multipliers : int64 array, shape (n,)
        μ, between 0 and Δ.
    prices : int64 array
        Price of a chunk of each class of workers, where budgets are priced.
    exact : bool
        Whether budgets were kept by the dynamic program.
    weights : float array (M, n)
        Average of the answers, most of it from late ones: an approximate primal solution, for branching.
    rounds : int
    """

    bound: int
    multipliers: Ints
    prices: Ints
    exact: bool
    weights: Floats
    rounds: int


@dataclass(frozen=True, eq=False)
class Losses:
    """What the bound loses at least when a chunk has a given set of holders.

    At one chunk b everything adds up, since no two terms come from the same part of L: ``entry[m, b]`` for every
    holder, ``leave[m, b]`` for every other worker, Δ − μ_b when there is no holder and μ_b for every holder beyond
    the first.

    Attributes
    ----------
    bound : int
    entry, leave : int64 arrays (M, n)
    multipliers, spread : int64 arrays (n,)
        μ and Δ − μ, or as good as infinite where somebody has to hold the chunk.
    """

    bound: int
    entry: Ints
    leave: Ints
    multipliers: Ints
    spread: Ints

    def of_states(self, space: StateSpace) -> Ints:
        """The loss of every state of `space`."""
        from exact.branch_and_bound._state_losses import state_losses

        lost = np.empty(space.states, np.int64)
        state_losses(
            space.chunks,
            space.offset,
            space.holders,
            self.entry,
            self.leave,
            self.multipliers,
            self.spread,
            lost,
        )
        return lost

    def tightened(
        self, problem: Problem, fix: NDArray[np.int8], must: NDArray[np.bool_], room: int
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]] | None:
        """`fix` and `must` with what is the only way to lose less than `room`; None when there is no way. O(M·n)."""
        from exact.branch_and_bound._rounds import tighten

        fix, must = fix.copy(), must.copy()
        if room < _MOST_ROOM and not tighten(
            problem.instance.tree.parent, problem.coverage, problem.budgets, self.multipliers, self.entry, self.leave,
            room, fix, must,
        ):  # fmt: skip
            return None
        return fix, must

    def cheap_space(self, problem: Problem, room: int) -> StateSpace | None:
        """All states that lose less than `room`; None when they are too many to write down."""
        from exact.branch_and_bound._state_losses import cheap_states
        from prefixplace.joint._states import table_offsets

        n = self.multipliers.size
        counts = np.zeros(n, np.int64)
        holders, value = np.empty(_MOST_STATES, np.int64), np.empty(_MOST_STATES, np.int64)
        total = cheap_states(
            self.entry, self.leave, self.multipliers, self.spread, room, _MOST_STATES, problem.local, problem.coverage,
            counts, holders, value,
        )  # fmt: skip
        if total < 0 or counts.max(initial=0) > _MOST_AT_ONE:
            return None
        parent = np.array(problem.instance.tree.parent)
        offset = np.concatenate(([0], np.cumsum(counts)))
        return StateSpace(
            chunks=np.arange(n),
            parent=parent,
            offset=offset,
            holders=holders[:total].copy(),
            value=value[:total].copy(),
            base=table_offsets(parent, offset),
            decided=np.full(n, -1),
            worth=0,
            slack=problem.budgets,
        )


class CoverageDual:
    """L(μ) = Σ_b (Δ(b) − μ_b) + Σ_m W_m(a_m + μ) under fixings, in int64.

    A chunk that is outside for everybody adds nothing. Workers that are interchangeable, in the problem and in the
    fixings, are answered once.

    Parameters
    ----------
    end : int64 array, shape (n,)
    local : int64 array (M, n)
    coverage : int64 array (n,)
    budgets : int64 array (M,)
    twin : bool array (M,)
        ``twin[m]``: workers m − 1 and m are interchangeable.
    fix : int8 array (M, n)
        FREE, INSIDE or OUTSIDE; inside is parent-closed, outside takes subtrees along.
    must : bool array (n,)
        Chunks that somebody has to hold: their coverage counts in any case, and μ may exceed Δ.
    table_cells : int
        Cells of the dynamic programs up to which budgets are kept exactly; beyond it they are priced.
    threads : int, default 1
        Over which priced classes are spread when they are large; no number depends on it.

    Attributes
    ----------
    cells : int
        Of the dynamic programs of one worker of each class.
    exact : bool
        Whether budgets are kept by these programs or priced.
    feasible : bool
        Whether what is inside fits the budgets, and somebody may hold what has to be held.
    first, owner : int64 arrays
        One worker of each class, and the class of every worker.
    """

    def __init__(
        self,
        end: Ints,
        local: Ints,
        coverage: Ints,
        budgets: Ints,
        twin: NDArray[np.bool_],
        fix: NDArray[np.int8],
        must: NDArray[np.bool_],
        table_cells: int,
        threads: int = 1,
    ) -> None:
        self.end, self.local, self.coverage, self.budgets, self.fix = end, local, coverage, budgets, fix
        self.must = must
        dearest = _DEAREST * (int(local.max(initial=0)) + int(coverage.max(initial=0)))
        dearest = min(dearest, (FAR // 4) // max(int(np.count_nonzero(self.must)), 1))
        self._ceiling = coverage + np.where(self.must, dearest, 0)
        self.first = np.flatnonzero(~twin)
        self.copies = np.diff(np.append(self.first, twin.size))
        self.owner = np.repeat(np.arange(self.first.size), self.copies)
        free = np.count_nonzero(fix[self.first] == FREE, axis=1)
        left = budgets[self.first] - np.count_nonzero(fix[self.first] == INSIDE, axis=1)
        self.cells = int((free * np.clip(left, 0, free)).sum())
        self.exact = self.cells <= table_cells
        large = int(free.sum()) >= _MANY_PAIRS and not self.exact
        count = min(threads, self.first.size) if large else 1
        cuts = [self.first.size * part // count for part in range(count + 1)]
        self._parts = [slice(*cut) for cut in pairwise(cuts)]
        self._barred = (fix == OUTSIDE).all(axis=0)
        self.feasible = bool((left >= 0).all()) and not bool((self._barred & self.must).any())

    def bound(self, multipliers: Ints, prices: Ints, answers: Floats) -> int:
        """L(μ); `prices` are where the search for budget prices begins, and end up there. O(Σ free·budget) or O(M·n).

        Rows of `answers` (M, n) are filled for the first member of each class.
        """
        from exact.branch_and_bound._pairs import coverage_value

        def value(part: slice) -> int:
            return int(
                coverage_value(
                    self.end, self.fix, self.local, multipliers, self.budgets, self.first[part],
                    self.copies[part], self.exact, prices[part], answers,
                )
            )  # fmt: skip

        parts = self._parts
        values = [value(parts[0])] if len(parts) == 1 else list(_pool(len(parts)).map(value, parts))
        if min(values) < 0:
            return min(values)
        return min(int(np.where(self._barred, 0, self.coverage - multipliers).sum()) + sum(values), FAR)

    def descend(
        self,
        start: Ints,
        prices: Ints,
        *,
        floor: int,
        target: int,
        rounds: int,
        ambition: float = 0.0,
        visit: Callable[[Floats], int] | None = None,
        every: int = 1,
        expired: Callable[[], bool] = lambda: False,
    ) -> CoveragePoint:
        """Lower L from `start`; see :class:`Descent`.

        Stops when L ≤ `floor`, after `rounds`, or when steps have become useless. `visit` receives the answers of all
        workers every so many rounds and may return a better target. `ambition` is what the first steps try to gain,
        by default half of what is between L and the target.
        """
        if self.exact:
            return self._descend_exactly(
                start, floor=floor, target=target, rounds=rounds, ambition=ambition, visit=visit, every=every,
                expired=expired,
            )  # fmt: skip
        from exact.branch_and_bound._rounds import average

        shape = self.local.shape
        answers, weights, gradient = np.zeros(shape), np.zeros(shape), np.zeros(shape[1])
        needed = np.where(self._barred, 0.0, 1.0)
        prices = prices.copy()
        upper = self._ceiling.astype(np.float64)
        owner = self.first[self.owner]
        descent = Descent(np.clip(start, 0, self._ceiling), target, rounds)
        best_at, best_prices = start, prices
        while True:
            multipliers = np.rint(descent.point).astype(np.int64)
            now = self.bound(multipliers, prices, answers)
            if descent.improves(now):
                best_at, best_prices = multipliers, prices.copy()
            average(answers, self.first, self.copies, max(0.05, 1.0 / descent.spent), weights, gradient)
            if visit is not None and descent.spent % every == 0:
                descent.target = max(descent.target, visit(answers[owner]))
                floor = max(floor, descent.target)
            if descent.best <= floor or descent.done() or (descent.spent % 16 == 0 and expired()):
                break
            gradient -= needed
            gradient[(descent.point <= 0.0) & (gradient > 0.0)] = 0.0
            gradient[(descent.point >= upper) & (gradient < 0.0)] = 0.0
            moved = descent.step(now, gradient)
            if moved is None:
                break
            descent.point = np.clip(moved, 0.0, upper)
        return CoveragePoint(descent.best, best_at, best_prices, self.exact, weights, descent.spent)

    def _descend_exactly(
        self,
        start: Ints,
        *,
        floor: int,
        target: int,
        rounds: int,
        ambition: float,
        visit: Callable[[Floats], int] | None,
        every: int,
        expired: Callable[[], bool],
    ) -> CoveragePoint:
        """The same with budgets kept, many rounds in one compiled call."""
        from exact.branch_and_bound._rounds import descend

        n = self.coverage.size
        answers, weights = np.zeros(self.local.shape, np.bool_), np.zeros(self.local.shape)
        point = np.clip(start, 0, self._ceiling).astype(np.float64)
        direction, best_point = np.zeros(n), point.copy()
        best, count, level = np.full(1, FAR), np.zeros(2, np.int64), np.array([ambition])
        owner = self.first[self.owner]
        burst = _BURST if visit is None else every
        ended = False
        while not ended:
            ended = descend(
                self.end, self.fix, self.must, self.local, self.coverage, self._ceiling.astype(np.float64),
                self.budgets, self.first, self.copies, floor, target, rounds, burst, point, direction, best_point,
                best, count, level, answers, weights,
            )  # fmt: skip
            if visit is not None and int(best[0]) > floor:
                target = max(target, visit(answers[owner].astype(np.float64)))
                floor = max(floor, target)
            if expired():
                break
        multipliers = np.rint(best_point).astype(np.int64)
        prices = np.zeros(self.first.size, np.int64)
        return CoveragePoint(int(best[0]), multipliers, prices, True, weights, int(count[0]))

    def losses(self, point: CoveragePoint) -> Losses:
        """Losses at a point of this dual."""
        from exact.branch_and_bound._pairs import pair_losses

        entry, leave = np.zeros(self.local.shape, np.int64), np.zeros(self.local.shape, np.int64)
        pair_losses(
            self.end, self.fix, self.local, point.multipliers, self.budgets, self.first, self.exact, point.prices,
            entry, leave,
        )  # fmt: skip
        owner = self.first[self.owner]
        spread = np.where(self._barred, 0, self.coverage - point.multipliers)
        spread[self.must] = -NEVER  # no state without a holder
        return Losses(point.bound, entry[owner], leave[owner], point.multipliers, spread)
