"""The blocked dense dynamic program against the reference of Theorem 1."""

from __future__ import annotations

import numpy as np
import pytest

from prefixplace import PrefixTree
from prefixplace.lab.oracle_families import CHILD_ORDERS, SHAPES, make_tree
from prefixplace.lab.oracle_yardsticks import c_value, numpy_value
from prefixplace.oracle._dense import LANES, block_columns, dense_path, dense_value
from prefixplace.oracle.dense import dense_closed_set, dense_order
from prefixplace.oracle.reference import reference_closed_set, reference_table
from tests.prefixplace.oracle.trees import is_closed, random_parents


def laws(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    return [
        rng.integers(-3, 6, n),
        rng.integers(-(10**15), 10**15, n),
        rng.normal(size=n),
        np.where(rng.random(n) < 0.5, 0.0, rng.choice([1e9, -1e9, 1e-6], n)),
    ]


def check_float(tree: PrefixTree, profit: np.ndarray, budget: int, mask: np.ndarray) -> None:
    """In the same internal order every float operation is the same, so the sets are too."""
    ready = dense_order(tree)
    _, inside = reference_closed_set(ready.end, profit[ready.order], budget)
    assert np.array_equal(mask[ready.order], inside)


@pytest.mark.parametrize("seed", range(6))
def test_small_instances(seed: int) -> None:
    """At least 6 × 3,500 instances (tree, profits, budget), ``==`` to the reference."""
    rng = np.random.default_rng(seed)
    count = 0
    while count < 3_500:
        n = int(rng.integers(0, 24))
        tree = PrefixTree.from_parents(random_parents(rng, n))
        for profit in laws(rng, n):
            table = reference_table(tree.end, profit, n)
            for budget in rng.integers(0, n + 3, 4).tolist():
                mask = dense_closed_set(tree, profit, budget)
                value, best = profit[mask].sum(), table[0, min(budget, n)]
                assert mask.sum() <= budget
                assert is_closed(tree, mask)
                if profit.dtype.kind == "i":
                    assert value == best
                else:
                    assert value == pytest.approx(best, rel=1e-12, abs=1e-15 * np.abs(profit).sum())
                    check_float(tree, profit, budget, mask)
                count += 1


@pytest.mark.parametrize("seed", range(4))
def test_several_blocks(seed: int) -> None:
    """Budgets of three and more blocks, saturated corners and tracebacks that skip whole blocks included."""
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(1600, 2400))
    tree = PrefixTree.from_parents(random_parents(rng, n))
    ready = dense_order(tree)
    for profit in (rng.integers(-2, 3, n), np.ones(n, np.int64), np.where(rng.random(n) < 0.1, 50, -1)):
        table = reference_table(tree.end, profit, n)
        for budget in rng.integers(n // 2, n + 1, 3).tolist():
            assert budget > block_columns(n, budget)
            mask = dense_closed_set(tree, profit, budget)
            value = dense_value(
                ready.end, ready.slot, ready.count, ready.parent, profit[ready.order], budget
            )[0]
            assert is_closed(tree, mask)
            assert mask.sum() <= budget
            assert profit[mask].sum() == table[0, budget] == value
            arrays = ready.end, ready.slot, ready.count, ready.parent, profit[ready.order], budget
            few, cells = dense_path(*arrays, 40 * block_columns(n, budget) // LANES)
            assert np.array_equal(few, mask[ready.order])
            assert cells > dense_path(*arrays)[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", CHILD_ORDERS)
def test_few_rows_are_alive(shape: str, order: str) -> None:
    tree = make_tree(shape, 5_000, 3, order)
    ready = dense_order(tree)
    assert sorted(ready.order.tolist()) == list(range(tree.n))
    assert np.array_equal(ready.end - np.arange(tree.n), (tree.end - np.arange(tree.n))[ready.order])
    assert ready.count <= np.log2(tree.n) + 3


@pytest.mark.parametrize("parents", [np.arange(200_000) - 1, np.full(200_000, -1)], ids=["chain", "star"])
def test_long_chain_and_wide_star(parents: np.ndarray) -> None:
    tree = PrefixTree.from_parents(parents)
    profit = np.arange(200_000) % 7 - 3
    mask = dense_closed_set(tree, profit, 700)
    is_chain = parents[1] == 0
    best = max(0, int(np.cumsum(profit)[:700].max())) if is_chain else int(np.sort(profit)[-700:].sum())
    assert mask.sum() <= 700
    assert profit[mask].sum() == best


@pytest.mark.parametrize(("n", "k"), [(1, 1), (100, 3), (10**5, 10**4), (10**6, 10**5), (10**6, 10**6)])
def test_blocks_are_whole_words(n: int, k: int) -> None:
    block = block_columns(n, k)
    assert block % LANES == 0
    assert 8 * n * k / block < 0.46e9 or k > 10**5


def test_yardsticks_agree() -> None:
    rng = np.random.default_rng(5)
    tree = make_tree("random-recursive", 1500, 5)
    profit = rng.integers(-20, 21, 1500)
    best = int(reference_closed_set(tree.end, profit, 900)[0])
    assert numpy_value(tree, profit, 900) == best
    compiled = c_value()
    if compiled is None:
        pytest.skip("no C compiler here")
    assert compiled(tree, profit, 900) == best
