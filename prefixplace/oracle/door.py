"""The public door of the oracle: checks what comes in, recomputes the value of what goes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.oracle.dense import dense_closed_set
from prefixplace.oracle.result import ClosedSet
from prefixplace.tree import PrefixTree

__all__ = ["best_closed_set", "checked_budget", "checked_profit"]

LARGEST = 2**63 - 1


def best_closed_set(tree: PrefixTree, profit: ArrayLike, budget: int) -> ClosedSet:
    """A parent-closed set of at most `budget` nodes with the largest total profit (Theorem 1).

    Parameters
    ----------
    tree : PrefixTree
        The forest.
    profit : array-like, shape (n,)
        Profit of each node in preorder, of any sign. Integers are answered exactly in int64.
    budget : int
        Largest number of nodes, ≥ 0; it may exceed n.

    Returns
    -------
    ClosedSet
        The set (possibly empty), its value recomputed from it, and the proof of optimality.

    Raises
    ------
    InputError
        For a wrong shape, NaN or infinite profits, integers whose absolute sum passes 2⁶³ − 1, or a budget
        that is not a whole number ≥ 0.

    Examples
    --------
    >>> tree = PrefixTree.from_parents([-1, 0, 1, -1])
    >>> best = best_closed_set(tree, [-1, 0, 5, 3], 3)
    >>> best.value, best.nodes.tolist()
    (4, [0, 1, 2])
    """
    p = checked_profit(tree, profit)
    mask, _ = dense_closed_set(tree, p, checked_budget(budget))
    total = p[mask].sum()
    if p.dtype.kind == "i":
        return ClosedSet(int(total), mask, "dense")
    return ClosedSet(
        float(total), mask, "dense", 4 * tree.n * float(np.finfo(float).eps) * float(np.abs(p).sum())
    )


def checked_profit(tree: PrefixTree, profit: ArrayLike) -> NDArray[Any]:
    """`profit` as an int64 or float64 array of shape (n,); :class:`InputError` when it cannot be one."""
    p = np.asarray(profit)
    if p.shape != (tree.n,):
        raise InputError(f"profit has shape {p.shape}, the tree has {tree.n} nodes")
    if p.dtype.kind in "iub":
        if p.dtype.kind == "u" and p.size and int(p.max()) > LARGEST:
            raise InputError(f"profit of node {int(p.argmax())} is {int(p.max())}, above 2^63 - 1")
        p = np.ascontiguousarray(p, np.int64)
        # float64 sums are enough far from the limit; near it Python's own integers decide
        if float(np.abs(p.astype(np.float64)).sum()) > 2.0**62 and sum(map(abs, p.tolist())) > LARGEST:
            raise InputError(
                "the absolute values of the integer profits sum to more than 2^63 - 1; use floats"
            )
        return p
    if p.size == 0:
        return np.zeros(0, np.float64)
    if p.dtype.kind != "f":
        raise InputError(f"profits must be numbers, not of dtype {p.dtype}")
    p = np.ascontiguousarray(p, np.float64)
    if not np.isfinite(p).all():
        bad = int(np.flatnonzero(~np.isfinite(p))[0])
        raise InputError(f"profit of node {bad} is {p[bad]}; profits must be finite")
    return p


def checked_budget(budget: Any) -> int:
    """`budget` as an int ≥ 0; :class:`InputError` for anything else (2.5, True, "3", -1)."""
    if isinstance(budget, bool | np.bool_) or not isinstance(budget, int | np.integer):
        raise InputError(f"budget must be a whole number of chunks, not {budget!r}")
    if budget < 0:
        raise InputError(f"budget is {budget}; it must be ≥ 0")
    return int(budget)
