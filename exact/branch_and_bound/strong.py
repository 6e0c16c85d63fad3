"""Strong branching on pairs and on coverage, for nodes whose states are too many to write down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.bounding import Bounding
from exact.branch_and_bound.node import Node
from prefixplace.joint.states import FREE, INSIDE, OUTSIDE

__all__ = ["ANYBODY", "split_strongly"]

Floats = NDArray[np.float64]

ANYBODY = -1
"""Stands for a worker in a branching on whether a chunk is held at all."""

_CANDIDATES = 6  # of either kind
_ROUNDS = 15  # for each side of a candidate
_LEAST_FRACTION = 0.05
_SLIGHT = 1e-3  # share of the gap that counts for a side that gains nothing


def split_strongly(bounding: Bounding, node: Node) -> tuple[Node, ...]:
    """Split `node` where both sides lose most, as a few rounds of the coverage dual on each tell.

    Candidates are the chunks whose coverage is most fractional in the dual's average answer (somebody keeps the chunk,
    or nobody does), and the pairs that are (worker m keeps the chunk, or none of its class). The gains of both sides
    are multiplied (Achterberg, Koch, Martin 2005).
    """
    assert node.weights is not None
    candidates = _fractional(node, node.weights)
    gap = max(node.bound - bounding.primal.value, 1)
    best, chosen = -1.0, None
    for worker, chunk in candidates:
        bounding.check()
        sides = _sides(bounding, node, worker, chunk)
        for side in sides:
            _look_ahead(bounding, side)
        gains = [min((node.bound - side.bound) / gap, 1.0) for side in sides]
        score = max(gains[0], _SLIGHT) * max(gains[1], _SLIGHT)
        if score > best:
            best, chosen = score, (worker, chunk, sides)
        if min(gains) >= 1.0:  # both sides are closed
            break
    assert chosen is not None
    node.branch, node.children = chosen[:2], chosen[2]
    return tuple(side for side in chosen[2] if side.dual > bounding.floor)


def _fractional(node: Node, weights: Floats) -> list[tuple[int, int]]:
    """``(worker or ANYBODY, chunk)``: the most fractional coverages, then the most fractional pairs."""
    open_chunk = ~node.must & (node.fix == FREE).any(axis=0)
    coverage = np.where(open_chunk, _fraction(np.minimum(weights.sum(axis=0), 1.0)), 0.0)
    pairs = np.where((node.fix == FREE) & ~node.twin[:, None], _fraction(weights), -1.0)
    chunks = np.argsort(-coverage, kind="stable")[:_CANDIDATES]
    found = [(ANYBODY, int(b)) for b in chunks if coverage[b] > _LEAST_FRACTION]
    several = np.argsort(-pairs, axis=None, kind="stable")[:_CANDIDATES]
    for worker, chunk in zip(*np.unravel_index(several, pairs.shape), strict=True):
        # with nothing fractional left, any free pair makes progress
        if pairs[worker, chunk] > _LEAST_FRACTION or (not found and pairs[worker, chunk] >= 0.0):
            found.append((int(worker), int(chunk)))
    return found


def _fraction(weights: Floats) -> Floats:
    result: Floats = 0.5 - np.abs(weights - 0.5)
    return result


def _sides(bounding: Bounding, node: Node, worker: int, chunk: int) -> tuple[Node, Node]:
    """The part of `node` in which the chunk is held by `worker` (or anybody), and the part in which it is not."""
    tree = bounding.problem.instance.tree
    yes, no, must = node.fix.copy(), node.fix.copy(), node.must.copy()
    v = chunk
    while v >= 0:
        must[v] = True
        if worker != ANYBODY:
            yes[worker, v] = INSIDE
        v = int(tree.parent[v])
    group = slice(None) if worker == ANYBODY else list(node.twin_class(worker))
    no[group, chunk : int(tree.end[chunk])] = OUTSIDE
    return (
        node.child(None, yes, must, apart=None if worker == ANYBODY else worker),
        node.child(None, no),
    )


def _look_ahead(bounding: Bounding, side: Node) -> None:
    """A few rounds of the coverage dual on one side; it keeps what they show."""
    dual = bounding.coverage_dual(side)
    if not dual.feasible:
        bounding.close(side)
        return
    assert side.multipliers is not None
    value, floor = bounding.primal.value, bounding.floor
    point = dual.descend(
        side.multipliers, side.prices[dual.first], floor=floor, target=value, rounds=_ROUNDS,
        ambition=0.25 * (side.bound - value),
    )  # fmt: skip
    if point.bound <= floor:
        bounding.covered(side, dual, point)
        bounding.close(side)
        return
    bounding.rounds += point.rounds
    if point.bound < side.bound:
        side.multipliers = point.multipliers
        side.bound = point.bound
