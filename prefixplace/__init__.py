"""Coordinated placement of prefix KV caches for LLM serving: the problem, its oracle and the paper's planner.

The companion packages are :mod:`exact` (optimal solvers, bounds, certificates) and :mod:`instances` (families,
traces, hard instances). Everything named here is imported on first use, so that ``import prefixplace`` is light.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixplace._replan import replan as replan
    from prefixplace._replay import Replay as Replay
    from prefixplace._replay import replay as replay
    from prefixplace.errors import InputError as InputError
    from prefixplace.files import read_instance as read_instance
    from prefixplace.files import read_plan as read_plan
    from prefixplace.files import write_instance as write_instance
    from prefixplace.files import write_plan as write_plan
    from prefixplace.instance import Instance as Instance
    from prefixplace.lab.compare import Comparison as Comparison
    from prefixplace.lab.compare import compare as compare
    from prefixplace.oracle import ClosedSet as ClosedSet
    from prefixplace.oracle import best_closed_set as best_closed_set
    from prefixplace.placement import Placement as Placement
    from prefixplace.planner import METHODS as METHODS
    from prefixplace.planner import solve as solve
    from prefixplace.result import Result as Result
    from prefixplace.stopping import Budget as Budget
    from prefixplace.stopping import Progress as Progress
    from prefixplace.transfer import TransferModel as TransferModel
    from prefixplace.tree import PrefixTree as PrefixTree

__version__ = version("prefixplace")

_HOME = {
    "Budget": "prefixplace.stopping",
    "ClosedSet": "prefixplace.oracle",
    "Comparison": "prefixplace.lab.compare",
    "InputError": "prefixplace.errors",
    "Instance": "prefixplace.instance",
    "METHODS": "prefixplace.planner",
    "Placement": "prefixplace.placement",
    "PrefixTree": "prefixplace.tree",
    "Progress": "prefixplace.stopping",
    "Replay": "prefixplace._replay",
    "Result": "prefixplace.result",
    "TransferModel": "prefixplace.transfer",
    "best_closed_set": "prefixplace.oracle",
    "compare": "prefixplace.lab.compare",
    "read_instance": "prefixplace.files",
    "read_plan": "prefixplace.files",
    "replan": "prefixplace._replan",
    "replay": "prefixplace._replay",
    "solve": "prefixplace.planner",
    "write_instance": "prefixplace.files",
    "write_plan": "prefixplace.files",
}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
