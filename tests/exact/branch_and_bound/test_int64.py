"""No dual wraps around: at any multipliers its int64 value is a bound, and losses are not overstated."""

from __future__ import annotations

import numpy as np
import pytest

from exact.branch_and_bound._pairs import _best_price, pair_losses
from exact.branch_and_bound.coverage import CoverageDual
from exact.branch_and_bound.joint_dual import JointDual, JointPoint
from exact.branch_and_bound.problem import problem_of
from prefixplace.joint.enumeration import enumerate_space
from prefixplace.joint.prices import Pricing
from prefixplace.joint.states import FAR
from tests.brute import random_instance
from tests.exact.branch_and_bound.test_duals import best_by_state

HUGE = (1, 1 << 20, 1 << 40, 1 << 57, (1 << 60) - 1)


def lagrangian(profit: list[int], budget: int, price: int) -> int:
    """λ·budget + best closed set at profit − λ, all chunks being roots, in Python's integers."""
    return price * budget + sum(max(p - price, 0) for p in profit)


def test_a_budget_price_whose_product_with_the_budget_leaves_int64() -> None:
    """One profit of 6·10¹⁴ and a budget of 20,000: their product wrapped to a bound of −6·10¹⁸ once."""
    n, budget = 40_000, 20_000
    profit = np.full(n, 10**6)
    profit[0] = 6 * 10**14
    stop = np.arange(1, n + 2)
    value, price, *_ = _best_price(stop, n, profit, budget, 0, np.empty(2 * n + 2, np.int64))
    exactly = profit.tolist()
    assert value == lagrangian(exactly, budget, int(price))
    assert value == min(lagrangian(exactly, budget, trial) for trial in (0, 999_999, 10**6, 6 * 10**14))
    assert value >= 6 * 10**14 + 19_999 * 10**6


def test_budget_prices_of_random_sizes_against_pythons_integers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        n = int(rng.integers(1, 30))
        profit = (2.0 ** rng.uniform(0, 55, n)).astype(np.int64)
        budget = int(rng.integers(0, n + 1))
        start = int(2.0 ** rng.uniform(0, 60))
        value, price, *_ = _best_price(
            np.arange(1, n + 2), n, profit, budget, start, np.empty(2 * n + 2, np.int64)
        )
        exactly = profit.tolist()
        if budget:
            assert value == lagrangian(exactly, budget, int(price))
        assert value >= sum(sorted(exactly)[n - budget :])


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("table_cells", [0, 1_000_000])
def test_the_coverage_dual_at_huge_multipliers(size: int, table_cells: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        instance = random_instance(rng, n=int(rng.integers(1, 6)), workers=3)
        problem = problem_of(instance, 1 << 23)
        if problem.local is None or problem.coverage is None or not problem.workers.size:
            continue
        must = rng.random(instance.num_chunks) < 0.5
        best = best_by_state(problem, instance, must)
        if best.max() < 0:
            continue
        dual = CoverageDual(
            instance.tree.end, problem.local, problem.coverage, problem.budgets, problem.twin,
            np.zeros(problem.local.shape, np.int8), must, table_cells,
        )  # fmt: skip
        start = np.where(must, rng.integers(0, size, must.size, endpoint=True), 0)
        prices = rng.integers(0, size, dual.first.size, endpoint=True)
        point = dual.descend(start, prices, floor=0, target=0, rounds=int(rng.integers(1, 4)))
        assert point.bound >= best.max()
        if point.bound < FAR // 2:
            through = point.bound - dual.losses(point).of_states(problem.all_states()).reshape(best.shape)
            assert (through >= best)[best >= 0].all()
            tightened = dual.losses(point).tightened(
                problem, dual.fix, must, point.bound - int(best.max()) + 1
            )
            assert tightened is not None


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("pairwise", [False, True])
def test_prices_and_joint_multipliers_of_any_size(size: int, pairwise: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        instance = random_instance(rng, n=int(rng.integers(1, 6)), workers=2, pairwise=pairwise)
        problem = problem_of(instance, 1 << 23)
        if not problem.workers.size:
            continue
        best, space = best_by_state(problem, instance), problem.all_states()
        pricing = Pricing(space)
        prices = rng.integers(0, size, problem.workers.size, endpoint=True)
        total = pricing.bound(prices)
        pricing.used()
        assert total >= best.max()
        assert (pricing.through(total).reshape(best.shape) >= best)[best >= 0].all()
        dual = JointDual(problem, space, problem.twin)
        multipliers = dual.clean(
            rng.integers(0, size, (problem.workers.size, instance.num_chunks), endpoint=True)
        )
        bound, _, _ = dual.evaluate(multipliers, np.zeros(multipliers.shape))
        assert bound >= best.max()
        point = JointPoint(bound, multipliers, np.zeros(multipliers.shape), 0)
        assert (dual.state_bounds(point).reshape(best.shape) >= best)[best >= 0].all()
        found = enumerate_space(
            space, [prices], np.zeros(problem.workers.size, np.bool_), int(best.max()) - 1, width=1_000,
            multipliers=multipliers,
        )  # fmt: skip
        assert found.value == best.max() or found.bound >= best.max()


def test_losses_along_a_chain_stop_growing_before_int64_does() -> None:
    """20,000 chunks at a price of 2⁴⁹ each add up to more than an int64 holds."""
    n = 20_000
    shape = 1, n
    entry, leave = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    pair_losses(
        np.full(n, n), np.zeros(shape, np.int8), np.ones(shape, np.int64), np.zeros(n, np.int64), np.array([n]),
        np.zeros(1, np.int64), False, np.array([1 << 49]), entry, leave,
    )  # fmt: skip
    assert entry[0, 0] == (1 << 49) - 1 and entry[0, 1] == 2 * ((1 << 49) - 1)
    assert (np.diff(entry[0]) >= 0).all() and entry[0, -1] == 1 << 60
    assert not leave.any()
