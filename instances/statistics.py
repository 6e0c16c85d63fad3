"""Figures of an instance that may say how hard it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import exact
import prefixplace as pp
from prefixplace.tree import PrefixTree

if TYPE_CHECKING:
    import pandas as pd

    from instances.library import Library

__all__ = ["chain_segments", "instance_statistics", "library_frame"]


def instance_statistics(
    instance: pp.Instance, *, bounds: bool = False, seconds: float = 30.0
) -> dict[str, Any]:
    """Shape, balance of local and coverage value, overlap, and on request the gaps of bounds.

    Parameters
    ----------
    instance : Instance
    bounds : bool
        Also compute both LP bounds, and how far the planner stays below them.
    seconds : float
        Limit for each of the two.

    Returns
    -------
    dict
        ``chunks`` n, ``workers`` M, ``budget`` Σ k_m / n, ``roots``, ``height``, ``leaves``, ``segments`` (maximal
        unary chains), ``pairwise``; ``overlap``: 1 − |union| / Σ sizes of the sets that the workers would choose alone.
        Requester-side only (else None): ``coverage_share``: C/(A + C) of the planner's placement, A its local and C its
        coverage value, and ``curvature``: κ = max Δ/(a + Δ), on which greedy's factor 1/(1 + κ) depends. With
        `bounds`: ``configuration_gap`` = (configuration LP − planner)/configuration LP, ``compact_gap`` = (compact LP −
        configuration LP)/compact LP; the LP bounds are upper ones where the time limit ended them.
    """
    tree = instance.tree
    planned = pp.solve(instance, "refined")
    assert planned.placement is not None and planned.value is not None  # the empty placement at least
    figures: dict[str, Any] = {
        "chunks": tree.n,
        "workers": instance.num_workers,
        "budget": float(instance.budgets.sum() / max(tree.n, 1)),
        "roots": int(tree.roots.size),
        "height": int(tree.depth.max(initial=-1)) + 1,
        "leaves": int((tree.end - np.arange(tree.n) == 1).sum()),
        "segments": chain_segments(tree),
        "pairwise": instance.pairwise,
        "overlap": _overlap(instance),
        "coverage_share": None,
        "curvature": None,
    }
    if not instance.pairwise:
        covered = float(instance.coverage_value[planned.placement.holders > 0].sum())
        figures["coverage_share"] = covered / planned.value if planned.value else 0.0
        figures["curvature"] = _curvature(instance)
    if bounds:
        limit = pp.Budget(seconds=seconds)
        best = max(
            planned, pp.solve(instance, "prefixplace", budget=limit), key=lambda result: result.value or 0.0
        )
        assert best.value is not None  # the empty placement at least
        configuration = exact.bound(instance, "configuration-lp", budget=limit, start=best.placement).bound
        compact = max(exact.bound(instance, "compact-lp", budget=limit).bound, configuration)
        figures["configuration_gap"] = max(0.0, pp.result.relative_gap(best.value, configuration))
        figures["compact_gap"] = pp.result.relative_gap(configuration, compact)
    return figures


def chain_segments(tree: PrefixTree) -> int:
    """Number of maximal unary chains: nodes whose parent has other children, or that are roots. O(n)."""
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=tree.n)
    starts = (tree.parent < 0) | (children[tree.parent] != 1)
    return int(starts.sum())


def _overlap(instance: pp.Instance) -> float:
    alone: NDArray[np.bool_] = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
    state = instance.objective.state(alone)
    for m in range(instance.num_workers):
        alone[m] = pp.best_closed_set(instance.tree, state.marginals(m), int(instance.budgets[m])).mask
    total = int(alone.sum())
    return 1.0 - float(np.logical_or.reduce(alone, axis=0).sum()) / total if total else 0.0


def _curvature(instance: pp.Instance) -> float:
    local, coverage = instance.local_value, instance.coverage_value
    both = local + coverage
    with np.errstate(invalid="ignore"):
        share = np.where(both > 0, coverage / np.where(both > 0, both, 1.0), 0.0)
    return float(share.max(initial=0.0))


def library_frame(library: Library, *, bounds: bool = False, seconds: float = 30.0) -> pd.DataFrame:
    """A frame of :func:`instance_statistics` for all rows, indexed by name, with group, bounds and gap of the row."""
    import pandas as pd

    from prefixplace.result import relative_gap

    rows = []
    for row in library:
        lower, upper = float(row.lower), float(row.upper)
        known = {
            "name": row.name,
            "group": row.group,
            "lower": lower,
            "upper": upper,
            "gap": relative_gap(lower, upper),
            "proof": row.proof,
        }
        rows.append(
            {**known, **instance_statistics(library.instance(row.name), bounds=bounds, seconds=seconds)}
        )
    return pd.DataFrame(rows).set_index("name")
