"""The integer arithmetic against definitions written out by enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from exact.certificates.evaluation import (
    budgeted_value,
    closure_value,
    coverage_bound,
    exact_instance,
    granularity,
    integers,
    plan_value,
)
from exact.certificates.holder_sets import holder_set_bound
from tests.brute import closed_sets, fetch_cost, placements, random_instance, random_parents

finite = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=6), st.lists(finite, max_size=3))
def test_integers_are_the_floats_themselves(first: list[float], second: list[float]) -> None:
    (whole, other), unit = integers(np.array(first, np.float64), np.array(second, np.float64))
    assert [Fraction(x, unit) for x in whole] == [Fraction(x) for x in first]
    assert [Fraction(x, unit) for x in other] == [Fraction(x) for x in second]


def fraction_value(instance: pp.Instance, mask: np.ndarray) -> Fraction:
    """Saved cost by the rule of the model, in rationals."""
    total = Fraction(0)
    for m in range(instance.num_workers):
        for b in range(instance.num_chunks):
            recompute = Fraction(float(instance.recompute[m, b]))
            costs = [fetch_cost(instance, m, h, b) for h in range(instance.num_workers) if mask[h, b]]
            paid = min([recompute, *(Fraction(c) for c in costs if c < np.inf)])
            total += Fraction(float(instance.demand[m, b])) * (recompute - (0 if mask[m, b] else paid))
    return total


@pytest.mark.parametrize("seed", range(30))
def test_plan_value_is_the_saved_cost_in_rationals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=5, workers=3, pairwise=seed % 2 == 1)
    data = exact_instance(instance, 3 * 2**40)
    assert data.denominator % (3 * 2**40) == 0
    for _ in range(20):
        mask = np.array([closed[rng.integers(len(closed))] for closed in [closed_sets(instance.tree, 5)] * 3])
        value = plan_value(data, [np.flatnonzero(row).tolist() for row in mask])
        assert Fraction(value, data.denominator) == fraction_value(instance, mask)
        assert value % granularity(data) == 0


def test_values_that_were_given_are_used_as_they_are() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    instance = pp.Instance.from_values(
        tree, local=[[0.1, 0.2]] * 3, coverage=[0.3, 1e-300], budgets=[1, 1, 1]
    )
    data = exact_instance(instance)
    value = Fraction(plan_value(data, [[0, 1], [], [0]]), data.denominator)
    assert value == 2 * Fraction(0.1) + Fraction(0.2) + Fraction(0.3) + Fraction(1e-300)


@pytest.mark.parametrize("seed", range(60))
def test_one_worker(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = pp.PrefixTree.from_parents(random_parents(rng, 8))
    profit = rng.integers(-6, 9, 8).tolist()
    budget = int(rng.integers(0, 10))
    sets = [np.flatnonzero(mask).tolist() for mask in closed_sets(tree, 8)]
    worth = [(len(s), sum(profit[i] for i in s)) for s in sets]
    assert closure_value(tree.parent.tolist(), profit) == max(value for _, value in worth)
    within = max(value for size, value in worth if size <= budget)
    assert budgeted_value(tree.end.tolist(), profit, budget) == within
    huge = [p << 80 for p in profit]  # beyond machine integers
    assert budgeted_value(tree.end.tolist(), huge, budget) == within << 80


@pytest.mark.parametrize("seed", range(80))
def test_dual_values_bound_every_plan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workers, n = 2, 4
    instance = random_instance(rng, n=n, workers=workers, pairwise=seed % 2 == 1, whole=True)
    data = exact_instance(instance, 8)
    best = max(int(instance.objective.value(mask)) for mask in placements(instance)) * data.denominator
    highest = data.saving.max(axis=0) if data.pairwise else data.coverage
    for _ in range(6):
        multipliers = np.array([int(x * rng.random()) for x in highest.flat], object).reshape(highest.shape)
        prices = [int(rng.integers(0, 9)) * data.denominator for _ in range(workers)]
        asked: list[int | None] = [None if rng.random() < 0.5 else price for price in prices]
        table = coverage_bound(data, multipliers, [None] * workers)
        assert (
            best
            <= table
            <= coverage_bound(data, multipliers, asked)
            <= coverage_bound(data, multipliers, prices)
        )
        assert holder_set_bound(data, prices) >= best


@pytest.mark.parametrize("pairwise", [False, True])
def test_holder_sets_of_identical_workers_are_counted(pairwise: bool) -> None:
    """Counting changes nothing: the same DP with prices that differ by nothing visible enumerates the sets."""
    rng = np.random.default_rng(5)
    tree = pp.PrefixTree.from_parents(random_parents(rng, 6))
    one = rng.integers(0, 9, (1, 6)).astype(float)
    fetch = rng.integers(0, 9, 6).astype(float)
    costs = np.broadcast_to(fetch, (3, 3, 6) if pairwise else (3, 6))
    instance = pp.Instance(
        tree, demand=np.repeat(one, 3, 0), recompute=np.full((3, 6), 7.0), fetch=costs, budgets=[2] * 3
    )
    data = exact_instance(instance, 10**6)
    counted = holder_set_bound(data, [3 * data.denominator] * 3)
    enumerated = holder_set_bound(data, [3 * data.denominator + i for i in range(3)])
    assert abs(enumerated - counted) <= 3 * 3 * 6  # three prices, each at most two units higher, six chunks


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_deep_and_wide_trees(shape: str) -> None:
    n = 200_000
    parent = list(range(-1, n - 1)) if shape == "chain" else [-1] + [0] * (n - 1)
    profit = [-5] + [1] * (n - 1)
    assert closure_value(parent, profit) == n - 6
    assert closure_value(parent, [*profit[:-1], -(10**30)]) == n - 7
    tree = pp.PrefixTree.from_parents(parent)
    assert budgeted_value(tree.end.tolist(), profit, 20) == 14
