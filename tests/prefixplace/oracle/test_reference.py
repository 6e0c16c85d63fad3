"""Theorem 1 against the enumeration of all closed sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace import PrefixTree
from prefixplace.oracle.reference import reference_closed_set, reference_table
from tests.brute import closed_sets
from tests.prefixplace.oracle.trees import is_closed, trees, whole_profits


@given(trees(7), st.data())
def test_against_enumeration(tree: PrefixTree, data: st.DataObject) -> None:
    profit = np.array(data.draw(whole_profits(tree.n)), np.int64)
    table = reference_table(tree.end, profit, tree.n + 1)
    for budget in range(tree.n + 2):
        best = max(int(profit[mask].sum()) for mask in closed_sets(tree, budget))
        value, mask = reference_closed_set(tree.end, profit, budget)
        assert value == best == table[0, budget] == profit[mask].sum()
        assert is_closed(tree, mask)
        assert mask.sum() <= budget


def test_by_hand() -> None:
    tree = PrefixTree.from_parents([-1, 0, 1, -1, 3])
    value, mask = reference_closed_set(tree.end, np.array([-5, 0, 9, 1, 1]), 3)
    assert value == 4
    assert mask.tolist() == [True, True, True, False, False]


def test_ties_skip() -> None:
    tree = PrefixTree.from_parents([-1, -1])
    value, mask = reference_closed_set(tree.end, np.array([2, 2]), 1)
    assert value == 2
    assert mask.tolist() == [False, True]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_dtype_is_kept(kind: type) -> None:
    tree = PrefixTree.from_parents([-1, 0])
    value, _ = reference_closed_set(tree.end, np.array([1, 2], kind), 2)
    assert value == 3
    assert value.dtype == kind
