"""Holder states: for every chunk the sets of workers that may still hold it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAR", "FREE", "INSIDE", "LARGEST", "NEVER", "OUTSIDE", "StateSpace", "all_states"]

Ints = NDArray[np.int64]

FREE, INSIDE, OUTSIDE = 0, 1, 2
"""What is known of a (worker, chunk) pair."""

NEVER = -(1 << 60)
"""Value of what cannot be. Sums of feasible values stay above half of it."""

LARGEST = 1 << 58
"""What multipliers may offer in all. Values add up to less, so that a sum with payments that falls below half of
:data:`NEVER` belongs to no placement: with at most this on top it is worth less than nothing."""

FAR = 1 << 61
"""Stands for the value of a dual where int64 could not hold its sums: above every value, hence a bound."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Chunks that are still undecided, and the sets of workers that may hold each of them.

    Attributes
    ----------
    chunks : int64 array, shape (c,)
        Preorder positions in the tree of the instance.
    parent : int64 array, shape (c,)
        Numbers within `chunks`; -1 when the parent is decided or there is none.
    offset : int64 array, shape (c + 1,)
        The states of chunk i are ``offset[i] : offset[i + 1]``.
    holders, value : int64 arrays, shape (states,)
        A state as a bit mask of workers, and its term of the objective in grid units.
    base : int64 array, shape (c + 1,)
        Offsets of tables with one entry per state of the parent.
    decided : int64 array, shape (n,)
        Holders of every chunk that is decided, -1 for the others.
    worth : int
        Value of the decided chunks.
    slack : int64 array, shape (M,)
        Budgets less what the decided chunks use.
    """

    chunks: Ints
    parent: Ints
    offset: Ints
    holders: Ints
    value: Ints
    base: Ints
    decided: Ints
    worth: int
    slack: Ints

    @property
    def size(self) -> int:
        """Number of undecided chunks."""
        return int(self.chunks.size)

    @property
    def states(self) -> int:
        """Number of states of undecided chunks."""
        return int(self.holders.size)

    @property
    def work(self) -> int:
        """Pairs of states of parent and child: what one pass over the space costs."""
        count = np.diff(self.offset)
        return int((count * np.where(self.parent >= 0, count[self.parent], 1)).sum()) if self.size else 0

    @property
    def workers(self) -> int:
        """Number of workers that can hold something."""
        return int(self.slack.size)

    def reduced(self, keep: NDArray[np.bool_]) -> StateSpace | None:
        """The space without the states where `keep` is false, and those that then fit no parent or leave out a child.

        None when a chunk has no state left, or the decided chunks use more than a budget.
        """
        from prefixplace.joint._states import agree, contract, table_offsets

        if self.size and np.diff(self.offset).min() == 0:
            return None
        keep = keep.copy()
        agree(self.parent, self.offset, self.holders, keep)
        alive = np.logical_or.reduceat(keep, self.offset[:-1]) if self.size else np.zeros(0, np.bool_)
        if self.size and not alive.all():
            return None
        chunks, parent, offset, holders, value, only = contract(
            self.parent, self.offset, self.holders, self.value, keep
        )
        now = only >= 0
        taken = self.holders[only[now]]
        decided = self.decided.copy()
        decided[self.chunks[now]] = taken
        slack = self.slack - ((taken[:, None] >> np.arange(self.workers)) & 1).sum(axis=0)
        if (slack < 0).any():
            return None
        return StateSpace(
            chunks=self.chunks[chunks],
            parent=parent,
            offset=offset,
            holders=holders,
            value=value,
            base=table_offsets(parent, offset),
            decided=decided,
            worth=self.worth + int(self.value[only[now]].sum()),
            slack=slack,
        )

    def pairs(self) -> NDArray[np.int8]:
        """What is fixed for every worker and chunk of the instance: FREE, INSIDE or OUTSIDE, shape (M, n)."""
        fix = np.empty((self.workers, self.decided.size), np.int8)
        for m in range(self.workers):
            fix[m] = np.where((self.decided >> m) & 1, INSIDE, OUTSIDE)
            if self.size:
                held = (self.holders >> m) & 1
                least = np.minimum.reduceat(held, self.offset[:-1])
                most = np.maximum.reduceat(held, self.offset[:-1])
                fix[m, self.chunks] = np.where(least == most, np.where(least == 1, INSIDE, OUTSIDE), FREE)
        return fix

    def held(self) -> NDArray[np.bool_]:
        """Chunks of the instance that have a holder in every state, shape (n,)."""
        held = self.decided > 0
        if self.size:
            held[self.chunks] = np.minimum.reduceat(self.holders, self.offset[:-1]) > 0
        return held

    def rearranged(self, order: Ints) -> StateSpace:
        """The same space with its chunks in another preorder."""
        from prefixplace.joint._states import table_offsets

        number = np.empty(self.size, np.int64)
        number[order] = np.arange(self.size)
        above = self.parent[order]
        parent = np.where(above >= 0, number[above], -1) if self.size else above
        counts = np.diff(self.offset)[order]
        offset = np.concatenate(([0], np.cumsum(counts)))
        source = np.repeat(self.offset[order] - offset[:-1], counts) + np.arange(offset[-1])
        return replace(
            self,
            chunks=self.chunks[order],
            parent=parent,
            offset=offset,
            holders=self.holders[source],
            value=self.value[source],
            base=table_offsets(parent, offset),
        )


def all_states(parent: Ints, table: Ints, budgets: Ints) -> StateSpace:
    """The space in which nothing is decided.

    Parameters
    ----------
    parent : int64 array, shape (n,)
        In preorder.
    table : int64 array, shape (n, 2^M)
        Term of every chunk for every set of holders, bit i for worker i.
    budgets : int64 array, shape (M,)
    """
    from prefixplace.joint._states import table_offsets

    n, full = table.shape
    parent = np.array(parent)
    offset = np.arange(n + 1) * full
    return StateSpace(
        chunks=np.arange(n),
        parent=parent,
        offset=offset,
        holders=np.tile(np.arange(full), n),
        value=table.ravel(),
        base=table_offsets(parent, offset),
        decided=np.full(n, -1),
        worth=0,
        slack=budgets,
    )
