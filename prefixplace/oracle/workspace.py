"""Scratch memory of the fast oracle, so that repeated calls allocate nothing that grows with the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixplace.tree import PrefixTree

__all__ = ["Shape", "Workspace", "tree_shape"]


class Shape:
    """A tree's arrays in 32 bits: half the memory traffic of the passes."""

    def __init__(self, tree: PrefixTree) -> None:
        self.n = tree.n
        self.end = tree.end.astype(np.int32)
        self.depth = tree.depth.astype(np.int32)
        self.parent = tree.parent.astype(np.int32)
        self.node = np.arange(tree.n, dtype=np.int32)


def tree_shape(tree: PrefixTree) -> Shape:
    """The :class:`Shape` of a tree, made once and kept with it."""
    shape: Shape | None = tree._derived.get("shape")
    if shape is None:
        shape = tree._derived["shape"] = Shape(tree)
    return shape


class Workspace:
    """Arrays for a tree of n nodes and one thread at a time; pages that are never touched take no memory.

    About 190 bytes a node if all are used (190 MB for a million nodes), and up to 256 MB of decision bits.
    """

    def __init__(self, n: int) -> None:
        def words() -> NDArray[np.int64]:
            return np.empty(n + 1, np.int64)

        def halves() -> NDArray[np.int32]:
            return np.empty(n + 1, np.int32)

        self.grid = np.empty(n, np.int64)  # profits of the call, on the integer grid
        self.demanded = np.zeros(n, np.uint8)  # what the branch demands of each node
        self.mask = np.empty(n, np.bool_)  # best set so far, over the whole tree
        # a pass, and a map of positions
        self.best, self.size, self.place = words(), halves(), halves()
        self.takes = np.empty(n + 1, np.uint8)
        # the support at the current branch, a set on it and the best one; the break set of the multiplier search
        self.end, self.profit, self.node = halves(), words(), halves()
        self.base, self.kept = np.empty(n + 1, np.uint8), np.empty(n + 1, np.uint8)
        self.rest_end, self.rest_profit, self.rest_node = halves(), words(), halves()
        # walks over the support, and its nodes outside no core
        self.stack_end, self.stack_loss, self.stack_block = halves(), words(), halves()
        self.losses, self.member, self.owner = words(), halves(), halves()
        # blocks of a core
        self.above, self.last, self.into, self.children, self.only = (halves() for _ in range(5))
        self.weight, self.worth, self.take, self.skip = (words() for _ in range(4))
        self.bits = np.empty(0, np.uint64)

    def decision_bits(self, wanted: int) -> NDArray[np.uint64]:
        """Room for 64 × `wanted` decisions, at most 2³¹ of them."""
        wanted = min(wanted, 1 << 25)
        if self.bits.size < wanted:
            self.bits = np.empty(wanted, np.uint64)
        return self.bits[:wanted]
