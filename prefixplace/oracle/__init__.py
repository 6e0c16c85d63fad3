"""The exact one-worker oracle: the most profitable parent-closed set within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prefixplace.oracle.door import best_closed_set
from prefixplace.oracle.parameters import OracleParameters
from prefixplace.oracle.result import PROOFS, ClosedSet, LagrangianBound

if TYPE_CHECKING:
    from prefixplace.oracle.service import ClosedSetOracle as ClosedSetOracle

__all__ = ["PROOFS", "ClosedSet", "ClosedSetOracle", "LagrangianBound", "OracleParameters", "best_closed_set"]


def __getattr__(name: str) -> Any:
    # the service needs Numba, which takes its time to import
    if name != "ClosedSetOracle":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from prefixplace.oracle.service import ClosedSetOracle

    return ClosedSetOracle
