"""Pair exchange: two workers at a time answer all the others again, together and exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.joint.enumeration import enumerate_space, spread_prices
from prefixplace.joint.grid import Grid, grid_for
from prefixplace.joint.prices import Pricing, best_prices
from prefixplace.joint.states import all_states
from prefixplace.objective import Pairwise
from prefixplace.planner.refine import refine
from prefixplace.planner.search import Mask, Search, Stopped

__all__ = ["ExchangeParams", "PairExchange", "exchange"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ExchangeParams:
    """Parameters of ``pair-exchange``.

    Parameters
    ----------
    width : int ≥ 1
        Most labels per chunk of the joint dynamic program. While they suffice (``unproven_pairs`` is 0) every pair
        is re-optimised exactly; beyond it the answer for a pair is the best of a beam.
    tolerance : float ≥ 0
        Relative improvement that the refinement between sweeps of pairs asks for.
    """

    width: int = 4000
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"width is {self.width}, must be ≥ 1")
        if not self.tolerance >= 0:
            raise InputError(f"tolerance is {self.tolerance}, must be ≥ 0")


class PairExchange:
    """Joint best responses of two workers on the instance's integer grid.

    For fixed other workers the value of a chunk depends on which of the two hold it: four states, a child's state
    within its parent's, two budgets. That is priced and enumerated exactly by :mod:`prefixplace.joint`.

    Attributes
    ----------
    grid : Grid
    pairs, unproven : int
        Pairs answered, and those among them whose answer came from a beam.
    """

    grid: Grid

    def __init__(self, instance: Instance, width: int) -> None:
        self.instance, self.width = instance, width
        self.pairs = self.unproven = 0
        objective = instance.objective
        everywhere = np.arange(instance.num_chunks)
        self._saving: list[Ints] = []
        if isinstance(objective, Pairwise):
            saving = [objective.saving(h, everywhere) for h in range(instance.num_workers)]
            self.grid = grid_for(saving, float(np.max(saving, axis=0).sum()))
            self._saving = [self.grid.to_units(s) for s in saving]
        else:
            arrays = [objective.local, objective.coverage]
            self.grid = grid_for(arrays, float(sum(a.sum() for a in arrays)))
            self._local, self._coverage = (self.grid.to_units(a) for a in arrays)

    def improve(
        self, mask: Mask, first: int, second: int, expired: Callable[[], bool] = lambda: False
    ) -> Mask | None:
        """A better placement that differs from `mask` in the two workers only, or None when there is none.

        None also when the beam found none; `unproven` then goes up. O(labels) after O(n) a price.
        """
        instance, n = self.instance, self.instance.num_chunks
        budgets = np.minimum(instance.budgets[[first, second]], n)
        if n == 0 or not budgets.all():
            return None  # with one worker alone this is its best response
        table = self._table(mask, first, second)
        space = all_states(instance.tree.parent, table, budgets)
        now = mask[first] + 2 * mask[second].astype(np.int64)
        floor = int(table[np.arange(n), now].sum()) + self.grid.step - 1
        same = budgets[0] == budgets[1] and np.array_equal(table[:, 1], table[:, 2])
        twin = np.array([False, same])
        classes = np.cumsum(~twin) - 1
        self.pairs += 1
        pricing = Pricing(space)
        start = np.full(2, float(table[:, 3].max()) / 2)
        bound, prices = best_prices(pricing, start, classes, floor=floor, limit=80, expired=expired)
        if bound <= floor:
            return None
        total = pricing.bound(prices)
        left = space.reduced(pricing.through(total) > floor)
        if left is None:
            return None
        vectors = spread_prices(Pricing(left), prices, classes, total, floor)
        found = enumerate_space(left, vectors, twin, floor, width=self.width, expired=expired)
        self.unproven += not found.exhaustive
        if found.holders is None:
            return None
        better = mask.copy()
        better[first], better[second] = found.holders & 1, found.holders >> 1
        return better

    def _table(self, mask: Mask, first: int, second: int) -> Ints:
        """Term of every chunk for the four states of the pair, the others standing still; shape (n, 4)."""
        others = np.delete(mask, [first, second], axis=0)
        table = np.zeros((mask.shape[1], 4), np.int64)
        if not self._saving:
            a, b = self._local[first], self._local[second]
            table[:, 1], table[:, 2], table[:, 3] = a, b, a + b
            table[:, 1:] += np.where(others.any(axis=0), 0, self._coverage)[:, None]
            return table
        held = np.zeros_like(self._saving[first])
        for h in range(mask.shape[0]):
            if h not in (first, second):
                np.maximum(held, self._saving[h], out=held, where=mask[h])
        one, two = np.maximum(held, self._saving[first]), np.maximum(held, self._saving[second])
        for state, best in ((1, one), (2, two), (3, np.maximum(one, two))):
            table[:, state] = (best - held).sum(axis=0)
        return table


def exchange(search: Search, mask: Mask, params: ExchangeParams) -> Mask:
    """Re-optimise pairs of workers, and single workers between sweeps, until neither improves. Never worse.

    With every pair answered exactly the end is a local optimum under changes of two workers, worth at least
    (M − 1)/(2M − 3) of the optimum for M ≥ 2 (Filmus, Ward 2012, for p = 2 of M jointly re-optimised parts) where
    coordinate refinement guarantees ½; it also is the optimum for M = 2.
    """
    workers = mask.shape[0]
    pairs = PairExchange(search.instance, params.width)

    def expired() -> bool:
        return search.clock.expired() is not None

    best = mask.copy()
    while True:
        state = search.working(best)
        refine(search, state, range(workers), params.tolerance, "pair exchange")
        best = state.mask.copy()
        improved = False
        for first, second in combinations(range(workers), 2):
            reason = search.clock.expired()
            if reason is not None:
                raise Stopped(reason)
            better = pairs.improve(best, first, second, expired)
            search.clock.iterations += 1
            if better is not None:
                best, improved = better, True
                search.offer(best, f"workers {first} and {second} together")
        if not improved:
            search.log.append(f"pairs answered: {pairs.pairs}, not proved: {pairs.unproven}")
            return best
