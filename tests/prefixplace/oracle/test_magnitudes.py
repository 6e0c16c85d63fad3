"""Profits that no best set can feel must not coarsen the grid for the rest."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.oracle import ClosedSetOracle, OracleParameters


@pytest.mark.parametrize("large", [1e16, 1e18, 1e30, 1e300])
def test_a_huge_loss_hides_no_small_gain(large: float) -> None:
    tree = pp.PrefixTree.from_parents([-1, -1, -1])
    best = pp.best_closed_set(tree, [1.0, 1.5, -large], 3)
    assert best.value == 2.5 and best.rounding == 0


@pytest.mark.parametrize("large", [-1e300, 1e18, 1e300])
@pytest.mark.parametrize("dense", [True, False])
def test_a_chunk_out_of_reach_hides_no_small_gain(large: float, dense: bool) -> None:
    tree = pp.PrefixTree.from_parents([-1, -1, -1, 2, 3])
    oracle = ClosedSetOracle(tree, None if dense else OracleParameters(dense_cells=0, dense_budget=0))
    profit = np.array([1.0, 1.5, 0.0, 0.0, large])
    assert oracle.solve(profit, 2).value == 2.5
    assert oracle.bound(profit, 2).bound == pytest.approx(2.5)
    reached = max(2.5, large)
    assert oracle.solve(profit, 3).value == pytest.approx(reached)


def test_the_guarantee_holds_beside_unreachable_values() -> None:
    tree = pp.PrefixTree.from_parents([-1, -1, -1, 2, 3])
    local = [[1.0, 1.5, 0, 0, 0], [0.1, 0.2, 0, 0, 0]]
    instance = pp.Instance.from_values(tree, local=local, coverage=[1, 1.0, 0, 0, 1e18], budgets=[2, 1])
    assert pp.solve(instance).value == pytest.approx(4.7)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("node", [0, 4])
def test_numbers_that_are_none_are_still_refused(bad: float, node: int) -> None:
    tree = pp.PrefixTree.from_parents([-1, -1, -1, 2, 3])
    profit = np.array([-1.0, -1.0, -2.0, 0.0, 0.0])
    profit[node] = bad
    with pytest.raises(pp.InputError, match=f"profit of node {node}"):
        pp.best_closed_set(tree, profit, 2)


def test_losses_only_give_the_empty_set_worth_a_plain_zero() -> None:
    best = pp.best_closed_set(pp.PrefixTree.from_parents([-1, -1]), [-1e300, -1e-300], 2)
    assert best.nodes.size == 0 and str(best.value) == "0.0"
