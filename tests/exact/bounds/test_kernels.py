"""The numba kernels against enumeration and linear programming."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from exact.bounds._kernels import best_price
from exact.bounds.coverage import starting_multipliers
from exact.bounds.holders import HolderDual
from exact.bounds.lagrangian import CoverageDual
from tests.brute import closed_sets, placements, random_instance, random_parents


def priced(
    tree: pp.PrefixTree, profit: np.ndarray, budget: int, start: float = 0.0
) -> tuple[float, float, np.ndarray]:
    into, gain, size = np.empty(tree.n), np.empty(tree.n), np.empty(tree.n, np.int64)
    value, price, _ = best_price(tree.parent, profit, budget, start, into, gain, size)
    return value, price, into


@given(
    st.integers(0, 10_000),
    st.integers(0, 9),
    st.sampled_from([1e-9, 1.0, 1e9]),
    st.floats(0, 10),
    st.booleans(),
)
def test_best_price_is_the_minimum_over_all_prices(
    seed: int, budget: int, scale: float, start: float, whole: bool
) -> None:
    """φ is piecewise linear: its minimum is at 0 or where two closed sets are worth the same."""
    rng = np.random.default_rng(seed)
    tree = pp.PrefixTree.from_parents(random_parents(rng, 6))
    profit = rng.integers(-3, 6, 6).astype(float) if whole else rng.normal(size=6)
    profit *= scale
    worth = np.array([[profit[mask].sum(), mask.sum()] for mask in closed_sets(tree, 6)])
    kinks = {0.0} | {(a - b) / (p - q) for (a, p), (b, q) in product(worth, worth) if p != q}
    truth = min(price * budget + (worth[:, 0] - price * worth[:, 1]).max() for price in kinks if price >= 0)
    value, price, into = priced(tree, profit, budget, start * scale)
    assert value == pytest.approx(truth, rel=1e-11, abs=1e-12 * scale)
    assert price >= 0
    assert value == pytest.approx(
        price * budget + (worth[:, 0] - price * worth[:, 1]).max(), rel=1e-11, abs=1e-12 * scale
    )
    # a convex combination of closed sets within the budget, and worth as much as the bound
    assert (into >= 0).all() and (into <= 1 + 1e-12).all() and into.sum() <= budget + 1e-9
    assert all(tree.parent[i] < 0 or into[i] <= into[tree.parent[i]] + 1e-12 for i in range(6))
    assert (into * profit).sum() == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)


@pytest.mark.parametrize("shape", ["chain", "star"])
@pytest.mark.parametrize("values", ["equal", "zero", "last", "mixed"])
def test_best_price_on_large_and_tied_trees(shape: str, values: str) -> None:
    n, budget = 200_000, 1_000
    tree = pp.PrefixTree.from_parents(
        np.arange(-1, n - 1) if shape == "chain" else np.r_[-1, np.zeros(n - 1, int)]
    )
    profit = {
        "equal": np.ones(n),
        "zero": np.zeros(n),
        "last": np.zeros(n),
        "mixed": np.where(np.arange(n) % 2, 1e9, 1e-6),
    }[values]
    if values == "last":
        profit[-1] = 1.0
    value, _, into = priced(tree, profit, budget)
    truth = {
        ("chain", "equal"): budget,
        ("star", "equal"): budget,
        ("chain", "last"): budget / n,
        ("star", "last"): 1.0,
        ("chain", "mixed"): 500e9 + 500e-6,
        ("star", "mixed"): 1_000
        / 100_001
        * (100_000e9 + 1e-6),  # a share of the root and of all its children
    }.get((shape, values), 0.0)
    assert value == pytest.approx(truth, rel=1e-9)
    assert into.sum() <= budget * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_holder_tables_against_all_placements(seed: int) -> None:
    """L(λ) − Σ λ·k is the best priced placement without budgets."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=4, workers=2 + seed % 2, pairwise=seed % 4 > 1)
    unlimited = pp.Instance(
        instance.tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=instance.fetch,
        budgets=[4] * instance.num_workers,
    )
    dual = HolderDual(instance)
    prices = rng.random(len(dual.classes)) * dual.highest
    each = dual.per_worker(prices)
    found = dual.evaluate(prices)
    truth = max(
        instance.objective.value(mask) - float(each @ mask.sum(axis=1)) for mask in placements(unlimited)
    )
    assert found.value == pytest.approx(truth + float(prices @ dual.budgets))
    # the relaxed optimum that comes with it is worth what the value says, and gives the subgradient
    sizes = found.kept.sum(axis=1)
    assert found.gradient.tolist() == (dual.budgets - sizes).tolist()
    for c, price in enumerate(prices):
        moved = prices.copy()
        moved[c] = price * 1.1 + 0.1
        assert dual.evaluate(moved).value >= found.value + found.gradient @ (moved - prices) - 1e-9


