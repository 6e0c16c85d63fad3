"""Numba kernels behind :class:`prefixplace.tree.PrefixTree`: loops over parent arrays, no recursion."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["preorder", "subtree_arrays"]


@njit(cache=True, nogil=True)
def preorder(parent):  # type: ignore[no-untyped-def]
    """Depth-first order of a forest, children in ascending node number.

    Returns ``(order, count)``; only ``order[:count]`` is filled, and ``count < n`` means that the other nodes
    hang on a cycle. O(n) time and memory.
    """
    n = parent.size
    first = np.full(n + 1, -1, np.int64)  # first[p] heads the child list of p; slot n is the dummy root
    following = np.full(n, -1, np.int64)
    for i in range(n - 1, -1, -1):
        p = parent[i] if parent[i] >= 0 else n
        following[i] = first[p]
        first[p] = i
    order = np.empty(n, np.int64)
    stack = np.empty(n + 1, np.int64)
    top = 0
    if first[n] >= 0:
        stack[0] = first[n]
        top = 1
    count = 0
    while top > 0:
        top -= 1
        i = stack[top]
        order[count] = i
        count += 1
        if following[i] >= 0:
            stack[top] = following[i]
            top += 1
        if first[i] >= 0:
            stack[top] = first[i]
            top += 1
    return order, count


@njit(cache=True, nogil=True)
def subtree_arrays(parent):  # type: ignore[no-untyped-def]
    """``(end, depth)`` of a forest whose nodes are already in preorder. O(n)."""
    n = parent.size
    end = np.arange(1, n + 1)
    depth = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        p = parent[i]
        if p >= 0 and end[i] > end[p]:
            end[p] = end[i]
    for i in range(n):
        if parent[i] >= 0:
            depth[i] = depth[parent[i]] + 1
    return end, depth
