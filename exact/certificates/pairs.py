"""What is fixed of single workers and chunks, for branches whose states are too many to write down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pairs", "nothing_fixed"]

Mask = NDArray[np.bool_]
Integers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Chunks that worker m holds (`inside`), those it does not (`outside`), both (M, n), and those that anybody holds.

    What is inside or held takes its ancestors along, what is outside its subtree.
    """

    inside: Mask
    outside: Mask
    held: Mask

    @property
    def barred(self) -> Mask:
        """Chunks that nobody may hold, shape (n,)."""
        barred: Mask = np.logical_and.reduce(self.outside, axis=0)
        return barred

    def fixed(self, worker: int) -> tuple[set[int], set[int]]:
        """Chunks inside and outside for one worker."""
        return set(np.flatnonzero(self.inside[worker]).tolist()), set(
            np.flatnonzero(self.outside[worker]).tolist()
        )

    def closed(self, parent: Sequence[int]) -> Pairs | None:
        """With ancestors and subtrees taken along; None on a contradiction."""
        inside, outside, held = self.inside.copy(), self.outside.copy(), self.held | self.inside.any(axis=0)
        for b in range(len(parent) - 1, -1, -1):
            if parent[b] >= 0:
                inside[:, parent[b]] |= inside[:, b]
                held[parent[b]] |= held[b]
        for b, p in enumerate(parent):
            if p >= 0:
                outside[:, b] |= outside[:, p]
        result = Pairs(inside, outside, held)
        contradiction = (inside & outside).any() or (held & result.barred).any()
        return None if contradiction else result

    def kept_by(self, worker: int, chunk: int) -> Pairs:
        """The part in which a worker holds a chunk; not yet closed."""
        inside = self.inside.copy()
        inside[worker, chunk] = True
        return Pairs(inside, self.outside, self.held)

    def kept(self, chunk: int) -> Pairs:
        """The part in which somebody holds a chunk; not yet closed."""
        held = self.held.copy()
        held[chunk] = True
        return Pairs(self.inside, self.outside, held)

    def without(self, workers: Sequence[int], chunk: int) -> Pairs:
        """The part in which none of `workers` holds a chunk; not yet closed."""
        outside = self.outside.copy()
        outside[list(workers), chunk] = True
        return Pairs(self.inside, outside, self.held)

    def tightened(
        self,
        entry: Integers,
        leave: Integers,
        multipliers: Integers,
        spread: Integers,
        room: int,
    ) -> Pairs | None:
        """With all that follows when no chunk may lose `room` or more; None when nothing is left. Not yet closed.

        At one chunk a set of holders loses `entry` (M, n) of its members and `leave` of the others, and beside that
        `spread` when it is empty and μ for each member beyond the first. The least loss over all sets with a given
        member, or without it, is found worker by worker.
        """
        taken = np.minimum(entry, room) + multipliers
        left = np.minimum(leave, room)
        free = np.minimum(taken, left)
        with_member = free.sum(axis=0) - free + taken - multipliers
        empty = np.where(self.held, room, left.sum(axis=0) + spread)
        # of sets without m that are not empty: the best with another member, m's own choice taken back
        order = np.sort(with_member, axis=0)
        second = order[1] if order.shape[0] > 1 else np.full(order.shape[1], room)
        others = np.where(with_member == order[0], second, order[0])
        several = (with_member == order[0]).sum(axis=0) > 1
        others = np.where(several, order[0], others)
        without = np.minimum(others + left - free, empty)
        if (np.minimum(order[0], empty) >= room).any():
            return None
        barred = with_member >= room
        return Pairs(
            self.inside | ((without >= room) & ~barred), self.outside | barred, self.held | (empty >= room)
        )


def nothing_fixed(budgets: Sequence[int], n: int) -> Pairs:
    """Everything open, but workers without a budget hold nothing."""
    workers = len(budgets)
    outside = np.repeat(np.array([[k == 0] for k in budgets], np.bool_).reshape(workers, 1), n, axis=1)
    return Pairs(np.zeros((workers, n), np.bool_), outside, np.zeros(n, np.bool_))
