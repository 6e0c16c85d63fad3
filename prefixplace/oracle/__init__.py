"""The exact one-worker oracle: the most profitable parent-closed set within a budget."""

from prefixplace.oracle.door import best_closed_set
from prefixplace.oracle.result import PROOFS, ClosedSet

__all__ = ["PROOFS", "ClosedSet", "best_closed_set"]
