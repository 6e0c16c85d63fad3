"""The blocked dense dynamic program against the reference of Theorem 1."""

from __future__ import annotations

import numpy as np
import pytest

from prefixplace import PrefixTree
from prefixplace.oracle.dense import dense_closed_set, dense_order
from prefixplace.oracle.reference import reference_closed_set


def random_parents(rng: np.random.Generator, n: int) -> np.ndarray:
    shape = rng.integers(5)
    i = np.arange(n)
    if shape == 0:  # random recursive forest
        return np.floor(rng.random(n) * (i + 1)).astype(np.int64) - 1
    if shape == 1:
        return i - 1
    if shape == 2:
        return np.full(n, -1)
    if shape == 3:
        return (i - 1) // 2
    return np.maximum(-1, i - 1 - rng.integers(0, 3, n))  # deep, narrow


def is_closed(tree: PrefixTree, mask: np.ndarray) -> bool:
    inner = np.flatnonzero(mask & (tree.parent >= 0))
    return bool(mask[tree.parent[inner]].all())


def check(tree: PrefixTree, profit: np.ndarray, budget: int) -> None:
    mask = dense_closed_set(tree, profit, budget)
    value, _ = reference_closed_set(tree.end, profit, budget)
    assert is_closed(tree, mask)
    assert mask.sum() <= budget
    if profit.dtype.kind == "i":
        assert profit[mask].sum() == value
    else:
        # in the same internal order every float operation is the same, so the sets are too
        ready = dense_order(tree)
        _, inside = reference_closed_set(ready.end, profit[ready.order], budget)
        assert np.array_equal(mask[ready.order], inside)
        assert profit[mask].sum() == pytest.approx(value, rel=1e-12, abs=1e-15 * np.abs(profit).sum())


@pytest.mark.parametrize("seed", range(8))
def test_small_instances(seed: int) -> None:
    """8 × 650 trees with four profit vectors each: 20,800 instances."""
    rng = np.random.default_rng(seed)
    for _ in range(650):
        n = int(rng.integers(0, 24))
        tree = PrefixTree.from_parents(random_parents(rng, n))
        for profit in (
            rng.integers(-3, 6, n),
            rng.integers(-(10**15), 10**15, n),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.5, 0.0, rng.choice([1e9, -1e9, 1e-6], n)),
        ):
            check(tree, profit, int(rng.integers(0, n + 3)))


@pytest.mark.parametrize("seed", range(12))
def test_several_blocks(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(1200, 2600))
    tree = PrefixTree.from_parents(random_parents(rng, n))
    for profit in (rng.integers(-2, 3, n), rng.normal(size=n), np.ones(n, np.int64)):
        check(tree, profit, int(rng.integers(n // 2, n + 1)))
