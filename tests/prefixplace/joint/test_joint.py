"""The grid, the state spaces and the enumeration, against enumeration of all placements."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.joint.enumeration import enumerate_space, spread_prices
from prefixplace.joint.grid import LIMIT, grid_for
from prefixplace.joint.prices import Pricing, best_prices
from prefixplace.joint.states import FREE, INSIDE, OUTSIDE, all_states
from tests.brute import closed_sets, random_parents

NOBODY = np.zeros(2, np.bool_)


def test_decimals_get_their_greatest_common_divisor() -> None:
    grid = grid_for([np.array([0.5, 1.25, 3.0])], 4.75)
    assert Fraction(grid.step) / grid.scale == Fraction(1, 4) and grid.error == 0.0
    assert (grid.to_units(np.array([0.5, 1.25, 0.0])) == np.array([2, 5, 0]) * grid.step).all()
    thousandths = np.array([517.415, 1666.667]) * 78.3
    grid = grid_for([thousandths], float(thousandths.sum()))
    assert (Fraction(grid.step) / grid.scale).denominator <= 10**4 and grid.error < 1e-10


@given(st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=20))
def test_grid_error_is_what_it_says(numbers: list[float]) -> None:
    values = np.array(numbers)
    grid = grid_for([values], float(values.sum()))
    units = grid.to_units(values)
    assert (units % grid.step == 0).all() and ((units > 0) == (values > 0)).all()
    assert sum(units.tolist()) <= 2 * LIMIT
    for value, unit in zip(numbers, units.tolist(), strict=True):
        assert abs(Fraction(value) - Fraction(unit) / grid.scale) <= Fraction(grid.error) * Fraction(
            1001, 1000
        )


def brute_force(tree: pp.PrefixTree, table: np.ndarray, budgets: list[int]) -> int:
    return max(
        int(table[np.arange(tree.n), first + 2 * second].sum())
        for first in closed_sets(tree, budgets[0])
        for second in closed_sets(tree, budgets[1])
    )


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("width", [1, 3, 10_000])
def test_enumeration(width: int, joint: bool) -> None:
    rng = np.random.default_rng(width)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        tree = pp.PrefixTree.from_parents(random_parents(rng, n))
        table = rng.integers(0, 20, (n, 4))
        table[:, 0] = 0
        budgets = rng.integers(1, n + 1, 2)
        best = brute_force(tree, table, budgets.tolist())
        space = all_states(tree.parent, table, budgets)
        pricing = Pricing(space)
        bound, prices = best_prices(pricing, np.array([3.0, 3.0]), np.arange(2), floor=0, limit=50)
        assert bound >= best
        multipliers = rng.integers(0, 15, (2, n)) if joint else None
        for floor in (best - 1, best, best // 2):
            keep = pricing.through(pricing.bound(prices)) > floor
            left = space.reduced(keep)
            if left is None or left.size == 0:
                # nothing above the floor, or one placement left
                assert floor >= best or (left is not None and left.worth <= best)
                continue
            vectors = spread_prices(Pricing(left), prices, np.arange(2), bound, floor)
            found = enumerate_space(left, vectors, NOBODY, floor, width=width, multipliers=multipliers)
            assert found.bound >= best or found.bound == floor >= best
            if found.value is not None:
                assert found.holders is not None and floor < found.value <= best
                assert int(table[np.arange(n), found.holders].sum()) == found.value
                used = (found.holders[:, None] >> np.arange(2) & 1).sum(axis=0)
                assert (used <= budgets).all()
            if found.exhaustive:
                assert (found.value or floor) == max(best, floor)
            if width == 10_000:
                assert found.exhaustive


def test_sorting_twins_loses_nothing() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        tree = pp.PrefixTree.from_parents(random_parents(rng, n))
        own, both = rng.integers(0, 9, n), rng.integers(0, 12, n)
        table = np.stack([np.zeros(n, np.int64), own, own, np.maximum(own, both)], axis=1)
        budgets = np.full(2, rng.integers(1, n + 1))
        best = brute_force(tree, table, budgets.tolist())
        space = all_states(tree.parent, table, budgets)
        found = enumerate_space(space, [np.array([1, 1])], np.array([False, True]), best - 1, width=10_000)
        assert found.value == best and found.holders is not None
        assert int(table[np.arange(n), found.holders].sum()) == best


def test_reduction_keeps_what_fits_and_fixes_pairs() -> None:
    parent = np.array([-1, 0, 0])
    table = np.array([[0, 1, 2, 3], [0, 5, 1, 6], [0, 1, 4, 5]])
    space = all_states(parent, table, np.array([3, 3]))
    keep = np.ones(12, np.bool_)
    keep[[0, 1, 3]] = False  # the root is held by the second worker alone
    left = space.reduced(keep)
    assert left is not None
    assert left.decided.tolist() == [2, -1, -1] and left.worth == 2 and left.slack.tolist() == [3, 2]
    assert [left.holders[a:b].tolist() for a, b in zip(left.offset, left.offset[1:], strict=False)] == [
        [0, 2],
        [0, 2],
    ]
    assert left.pairs().tolist() == [[OUTSIDE] * 3, [INSIDE, FREE, FREE]]
    keep[2] = False
    assert space.reduced(keep) is None
