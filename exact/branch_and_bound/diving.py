"""A placement from the coverage dual's average answer: round what is nearly certain, ask the dual again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.bounding import Bounding
from exact.branch_and_bound.coverage import CoverageDual
from exact.branch_and_bound.node import Node
from prefixplace.joint.states import FREE, INSIDE, OUTSIDE

__all__ = ["CHEAPER", "dive"]

CHEAPER = 10
"""Placements need no bound: they price budgets from tables of this part of the size on."""

_ROUNDS = 25
_AMBITION = 1e-4  # what a short descent tries to gain, as a share of the bound
_HELD = 0.9


def dive(bounding: Bounding, node: Node, share: float, rounds: int = _ROUNDS) -> None:
    """Round the most certain pairs of `node` and let the dual answer for the rest, until all are decided; then offer.

    `share` of the free pairs are rounded at a time: about log(pairs)/share descents of `rounds` on ever fewer pairs.
    """
    problem = bounding.problem
    assert problem.local is not None and problem.coverage is not None
    assert node.weights is not None and node.multipliers is not None
    tree, apart = problem.instance.tree, np.zeros_like(node.twin)
    cells = bounding.parameters.table_cells // CHEAPER
    fix, must, weights, multipliers = node.fix.copy(), node.must.copy(), node.weights, node.multipliers
    prices = node.prices
    while True:
        bounding.check()
        # who keeps a chunk may be open when it is clear that somebody does
        must |= (weights.sum(axis=0) >= _HELD) & (fix != OUTSIDE).any(axis=0)
        _round(np.array(tree.parent), tree.end, problem.budgets, weights, must, share, fix)
        if not (fix == FREE).any():
            break
        must &= (fix != OUTSIDE).any(axis=0)
        dual = CoverageDual(
            tree.end, problem.local, problem.coverage, problem.budgets, apart, fix, must, cells
        )
        point = dual.descend(
            multipliers, prices, floor=0, target=bounding.primal.value, rounds=rounds,
            ambition=_AMBITION * node.bound,
        )  # fmt: skip
        bounding.rounds += point.rounds
        multipliers, weights, prices = point.multipliers, point.weights, point.prices
    mask = np.zeros_like(bounding.primal.mask)
    mask[problem.workers] = fix == INSIDE
    bounding.primal.improve(mask)


def _round(
    parent: NDArray[np.int64],
    end: NDArray[np.int64],
    budgets: NDArray[np.int64],
    weights: NDArray[np.float64],
    must: NDArray[np.bool_],
    share: float,
    fix: NDArray[np.int8],
) -> None:
    """Fix the most certain free pairs, with the ancestors of what is kept and below what is left, within budgets.

    The last worker that may hold a chunk of `must` keeps it while its budget allows.
    """
    workers, chunks = np.nonzero(fix == FREE)
    certain = np.abs(weights[workers, chunks] - 0.5)
    count = max(int(share * certain.size), 1)
    left = budgets - np.count_nonzero(fix == INSIDE, axis=1)
    possible = np.count_nonzero(fix != OUTSIDE, axis=0)
    for k in np.argsort(-certain, kind="stable")[:count].tolist():
        m, b = int(workers[k]), int(chunks[k])
        if fix[m, b] != FREE:
            continue
        path = []
        v = b
        while v >= 0 and fix[m, v] == FREE:
            path.append(v)
            v = int(parent[v])
        below = slice(b, int(end[b]))
        here = fix[m, below] == FREE
        last = bool((must[below] & (possible[below] == 1) & here).any())
        if (last or weights[m, b] >= 0.5) and len(path) <= left[m]:
            fix[m, path] = INSIDE
            left[m] -= len(path)
        else:
            fix[m, below] = OUTSIDE
            possible[below] -= here
