"""An instance in a few facts, and its tree as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text
from rich.tree import Tree

from prefixplace.html import counted, number
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.transfer import TransferModel

__all__ = ["instance_facts", "instance_summary", "placement_facts", "tree_sketch"]


def instance_summary(instance: Instance) -> dict[str, Any]:
    """Size, shape and budgets as JSON-able data."""
    tree = instance.tree
    return {
        "name": instance.name,
        "n": tree.n,
        "roots": int(tree.roots.size),
        "depth": int(tree.depth.max()) + 1 if tree.n else 0,
        "workers": list(instance.workers),
        "budgets": instance.budgets.tolist(),
        "objective": "pairwise" if instance.pairwise else "requester-side",
        "demand": instance.demand.sum(axis=1).tolist(),
        "recompute_all": [
            float(np.dot(*pair)) for pair in zip(instance.demand, instance.recompute, strict=True)
        ],
        "instance_digest": instance.digest,
        "meta": instance.meta,
    }


def instance_facts(instance: Instance) -> dict[str, str]:
    """The same for reading."""
    tree = instance.tree
    summary = instance_summary(instance)
    leaves = int(np.count_nonzero(tree.end == np.arange(1, tree.n + 1)))
    rows = {
        "chunks": f"{tree.n:,} in {counted(summary['roots'], 'tree')}, {leaves:,} leaves, depth {summary['depth']:,}",
        "objective": summary["objective"],
        "workers": _listed(
            f"{worker} keeps ≤ {budget:,}"
            for worker, budget in zip(instance.workers, summary["budgets"], strict=True)
        ),
        "chunk requests": _listed(number(total, 7) for total in summary["demand"]),
        "recompute, ms a chunk": _span(instance.recompute),
        "fetch, ms a chunk": _fetch_span(instance),
        "recompute everything": f"{number(sum(summary['recompute_all']), 7)} ms per epoch",
        "digest": instance.digest[:16] + "…",
    }
    if instance.has_values:
        rows["given by"] = "local and coverage values; demand and costs are derived from them"
    known = {
        name: instance.meta[name]
        for name in ("opt", "configuration_lp", "compact_lp")
        if name in instance.meta
    }
    if known:
        rows["known values"] = ", ".join(f"{name} = {value}" for name, value in known.items())
    return rows


def placement_facts(instance: Instance, placement: Placement) -> dict[str, str]:
    """What a plan is worth and how much it repeats, for reading."""
    sizes, holders = placement.sizes, placement.holders
    copies, distinct = int(sizes.sum()), int(np.count_nonzero(holders))
    return {
        "plan is worth": f"{number(instance.value(placement), 12)} ms saved per epoch",
        "chunks kept": _listed(
            f"{worker} {size:,} of {budget:,}"
            for worker, size, budget in zip(
                instance.workers, sizes.tolist(), instance.budgets.tolist(), strict=True
            )
        ),
        "distinct chunks": f"{distinct:,} of {instance.num_chunks:,}, "
        f"{int(np.count_nonzero(holders > 1)):,} of them on several workers ({copies:,} copies in all)",
    }


def tree_sketch(instance: Instance, placement: Placement | None = None, *, lines: int = 30) -> Tree:
    """The most wanted part of the forest as a tree of text; unary chains are one line each.

    Parameters
    ----------
    instance : Instance
    placement : Placement, optional
        Shows for each line which workers keep its chunks.
    lines : int, default 30
        About how many lines to draw; the most wanted chains come first, and what is left out is counted.
    """
    tree, demand = instance.tree, instance.demand.sum(axis=0)
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=tree.n)
    head = (tree.parent < 0) | (children[tree.parent] != 1)  # first chunk of each maximal unary chain
    heads = np.flatnonzero(head)
    chosen = np.sort(heads[np.argsort(-demand[heads], kind="stable")[:lines]])
    first = np.maximum.accumulate(np.where(head, np.arange(tree.n), 0))  # head of the chain of each chunk
    root = Tree("(empty prefix)", guide_style="dim")
    drawn: dict[int, Tree] = {}
    hidden: list[tuple[Tree, int]] = []
    for v in chosen.tolist():
        above = int(tree.parent[v])
        at = drawn.get(int(first[above])) if above >= 0 else root
        if at is None:  # possible only where children are wanted more than their parent
            continue
        tail = v
        while children[tail] == 1:
            tail += 1  # an only child follows its parent in preorder
        drawn[v] = at.add(_chain_text(instance, placement, v, tail, float(demand[v])))
        hidden.append((drawn[v], int(children[tail])))
    for at, count in [*hidden, (root, int(tree.roots.size))]:
        if count > len(at.children):
            at.add(Text(f"… {count - len(at.children):,} more", style="dim"))
    return root


def _chain_text(instance: Instance, placement: Placement | None, v: int, tail: int, demand: float) -> Text:
    origin, length = instance.tree.origin, tail - v + 1
    name = f"{origin[v]}" if tail == v else f"{origin[v]} … {origin[tail]} ({length:,} chunks)"
    text = Text(name).append(f"  {number(demand, 5)} requests", style="dim")
    if placement is not None:
        kept = np.count_nonzero(placement.mask[:, v : tail + 1], axis=1)
        held = [
            f"{worker} {count}/{length}" if tail > v else worker
            for worker, count in zip(instance.workers, kept.tolist(), strict=True)
            if count
        ]
        text.append("  ").append(", ".join(held)) if held else text.append("  nobody", style="dim")
    return text


def _listed(parts: Any, most: int = 8) -> str:
    found = list(parts)
    return ", ".join(found[:most]) + (f", … {len(found) - most} more" if len(found) > most else "")


def _span(values: np.ndarray[Any, Any]) -> str:
    if not values.size:
        return "–"
    low, high = float(values.min()), float(values.max())
    return number(low, 4) if low == high else f"{number(low, 4)} to {number(high, 4)}"


def _fetch_span(instance: Instance) -> str:
    if not isinstance(instance.fetch, TransferModel):
        finite = instance.fetch[
            np.isfinite(instance.fetch) & (instance.fetch > 0 if instance.pairwise else True)
        ]
        note = "" if np.isfinite(instance.fetch).all() else "; some fetches cannot happen"
        return _span(finite) + note
    peers = ~np.eye(instance.num_workers, dtype=np.bool_)
    speed = instance.fetch.goodput_bps[peers] / 1e9
    return f"by link: {_span(speed)} Gb/s" if speed.size else "–"
