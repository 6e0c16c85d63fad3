"""Lists of states of every chunk, and the best assignment of them along a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEVER", "States", "fits", "forest_bound", "forest_through"]

Integers = NDArray[Any]

NEVER = -(1 << 61)
"""Worth of what cannot be; true sums stay far above it."""


def fits(child: Integers, parent: Integers) -> NDArray[np.bool_]:
    """Which states of a child (columns) lie within which states of its parent (rows)."""
    result: NDArray[np.bool_] = (child[None, :] & ~parent[:, None]) == 0
    return result


@dataclass(frozen=True, eq=False)
class States:
    """Per chunk in preorder: the sets of workers that may hold it (bit masks), and its value for each.

    A plan gives every chunk one of its states, a child's within its parent's.
    """

    masks: list[Integers]
    values: list[Integers]

    def reduced(self, parent: Sequence[int], keep: list[NDArray[np.bool_]]) -> States | None:
        """Without the states where `keep` is false, and those that then fit no state of the parent or leave a child
        without one. None when a chunk has no state left."""
        keep = [k.copy() for k in keep]
        for b in range(len(parent) - 1, -1, -1):
            if parent[b] >= 0:
                p = parent[b]
                keep[p] &= (fits(self.masks[b], self.masks[p]) & keep[b]).any(axis=1)
        for b, p in enumerate(parent):
            if p >= 0:
                keep[b] &= (fits(self.masks[b], self.masks[p]) & keep[p][:, None]).any(axis=0)
        if not all(k.any() for k in keep):
            return None
        return States(
            [m[k] for m, k in zip(self.masks, keep, strict=True)],
            [v[k] for v, k in zip(self.values, keep, strict=True)],
        )

    def fixed(self, worker: int) -> tuple[set[int], set[int]]:
        """Chunks that a worker holds in every state, and in none."""
        inside, outside = set(), set()
        for b, masks in enumerate(self.masks):
            held = masks >> worker & 1
            if held.all():
                inside.add(b)
            elif not held.any():
                outside.add(b)
        return inside, outside


def forest_bound(
    parent: Sequence[int], states: States, paid: list[Integers]
) -> tuple[int, list[Integers], list[Integers]]:
    """The best assignment when every state also pays: its worth, and two tables.

    ``inside[b]``: best of the subtree of b for each state of b. ``reach[b]``: best over the states of b that fit, for
    each state of the parent (one entry for a root).
    """
    n = len(parent)
    inside: list[Integers] = [v - p for v, p in zip(states.values, paid, strict=True)]
    reach: list[Integers] = [np.zeros(0, np.int64)] * n
    total = 0
    for b in range(n - 1, -1, -1):
        p = parent[b]
        if p < 0:
            reach[b] = inside[b].max(keepdims=True)
            total += int(reach[b][0])
        else:
            reach[b] = np.where(fits(states.masks[b], states.masks[p]), inside[b], NEVER).max(axis=1)
            inside[p] = np.maximum(inside[p] + reach[b], NEVER)
    return total, inside, reach


def forest_through(
    parent: Sequence[int], states: States, total: int, inside: list[Integers], reach: list[Integers]
) -> list[Integers]:
    """For each state of each chunk: the best total of an assignment with it, `total` being the best of all."""
    through: list[Integers] = []
    for b, p in enumerate(parent):
        if p < 0:
            outside = np.full(inside[b].size, total - int(reach[b][0]), dtype=inside[b].dtype)
        else:
            others = through[p] - reach[b]
            outside = np.where(fits(states.masks[b], states.masks[p]), others[:, None], NEVER).max(axis=0)
        through.append(np.maximum(outside + inside[b], NEVER))
    return through
