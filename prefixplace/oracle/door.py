"""The public door of the oracle, and the checks on what comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.oracle.result import ClosedSet
from prefixplace.tree import PrefixTree

__all__ = ["best_closed_set", "checked_budget", "checked_profit", "reject_large", "reject_not_finite"]

LARGEST = 2**63 - 1


def best_closed_set(
    tree: PrefixTree, profit: ArrayLike, budget: int, *, warm: float | None = None
) -> ClosedSet:
    """A parent-closed set of at most `budget` nodes with the largest total profit (Theorem 1).

    Chooses by itself between the blocked dynamic program, O(n·budget), and the nearly linear method; the value is
    the same. For many calls on one tree use :class:`ClosedSetOracle`, which this shares with the tree.

    Parameters
    ----------
    tree : PrefixTree
        The forest.
    profit : array-like, shape (n,)
        Profit of each node in preorder, of any sign. Integers are answered exactly; floats on a grid of 59 binary
        places, see `rounding` of the answer.
    budget : int
        Largest number of nodes, ≥ 0; it may exceed n.
    warm : float, optional
        A guess of the multiplier, such as that of an earlier answer. Changes the time only.

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
    from prefixplace.oracle.service import shared_oracle

    return shared_oracle(tree).solve(profit, budget, warm=warm)


def checked_profit(n: int, profit: ArrayLike) -> NDArray[Any]:
    """`profit` as a contiguous int64 or float64 array of shape (n,); values are checked by the grid kernels."""
    p = np.asarray(profit)
    if p.shape != (n,):
        raise InputError(f"profit has shape {p.shape}, the tree has {n} nodes")
    kind = p.dtype.kind
    if kind == "f" or (n == 0 and kind not in "iub"):
        return np.ascontiguousarray(p, np.float64)
    if kind not in "iub":
        raise InputError(f"profits must be numbers, not of dtype {p.dtype}")
    if kind == "u" and n and int(p.max()) > LARGEST:
        raise InputError(f"profit of node {int(p.argmax())} is {int(p.max())}, above 2^63 - 1")
    return np.ascontiguousarray(p, np.int64)


def checked_budget(budget: Any) -> int:
    """`budget` as an int ≥ 0; :class:`InputError` for anything else (2.5, True, "3", -1)."""
    if isinstance(budget, bool | np.bool_) or not isinstance(budget, int | np.integer):
        raise InputError(f"budget must be a whole number of chunks, not {budget!r}")
    if budget < 0:
        raise InputError(f"budget is {budget}; it must be ≥ 0")
    return int(budget)


def reject_not_finite(profit: NDArray[np.float64]) -> None:
    """Say which profit is NaN or infinite, or that their sum is."""
    bad = np.flatnonzero(~np.isfinite(profit))
    if bad.size:
        raise InputError(f"profit of node {bad[0]} is {profit[bad[0]]}; profits must be finite")
    raise InputError("the absolute values of the profits sum to infinity; scale them down")


def reject_large(profit: NDArray[np.int64]) -> None:
    """:class:`InputError` if the absolute values of integer profits really sum to more than int64 holds."""
    if sum(map(abs, profit.tolist())) > LARGEST:
        raise InputError("the absolute values of the integer profits sum to more than 2^63 - 1; use floats")
