"""Better placements by answering groups of workers together, the others as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.primal import Primal
from prefixplace.instance import Instance
from prefixplace.joint.states import OUTSIDE
from prefixplace.tree import PrefixTree

__all__ = ["Group", "GroupExchange", "Region"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SIZE = 6
"""Workers of a group on few chunks: the search solves so few to optimality, or nearly, at its root."""
_SMALLER = 4
"""The same on many chunks."""


@dataclass(frozen=True, eq=False)
class Region:
    """Where better placements are likely, and what a dual knows there.

    Attributes
    ----------
    fix : int8 array (M, n)
        Pairs that are OUTSIDE are left out of consideration, unless the incumbent has them.
    multipliers, prices : int64 arrays (n,) and (M,)
        Of the coverage dual, in grid units.
    """

    fix: NDArray[np.int8]
    multipliers: Ints
    prices: Ints


@dataclass(frozen=True, eq=False)
class Group:
    """The instance of a group of workers.

    Attributes
    ----------
    instance : Instance
        Requester-side; what the other workers hold is covered.
    start : bool array (workers of the group, chunks)
        Their present sets.
    multipliers, prices : float arrays (chunks,), (workers of the group,), or None
        Where a coverage dual may begin, in ms.
    """

    instance: Instance
    start: Mask
    multipliers: NDArray[np.float64] | None
    prices: NDArray[np.float64] | None


class GroupExchange:
    """Large-neighbourhood search over groups of workers (requester-side).

    With the other workers' sets fixed, a group faces an instance of its own, in which what others hold is covered. Its
    present sets are a placement of it, so that an answer is never worse. A placement that no group of p workers can
    improve is worth at least (M − 1)/(2M − 1 − p) of the optimum (Filmus and Ward 2012).

    Parameters
    ----------
    primal : Primal
        Offers the incumbent and takes what is better.
    solve : callable
        ``(group)`` → a placement mask of its instance that is at least as good as its start.
    seed : int
    """

    def __init__(self, primal: Primal, solve: Callable[[Group], Mask], seed: int = 0) -> None:
        self.primal, self.solve = primal, solve
        self._rng = np.random.default_rng(seed)

    def useful(self, region: Region | None = None) -> bool:
        """Whether a group is a smaller problem than the whole: fewer workers, or in `region` fewer chunks."""
        problem = self.primal.problem
        return problem.local is not None and problem.workers.size > (_SIZE if region is None else 1)

    def improve(self, region: Region | None = None) -> bool:
        """Answer one random group, of all chunks or of those in `region`; whether that improved the incumbent."""
        primal, workers = self.primal, self.primal.problem.workers
        size = self._size(region)
        rows = np.sort(self._rng.choice(workers.size, size, replace=False))
        members, before = workers[rows], primal.value
        others = primal.mask.copy()
        others[members] = False
        group, chunks = self._group(members, rows, others, region)
        mask = others
        mask[np.ix_(members, chunks)] = self.solve(group)
        primal.offer(mask)
        return primal.value > before

    def exhaust(self, worth_it: Callable[[], bool], region: Region | None = None) -> None:
        """Answer groups until several in a row improve nothing that name every worker about three times (in a region:
        six times)."""
        patience = (3 if region is None else 6) * -(-self.primal.problem.workers.size // self._size(region))
        idle = 0
        while idle < patience and worth_it():
            idle = 0 if self.improve(region) else idle + 1

    def _size(self, region: Region | None) -> int:
        """Workers of a group; never all of them, unless they are two, or the next group would be the same."""
        workers = self.primal.problem.workers.size
        return min(_SIZE if region is None else _SMALLER, max(workers - 1, 2))

    def _group(self, members: Ints, rows: Ints, others: Mask, region: Region | None) -> tuple[Group, Ints]:
        """The group of `members`, which are `rows` of the problem, and the chunks of its instance."""
        instance, start = self.primal.problem.instance, self.primal.mask[members]
        tree, chunks = instance.tree, np.arange(instance.num_chunks)
        multipliers = prices = None
        free = ~others.any(axis=0)
        if region is not None:
            live = (region.fix[rows] != OUTSIDE).any(axis=0) | start.any(axis=0)  # closed, as its parts are
            chunks = np.flatnonzero(live)
            place = np.cumsum(live) - 1
            parent = tree.parent[chunks]
            tree = PrefixTree.from_parents(np.where(parent >= 0, place[parent], -1))
            chunks = chunks[tree.origin]
            grid = self.primal.problem.grid
            multipliers = grid.to_ms(1) * np.where(free, region.multipliers, 0)[chunks].astype(np.float64)
            prices = grid.to_ms(1) * region.prices[rows].astype(np.float64)
        part = Instance.from_values(
            tree,
            local=instance.local_value[np.ix_(members, chunks)],
            coverage=np.where(free, instance.coverage_value, 0.0)[chunks],
            budgets=instance.budgets[members],
        )
        return Group(part, start[:, chunks], multipliers, prices), chunks
