"""Numba loops over preorder parent arrays, for :mod:`prefixplace.demand`."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["add_to_ancestors", "nearest_marked"]


@njit(cache=True, nogil=True)
def add_to_ancestors(parent, values):  # type: ignore[no-untyped-def]
    """Add every value of `values` (M, n), in place, to all ancestors of its node. O(M·n).

    Children come after their parents, so one backward pass is enough; sums of non-negative numbers stay
    non-increasing along every path, which differences of prefix sums would not guarantee in floating point.
    """
    for m in range(values.shape[0]):
        for i in range(parent.size - 1, -1, -1):
            if parent[i] >= 0:
                values[m, parent[i]] += values[m, i]


@njit(cache=True, nogil=True)
def nearest_marked(parent, marked):  # type: ignore[no-untyped-def]
    """The deepest node with ``marked`` on the path of each node, itself included; -1 without one. O(n)."""
    nearest = np.empty(parent.size, np.int64)
    for i in range(parent.size):
        if marked[i]:
            nearest[i] = i
        else:
            nearest[i] = nearest[parent[i]] if parent[i] >= 0 else -1
    return nearest
