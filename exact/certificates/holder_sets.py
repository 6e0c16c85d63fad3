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
    price = np.array([sum(prices[m] for m in group) for group in holders], object)
    parent = np.array([*data.parent, -1], np.int64)  # the dummy root is its own parent, at the end
    depth = _depths(data.parent)
    order = np.argsort(-depth, kind="stable")  # the deepest first; siblings are neighbours, as in preorder
    place = np.empty(order.size + 1, np.int64)
    place[order], place[-1] = np.arange(order.size), order.size
    sums = np.zeros(
        (0, len(holders)), object
    )  # of the children that have been seen, for the chunks sums_from …
    sums_from = 0
    for first in range(0, order.size, _BLOCK):
        block = order[first : first + _BLOCK]
        last_parent = int(place[parent[block]].max()) + 1
        more = np.zeros((max(last_parent - sums_from - len(sums), 0), len(holders)), object)
        sums, sums_from = np.concatenate((sums, more))[first - sums_from :], first
        table = _terms(data, block, holders) - price
        steps = np.flatnonzero(np.diff(depth[block], prepend=-1))
        for low, high in zip(steps, [*steps[1:], block.size], strict=True):  # one depth at a time
            level = (table[low:high] + sums[low:high]).reshape(-1, *shape)
            for axis in range(1, level.ndim):
                level = np.maximum.accumulate(level, axis=axis)
            above = place[parent[block[low:high]]] - first
            begins = np.flatnonzero(np.diff(above, prepend=-1))
            sums[above[begins]] += np.add.reduceat(level.reshape(high - low, -1), begins, axis=0)
    best = int(sums[-1, -1]) if order.size else 0  # the dummy root, with every worker allowed
    return best + sum(each * budget for each, budget in zip(prices, data.budgets, strict=True))


def _depths(parent: Sequence[int]) -> NDArray[np.int64]:
    """Number of ancestors of each chunk."""
    depth = [0] * len(parent)
    for i, above in enumerate(parent):
        if above >= 0:
            depth[i] = depth[above] + 1
    return np.array(depth, np.int64)


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
