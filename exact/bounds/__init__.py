"""Upper bounds on the optimum, each with multipliers from which anyone can re-evaluate it."""

from exact.bounds.budgets import BudgetDualParams
from exact.bounds.compact import CompactParams
from exact.bounds.configuration import ConfigurationParams
from exact.bounds.coverage import CoverageDualParams
from exact.bounds.methods import BOUNDS, BoundMethod, bound
from exact.bounds.result import Bound, BoundPoint, Column

__all__ = [
    "BOUNDS",
    "Bound",
    "BoundMethod",
    "BoundPoint",
    "BudgetDualParams",
    "Column",
    "CompactParams",
    "ConfigurationParams",
    "CoverageDualParams",
    "bound",
]
