"""Exhaustive enumeration of what is left in a branch, by a dynamic program over chunks and budgets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.certificates.forest import NEVER, States, fits, forest_bound
from exact.certificates.losses import MOST_CELLS

__all__ = ["enumerate_all"]

Integers = NDArray[Any]


def enumerate_all(
    parent: Sequence[int],
    states: States,
    budgets: Sequence[int],
    order: Sequence[int],
    prices: Sequence[Sequence[int]],
    multipliers: Sequence[Sequence[int]] | None,
    classes: Sequence[Sequence[int]],
    floor: int,
) -> int:
    """How many different ends there are that are feasible and worth more than `floor`; 0 proves that none is.

    Chunks are decided one after the other in `order`, a preorder. What matters later of a beginning is how much of
    each budget it has used and the states of the chunks that still have children to come; of beginnings that agree
    in this only the most valuable goes on, and interchangeable workers are sorted. One is dropped when some bound on
    all its completions is at most `floor`:

    * at prices λ: its value + Σ_m λ_m·(budget left) + the best that open chunks and roots can add, holders paying λ;
    * at multipliers π: the same with payments π_m(b), and instead of λ_m·(budget left) the most that worker m can
      still earn with profits π_m on the chunks to come within the budget left.

    Raises
    ------
    ValueError
        When `order` is no preorder, or the workers' tables are larger than :data:`MOST_CELLS`.
    """
    parent, states, rows = _reordered(parent, states, order, multipliers)
    n, workers = len(parent), len(budgets)
    end = list(range(1, n + 1))
    for b in range(n - 1, -1, -1):
        if parent[b] >= 0:
            end[parent[b]] = max(end[parent[b]], end[b])
    bounds: list[_Bound] = [_PriceBound(parent, states, list(vector), budgets) for vector in prices]
    if rows is not None:
        bounds.append(_JointBound(parent, end, states, rows, budgets))
    children = [0] * n
    for p in parent:
        if p >= 0:
            children[p] += 1
    waiting = children.copy()

    used = np.zeros((1, workers), np.int64)
    stack: list[int] = []  # open chunks
    held = np.zeros((1, 0), np.int64)  # their states
    worth = np.zeros(1, states.values[0].dtype if n else np.int64)
    for b in range(n):
        p = parent[b]
        above = held[:, -1] if p >= 0 else np.full(worth.size, -1)
        label, state = np.nonzero(fits(states.masks[b], above))
        mask = states.masks[b][state]
        new_used = used[label] + (mask[:, None] >> np.arange(workers) & 1)
        new_worth = worth[label] + states.values[b][state]
        alive = (new_used <= np.array(budgets)).all(axis=1)
        for bound in bounds:
            best = bound.of(b, stack, held[label], mask, state, new_used, new_worth)
            alive &= np.asarray(best > floor, np.bool_)
        used, worth, held = new_used[alive], new_worth[alive], held[label[alive]]
        for bound in bounds:
            bound.settle(b)
        if p >= 0:
            waiting[p] -= 1
            if waiting[p] == 0:
                stack.pop()
                held = held[:, :-1]
        if children[b]:
            stack.append(b)
            held = np.concatenate((held, mask[alive][:, None]), axis=1)
        used, held = _sorted_twins(used, held, classes)
        used, held, worth = _best_of_equals(used, held, worth)
        if worth.size == 0:
            return 0
    return int(np.count_nonzero(worth > floor))


def _reordered(
    parent: Sequence[int], states: States, order: Sequence[int], multipliers: Sequence[Sequence[int]] | None
) -> tuple[list[int], States, list[list[int]] | None]:
    number = {chunk: i for i, chunk in enumerate(order)}
    above = [number[parent[chunk]] if parent[chunk] >= 0 else -1 for chunk in order]
    path: list[int] = []
    for i, p in enumerate(above):
        while path and path[-1] != p:
            path.pop()
        if (p >= 0) != bool(path):
            raise ValueError("the order of an enumeration is no preorder")
        path.append(i)
    result = States([states.masks[c] for c in order], [states.values[c] for c in order])
    rows = None if multipliers is None else [[row[c] for c in order] for row in multipliers]
    return above, result, rows


class _Bound(ABC):
    """What open chunks and undecided roots can still add when holders pay: shared by both bounds."""

    def __init__(self, parent: list[int], states: States, paid: list[Integers]) -> None:
        self.parent, self.states, self.paid = parent, states, paid
        self.roots, self.inside, self.reach = forest_bound(parent, states, paid)
        self.open = [i - v + p for i, v, p in zip(self.inside, states.values, paid, strict=True)]

    @abstractmethod
    def of(
        self,
        b: int,
        stack: list[int],
        held: Integers,
        mask: Integers,
        state: Integers,
        used: Integers,
        worth: Integers,
    ) -> Integers:
        """An upper bound on all completions of each new beginning."""

    def settle(self, b: int) -> None:
        """Chunk b is decided."""
        p = self.parent[b]
        if p >= 0:
            self.open[p] = self.open[p] - self.reach[b]
        else:
            self.roots -= int(self.reach[b][0])

    def add(self, b: int, stack: list[int], held: Integers, state: Integers) -> Integers:
        """What chunks that come after b can add, with b in `state` and open chunks in `held`, payments taken off."""
        result = self.open[b][state] + self.roots
        if not stack:
            return result - int(self.reach[b][0])
        for d, q in enumerate(stack):
            order = np.argsort(self.states.masks[q])
            at = order[np.searchsorted(self.states.masks[q][order], held[:, d])]
            result = result + self.open[q][at]
            if q == self.parent[b]:
                result = result - self.reach[b][at]
        return result


class _PriceBound(_Bound):
    def __init__(self, parent: list[int], states: States, prices: list[int], budgets: Sequence[int]) -> None:
        self.prices, self.budgets = np.array(prices), np.array(budgets)
        paid = [(masks[:, None] >> np.arange(len(prices)) & 1) @ self.prices for masks in states.masks]
        super().__init__(parent, states, paid)

    def of(
        self,
        b: int,
        stack: list[int],
        held: Integers,
        mask: Integers,
        state: Integers,
        used: Integers,
        worth: Integers,
    ) -> Integers:
        """Bound of each new beginning."""
        return worth + (self.budgets - used) @ self.prices + self.add(b, stack, held, state)


class _JointBound(_Bound):
    def __init__(
        self, parent: list[int], end: list[int], states: States, rows: list[list[int]], budgets: Sequence[int]
    ) -> None:
        self.end, self.budgets = end, budgets
        paid = []
        for b, masks in enumerate(states.masks):
            paid.append(
                sum(
                    (np.where(masks >> m & 1, row[b], 0) for m, row in enumerate(rows)),
                    np.zeros(masks.size, np.int64),
                )
            )
        super().__init__(parent, states, paid)
        self.earn = []
        if (len(parent) + 1) * sum(k + 1 for k in budgets) > MOST_CELLS:
            raise ValueError("the workers' tables of an enumeration are too large to replay")
        for m, row in enumerate(rows):
            inside, outside = states.fixed(m)
            table = np.full((len(parent) + 1, budgets[m] + 1), NEVER, np.int64)
            table[len(parent)] = 0
            for i in range(len(parent) - 1, -1, -1):
                if i not in inside:
                    table[i] = table[end[i]]
                if i not in outside:
                    table[i, 1:] = np.maximum(table[i, 1:], np.maximum(row[i] + table[i + 1, :-1], NEVER))
            self.earn.append(table)

    def of(
        self,
        b: int,
        stack: list[int],
        held: Integers,
        mask: Integers,
        state: Integers,
        used: Integers,
        worth: Integers,
    ) -> Integers:
        """Bound of each new beginning."""
        total = worth + self.add(b, stack, held, state)
        for m, table in enumerate(self.earn):
            # a worker goes on at the next chunk, or after the uppermost open chunk that it does not hold
            resume = np.where(mask >> m & 1, b + 1, self.end[b])
            for d in range(len(stack) - 1, -1, -1):
                resume = np.where(held[:, d] >> m & 1, resume, self.end[stack[d]])
            left = np.maximum(self.budgets[m] - used[:, m], 0)
            total = np.maximum(total + table[resume, left], NEVER)
        return total


def _sorted_twins(
    used: Integers, held: Integers, classes: Sequence[Sequence[int]]
) -> tuple[Integers, Integers]:
    """Rows with the workers of each class in ascending order of use, then of their part in the open states."""
    for members in classes:
        for last in range(len(members) - 1, 0, -1):
            for x, y in pairwise(members[: last + 1]):
                swap = used[:, x] > used[:, y]
                equal = used[:, x] == used[:, y]
                for d in range(held.shape[1]):
                    first, second = held[:, d] >> x & 1, held[:, d] >> y & 1
                    swap |= equal & (first > second)
                    equal &= first == second
                used[swap, x], used[swap, y] = used[swap, y], used[swap, x]
                differ = swap[:, None] & ((held >> x & 1) != (held >> y & 1))
                held = np.where(differ, held ^ ((1 << x) | (1 << y)), held)
    return used, held


def _best_of_equals(used: Integers, held: Integers, worth: Integers) -> tuple[Integers, Integers, Integers]:
    key = np.concatenate((used, held), axis=1)
    if worth.size < 2 or key.shape[1] == 0:
        return used, held, worth.max(keepdims=True) if key.shape[1] == 0 and worth.size else worth
    order = np.lexsort((-worth, *key.T))
    sorted_key = key[order]
    first = np.concatenate(([True], (sorted_key[1:] != sorted_key[:-1]).any(axis=1)))
    kept = order[first]
    return used[kept], held[kept], worth[kept]
