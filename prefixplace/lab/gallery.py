"""A picture of every family: small icicles side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["family_gallery"]

_COLUMNS = 5
_SMALL: Mapping[str, Mapping[str, str]] = {
    "rag-shaped": {"documents": "8", "queries": "4"},
    "mismatched-rag": {"documents": "8", "total_chunks": "40", "mismatch": "1"},
    "multi-turn": {"sessions": "20"},
    "uniform-recursive": {"chunks": "80"},
    "caterpillar": {"spine": "14", "legs": "2"},
    "star": {"chunks": "30"},
    "deep-chain": {"length": "30"},
    "tenant-prompts": {"tenants": "6", "prompts": "4"},
    "agent-traces": {"sessions": "6", "session_chunks": "8,20"},
    "wiki-qa-like": {"documents": "30", "questions": "36", "total_chunks": "120"},
    "trace-twin": {"arrivals": "60"},
    "bin-packing": {"items": "12", "capacity": "30", "sizes": "4,15"},
    "planted-optimum": {"chunks": "80"},
}
"""Settings that keep a panel readable; other families are drawn at their defaults."""


def family_gallery() -> Figure:
    """One panel a family, seed 0: depth goes down, a subtree is as wide as its leaves, dark chunks are worth more.

    The worth of a chunk is what keeping it everywhere would save, over all workers. Not attached to any window.
    """
    from matplotlib.figure import Figure

    from instances.registry import FAMILIES, build

    rows = -(-len(FAMILIES) // _COLUMNS)
    figure = Figure(figsize=(13, 1.9 * rows), dpi=110, layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for panel, name in zip(panels, FAMILIES, strict=False):
        instance = build(name, _SMALL.get(name, {})).sample(0)
        _draw(panel, instance)
        panel.set_title(f"{name}\nn = {instance.num_chunks}, M = {instance.num_workers}", fontsize=7)
    for panel in panels:
        panel.set_axis_off()
    return figure


def _draw(axes: Axes, instance: Instance) -> None:
    from matplotlib.collections import PolyCollection

    tree = instance.tree
    leaf = (tree.end - np.arange(tree.n) == 1).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(leaf)))
    left, right = before[:-1], before[tree.end]
    top, bottom = -tree.depth, -tree.depth - 1
    corners = np.stack(
        [np.stack(pair, axis=1) for pair in ((left, top), (right, top), (right, bottom), (left, bottom))],
        axis=1,
    )
    worth = _worth(instance)
    # the root of the share lets small worths be told from none
    shade = np.sqrt(worth / worth.max()) if worth.max() > 0 else worth
    axes.add_collection(
        PolyCollection(
            list(corners.astype(np.float64)),
            array=shade,
            cmap="Blues",
            clim=(-0.25, 1),
            edgecolors="#777",
            linewidths=0.2,
        )
    )
    axes.set_xlim(0, int(before[-1]))
    axes.set_ylim(int(bottom.min()), 0)


def _worth(instance: Instance) -> NDArray[np.float64]:
    """What keeping each chunk at every worker saves, shape (n,)."""
    if instance.pairwise:
        best = np.zeros((instance.num_workers, instance.num_chunks))
        every = np.arange(instance.num_chunks)
        for holder in range(instance.num_workers):
            best = np.maximum(best, instance.objective.saving(holder, every))  # type: ignore[union-attr]
        return best.sum(axis=0)
    worth: NDArray[np.float64] = instance.local_value.sum(axis=0) + instance.coverage_value
    return worth
