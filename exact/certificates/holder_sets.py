"""Exact evaluation of the budget dual: the holder-set dynamic program in integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exact.certificates.evaluation import ExactInstance, Integers

__all__ = ["holder_set_bound"]

_BLOCK = 4096  # chunks whose tables are built at once


def holder_set_bound(data: ExactInstance, prices: Sequence[int]) -> int:
    """The budget-dual bound Σ_m λ_m·k_m + Σ_roots max_H G_r(H) (times the denominator) at prices λ_m ≥ 0.

    G_b(H) = v_b(H) + Σ_{children c} max_{H' ⊆ H} G_c(H') with v_b(H) the term of the objective at chunk b for
    the holders H, less the prices of H. Workers that are interchangeable and have one price are counted: a state
    is the number of holders in each class, and "H' ⊆ H" a running maximum along every axis.
    """
    classes = _interchangeable(data, prices)
    shape = tuple(len(members) + 1 for members in classes)
    holders = [
        [m for members, count in zip(classes, state, strict=True) for m in members[:count]]
        for state in np.ndindex(*shape)
    ]
    parent = np.array(data.parent, np.int64)
    levels = _levels(data.parent)
    place = np.zeros(parent.size, np.int64)  # of a chunk among those of its depth
    for nodes in levels:
        place[nodes] = np.arange(nodes.size)
    price = np.array([sum(prices[m] for m in group) for group in holders], object)
    total = sum(each * budget for each, budget in zip(prices, data.budgets, strict=True))
    # what the children of each chunk of the present depth have added so far
    below = np.zeros((levels[-1].size if levels else 0, len(holders)), object)
    for depth in range(len(levels) - 1, -1, -1):
        nodes, own = levels[depth], below
        below = np.zeros((levels[depth - 1].size if depth else 1, len(holders)), object)
        for first in range(0, nodes.size, _BLOCK):
            block = nodes[first : first + _BLOCK]
            table = _terms(data, block, holders) - price + own[first : first + _BLOCK]
            table = table.reshape(-1, *shape)
            for axis in range(1, table.ndim):
                table = np.maximum.accumulate(table, axis=axis)
            # siblings are neighbours in preorder: one sum for each run of equal parents
            above = parent[block]
            begins = np.flatnonzero(np.diff(above, prepend=-2))
            to = place[above[begins]] if depth else np.zeros(1, np.int64)
            below[to] += np.add.reduceat(table.reshape(block.size, -1), begins, axis=0)
    return total + int(below[:, -1].sum())  # the last state allows every worker


def _levels(parent: Sequence[int]) -> list[NDArray[np.int64]]:
    """The nodes of each depth, in preorder."""
    depth = [0] * len(parent)
    for i, above in enumerate(parent):
        if above >= 0:
            depth[i] = depth[above] + 1
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1]) if depth else []


def _terms(data: ExactInstance, block: NDArray[np.int64], groups: Sequence[list[int]]) -> Integers:
    """The objective's terms at the chunks of `block` for every group of holders, shape (len(block), len(groups))."""
    terms = np.zeros((block.size, len(groups)), object)
    local, coverage, saving = data.local, data.coverage, data.saving
    if data.pairwise:
        saving = saving[:, :, block]
    else:
        local, coverage = local[:, block], coverage[block]
    for state, holders in enumerate(groups):
        if holders and data.pairwise:
            terms[:, state] = saving[holders].max(axis=0).sum(axis=0)
        elif holders:
            terms[:, state] = local[holders].sum(axis=0) + coverage
    return terms


def _interchangeable(data: ExactInstance, prices: Sequence[int]) -> list[list[int]]:
    """Classes of workers any two of which can be swapped without changing a term of the objective or a price."""
    classes: list[list[int]] = []
    for m, price in enumerate(prices):
        for members in classes:
            if prices[members[0]] == price and _swappable(data, members[0], m):
                members.append(m)
                break
        else:
            classes.append([m])
    return classes


def _swappable(data: ExactInstance, first: int, second: int) -> bool:
    if not data.pairwise:
        return bool((data.local[first] == data.local[second]).all())
    swap = np.arange(len(data.budgets))
    swap[[first, second]] = second, first
    return bool((data.saving == data.saving[np.ix_(swap, swap)]).all())
