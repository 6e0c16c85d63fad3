"""Where instances come from: families, constructions with known optima, traces, searches, a library of known values.

Everything named here is imported on first use, so that ``import instances`` is light.

>>> import instances
>>> instances.build("rag-shaped", {"workers": "4"}).sample(seed=3).num_workers
4
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instances.fleet import Fleet as Fleet
    from instances.importers import import_instance as import_instance
    from instances.known import known_values as known_values
    from instances.library import Library as Library
    from instances.registry import FAMILIES as FAMILIES
    from instances.registry import build as build
    from instances.registry import parameters as parameters
    from instances.registry import summary as summary
    from instances.settings import exact_block_1 as exact_block_1
    from instances.settings import exact_block_2 as exact_block_2
    from instances.settings import lp_checkpoints as lp_checkpoints
    from instances.settings import source_dependent as source_dependent
    from instances.statistics import instance_statistics as instance_statistics
    from instances.traces import trace_instance as trace_instance
    from prefixplace.instance import Instance

_HOME = {
    "FAMILIES": "instances.registry",
    "Fleet": "instances.fleet",
    "Library": "instances.library",
    "build": "instances.registry",
    "exact_block_1": "instances.settings",
    "exact_block_2": "instances.settings",
    "import_instance": "instances.importers",
    "instance_statistics": "instances.statistics",
    "known_values": "instances.known",
    "lp_checkpoints": "instances.settings",
    "parameters": "instances.registry",
    "source_dependent": "instances.settings",
    "summary": "instances.registry",
    "trace_instance": "instances.traces",
}

__all__ = [*sorted(_HOME), "default"]


def default() -> Instance:
    """The instance that ``prefixplace compare`` shows when it is given no file.

    A T4, an L4 and an A100 serve Qwen2.5-7B with retrieval over 24 documents of 2 to 9 chunks, half of the requests
    of a document staying at its home worker (212 chunks, budgets of 21). It is small enough to be solved exactly in
    seconds, and the methods differ on it: measured against the optimum, Independent reaches 87 %, greedy 91 %,
    refinement 95 %, all orders 99 %.
    """
    from instances.families.rag import RagShaped

    return RagShaped(documents=24, document_chunks=(2, 9), queries=3, sharing=0.5).sample(seed=0)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
