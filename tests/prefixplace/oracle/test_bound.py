"""The Lagrangian bound and its losses against the best sets with each node forced."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace import InputError, PrefixTree
from prefixplace.lab.oracle_families import SHAPES, make_profit, make_tree
from prefixplace.oracle import ClosedSetOracle
from prefixplace.oracle.reference import reference_table
from tests.brute import closed_sets
from tests.prefixplace.oracle.trees import is_closed, trees, whole_profits


@given(trees(7), st.data())
def test_bound_and_losses_hold(tree: PrefixTree, data: st.DataObject) -> None:
    profit = np.array(data.draw(whole_profits(tree.n)), np.int64)
    budget = data.draw(st.integers(0, tree.n + 1))
    oracle = ClosedSetOracle(tree)
    whole, real = oracle.bound(profit, budget), oracle.bound(profit.astype(float), budget)
    sets = closed_sets(tree, budget)
    for bound in (whole, real):
        assert max(int(profit[mask].sum()) for mask in sets) <= bound.bound
        assert is_closed(tree, bound.mask)
        assert bound.mask.sum() <= budget
        assert bound.value == profit[bound.mask].sum()
        assert (bound.loss_in >= 0).all()
        assert (bound.loss_out >= 0).all()
        for v in range(tree.n):
            inside = [int(profit[mask].sum()) for mask in sets if mask[v]]
            outside = [int(profit[mask].sum()) for mask in sets if not mask[v]]
            if inside:
                assert max(inside) <= bound.bound - bound.loss_in[v]
            assert max(outside) <= bound.bound - bound.loss_out[v]
    assert isinstance(whole.bound, int)
    assert whole.bound <= real.bound


@pytest.mark.parametrize("shape", SHAPES)
def test_bound_is_the_minimum_over_prices(shape: str) -> None:
    """λ·k + best closure at price λ, recomputed in floats, is least at the multiplier found."""
    tree = make_tree(shape, 500, 8)
    profit = make_profit("normal", tree, 8)
    bound = ClosedSetOracle(tree).bound(profit, 40)

    def at(price: float) -> float:
        best = np.zeros(tree.n + 1)
        for i in range(tree.n - 1, -1, -1):
            taken = profit[i] - price + best[i + 1] if tree.depth[i] < 40 else -math.inf
            best[i] = max(best[tree.end[i]], taken)
        return float(price * 40 + best[0])

    assert bound.bound == pytest.approx(at(bound.multiplier), rel=1e-12)
    for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2):
        assert at(bound.multiplier * factor) >= bound.bound * (1 - 1e-12)
    assert float(reference_table(tree.end, profit, 40)[0, 40]) <= bound.bound


def test_losses_that_settle_nodes() -> None:
    """Two good nodes, a bad one, budget 2: the bound is tight and says so of each."""
    tree = PrefixTree.from_parents([-1, -1, -1])
    bound = ClosedSetOracle(tree).bound([7, 5, 1], 2)
    assert bound.bound == bound.value == 12
    assert bound.mask.tolist() == [True, True, False]
    assert bound.loss_out.tolist()[:2] >= [6, 4]
    assert bound.loss_in[2] <= 4


def test_too_deep_to_fit() -> None:
    tree = PrefixTree.from_parents([-1, 0, 1])
    bound = ClosedSetOracle(tree).bound([0, 0, 100], 2)
    assert bound.bound == 0
    assert bound.loss_in[2] > 100


def test_integers_without_room() -> None:
    tree = PrefixTree.from_parents([-1, 0, 1])
    with pytest.raises(InputError, match="too large for a bound"):
        ClosedSetOracle(tree).bound([2**60 + 1, 2**60, -(2**60)], 2)


def test_long_chain() -> None:
    n = 200_000
    tree = PrefixTree.from_parents(np.arange(n) - 1)
    profit = np.full(n, -1)
    profit[-1] = 2 * n
    bound = ClosedSetOracle(tree).bound(profit, n)
    assert bound.bound == bound.value == n + 1
    assert bound.mask.all()
    assert (bound.loss_out == n + 1).all()
