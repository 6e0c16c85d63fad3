"""What the oracle answers: a closed set with its proof, or a bound with its losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["PROOFS", "ClosedSet"]

PROOFS = ("multiplier", "core", "branch", "dense")


@dataclass(frozen=True, eq=False)
class ClosedSet:
    """A most profitable parent-closed set within a budget.

    Attributes
    ----------
    value : int or float
        Total profit, recomputed from the set; an exact int for integer profits.
    mask : bool array, shape (n,)
        The set, in preorder.
    proof : str
        What showed that no feasible set is worth more, one of :data:`PROOFS`.
    rounding : float
        The optimum over the given profits is at most ``value + rounding``. 0 for integers and for floats that
        fit the integer grid of the arithmetic; otherwise the most that rounding to the grid can cost.
    """

    value: int | float
    mask: NDArray[np.bool_]
    proof: str
    rounding: float = 0.0

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """Preorder positions in the set, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def size(self) -> int:
        """Number of nodes in the set."""
        return int(np.count_nonzero(self.mask))
