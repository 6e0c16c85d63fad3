"""The dynamic program of Theorem 1 as the paper writes it: what every faster oracle is tested against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["reference_closed_set", "reference_table"]


def reference_table(end: NDArray[np.int64], profit: NDArray[Any], budget: int) -> NDArray[Any]:
    """Table D of shape (n + 1, budget + 1): the best value of a closed set within the nodes ``i : n``.

    ``D[n, ·] = 0``, ``D[·, 0] = 0`` and ``D[i, j] = max(D[end[i], j], profit[i] + D[i+1, j−1])``: either the
    whole subtree of ``i`` is skipped, or ``i`` is taken and the walk goes on with its first child. One NumPy
    operation per row; the dtype of `profit` is kept. O(n·budget) time and memory.
    """
    n = profit.size
    table = np.zeros((n + 1, budget + 1), profit.dtype)
    for i in range(n - 1, -1, -1):
        np.maximum(table[end[i], 1:], profit[i] + table[i + 1, :-1], out=table[i, 1:])
    return table


def reference_closed_set(
    end: NDArray[np.int64], profit: NDArray[Any], budget: int
) -> tuple[Any, NDArray[np.bool_]]:
    """Value and mask of a most profitable closed set of at most `budget` nodes, by Theorem 1.

    Parameters
    ----------
    end : int64 array, shape (n,)
        Subtree ends of a forest in preorder (:attr:`PrefixTree.end`).
    profit : int64 or float64 array, shape (n,)
        Profit of each node, of any sign.
    budget : int
        Largest size of the set, ≥ 0.

    Returns
    -------
    value : scalar of the dtype of `profit`
        ``D[0, budget]``.
    mask : bool array, shape (n,)
        A closed set of that value; a tie between skipping and taking a node skips it.
    """
    n = profit.size
    table = reference_table(end, profit, budget)
    mask = np.zeros(n, np.bool_)
    i, j = 0, budget
    while i < n and j > 0:
        if table[i, j] > table[end[i], j]:
            mask[i] = True
            i, j = i + 1, j - 1
        else:
            i = int(end[i])
    return table[0, budget], mask
