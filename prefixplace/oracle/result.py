"""What the oracle answers: a closed set with its proof, or a bound with its losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PROOFS", "ClosedSet", "LagrangianBound"]

PROOFS = ("multiplier", "core", "branch", "dense")


@dataclass(frozen=True, eq=False)
class ClosedSet:
    """A most profitable parent-closed set within a budget.

    Attributes
    ----------
    value : int or float
        Total profit, recomputed from the set; an exact int for integer profits.
    mask : bool array, shape (n,)
        The set, in preorder. Several sets may be best; which one is found depends on the input alone.
    proof : str
        What showed that no feasible set is worth more: its gap to the Lagrangian bound closed at the *multiplier*,
        after a *core*, after a *branch*, or it came out of the *dense* dynamic program.
    multiplier : float or None
        Price per chunk at which the Lagrangian bound was closed, a good `warm` for similar profits; None when the
        dense program ran at once.
    rounding : float
        The optimum over the given profits is at most ``value + rounding``. 0 for integers and for floats that
        fit the integer grid of the arithmetic; otherwise the most that rounding to the grid can cost.
    """

    value: int | float
    mask: NDArray[np.bool_]
    proof: str
    multiplier: float | None = None
    rounding: float = 0.0

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """Preorder positions in the set, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def size(self) -> int:
        """Number of nodes in the set."""
        return int(np.count_nonzero(self.mask))


@dataclass(frozen=True, eq=False)
class LagrangianBound:
    """An upper bound on every closed set within the budget, and what each node's own decision costs against it.

    Any closed set of at most `budget` nodes that holds v is worth at most ``bound − loss_in[v]``, any that does
    not at most ``bound − loss_out[v]``.

    Attributes
    ----------
    bound : int or float
        Integer, exact and rounded down to what integers can reach for integer profits; else a float that
        includes what rounding to the grid may hide.
    multiplier : float
        Price λ per chunk: the smallest on the grid whose closure S(λ) fits the budget.
    loss_in, loss_out : int64 or float64 arrays, shape (n,)
        Cost ≥ 0 of forcing each node in or out, rounded down. A node with too many ancestors for the budget has
        a `loss_in` of at least 2⁵⁹ grid steps, more than any set is worth.
    mask : bool array, shape (n,)
        S(λ): a closed set within the budget, the nodes with a positive loss out.
    value : int or float
        Profit of S(λ), a lower bound.
    """

    bound: int | float
    multiplier: float
    loss_in: NDArray[Any]
    loss_out: NDArray[Any]
    mask: NDArray[np.bool_]
    value: int | float