def test_holder_sets_of_identical_workers_are_counted() -> None:
    rng = np.random.default_rng(2)
    tree = pp.PrefixTree.from_parents(random_parents(rng, 30))
    many = pp.Instance.from_values(
        tree, local=np.tile(rng.random(30), (40, 1)), coverage=rng.random(30) * 9, budgets=[3] * 40
    )
    dual = HolderDual(many)
    assert dual.before.size == 41
    found = dual.evaluate(np.array([0.3]))
    # one worker's price at a time makes 2^40 sets out of 41 counts; a few workers can still be told apart
    few = pp.Instance.from_values(
        tree,
        local=many.local_value[:4] + np.arange(4)[:, None] * 1e-12,
        coverage=many.coverage_value,
        budgets=[3] * 4,
    )
    same = pp.Instance.from_values(
        tree, local=many.local_value[:4], coverage=many.coverage_value, budgets=[3] * 4
    )
    apart, counted = HolderDual(few), HolderDual(same)
    assert (apart.before.size, counted.before.size) == (16, 5)
    assert apart.evaluate(np.full(4, 0.3)).value == pytest.approx(counted.evaluate(np.array([0.3])).value)
    assert found.kept.max() <= 40


def test_too_many_holder_states_are_refused() -> None:
    instance = random_instance(np.random.default_rng(0), n=8, workers=20)
    with pytest.raises(pp.InputError, match=r"20 workers .* 1048576 holder states"):
        HolderDual(instance)


@pytest.mark.parametrize("oracle", ["exact", "price"])
@pytest.mark.parametrize("pairwise", [False, True])
def test_the_coverage_dual_is_convex_with_its_subgradient(oracle: str, pairwise: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        instance = random_instance(rng, n=6, workers=3, pairwise=pairwise)
        dual = CoverageDual(instance, oracle)  # type: ignore[arg-type]
        here = dual.upper * rng.random(dual.shape)
        at = dual.evaluate(here)
        for _ in range(5):
            there = dual.upper * rng.random(dual.shape)
            assert dual.evaluate(there).value >= at.value + (at.gradient * (there - here)).sum() - 1e-8
        start = starting_multipliers(dual, np.zeros((3, 6), np.bool_))
        assert (start >= 0).all() and (start <= dual.upper).all()


@pytest.mark.parametrize("seed", range(10))
def test_equal_fetch_costs_make_both_duals_the_same(seed: int) -> None:
    """With f_{m←h} = f_m the pairwise dual at σ = (what peers save)·(1 − μ/Δ) is the requester-side one at μ."""
    instance = random_instance(np.random.default_rng(seed), n=6, workers=3)
    fetch = np.repeat(np.asarray(instance.fetch)[:, None], 3, axis=1)
    pairwise = pp.Instance(
        instance.tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=fetch,
        budgets=instance.budgets,
    )
    one, two = CoverageDual(instance, "exact"), CoverageDual(pairwise, "exact")
    share = np.random.default_rng(seed).random(6)
    peers = instance.demand * np.maximum(instance.recompute - np.asarray(instance.fetch), 0.0)
    assert two.evaluate((1 - share) * peers).value == pytest.approx(one.evaluate(share * one.upper).value)
