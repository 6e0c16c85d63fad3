"""The dense oracle: Theorem 1 in O(n·k), blocked, for any tree and any budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.tree import PrefixTree

__all__ = ["DenseOrder", "dense_closed_set", "dense_order"]


@dataclass(frozen=True, eq=False)
class DenseOrder:
    """A tree in heavy-child-last preorder and the row buffers of its dynamic program.

    Attributes
    ----------
    order : int64 array, shape (n,)
        Preorder position (of the tree) of the node at each internal position.
    end : int64 array, shape (n,)
        Subtree ends in the internal order.
    slot : int32 array, shape (n + 1,)
        Buffer of each row of the table.
    count : int
        Number of buffers: the most rows that are ever alive, at most ⌊log₂ n⌋ + 3.
    parent : int32 array, shape (n,)
        Internal position of the parent, -1 for a child of the dummy root.
    """

    order: NDArray[np.int64]
    end: NDArray[np.int64]
    slot: NDArray[np.int32]
    count: int
    parent: NDArray[np.int32]


def dense_order(tree: PrefixTree) -> DenseOrder:
    """The :class:`DenseOrder` of a tree; computed in O(n) once and kept with the tree."""
    kept: DenseOrder | None = tree._derived.get("dense_order")
    if kept is None:
        from prefixplace.oracle._dense import heavy_last, row_slots

        order, end = heavy_last(tree.end)
        kept = DenseOrder(order, end, *row_slots(end))
        tree._derived["dense_order"] = kept
    return kept


def dense_closed_set(tree: PrefixTree, profit: NDArray[Any], budget: int) -> NDArray[np.bool_]:
    """Mask of a best closed set of at most `budget` nodes by the dense program alone: the yardstick.

    `profit` is int64 (exact while Σ|p| < 2⁶³) or float64 and is not checked; a budget above n counts as n. O(n·k)
    time, several cells per nanosecond; 8·n·⌈k/B⌉ bytes for blocks of B columns and at most 64 MB.
    """
    from prefixplace.oracle._dense import dense_mask

    ready = dense_order(tree)
    mask: NDArray[np.bool_] = dense_mask(
        ready.order, ready.end, ready.slot, ready.count, ready.parent, profit, min(budget, tree.n)
    )
    return mask
