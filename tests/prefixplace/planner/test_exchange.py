"""Pair exchange: joint best responses against enumeration, and the instances it must repair."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.planner.exchange import ExchangeParams, PairExchange
from tests.brute import optimum, placements, random_instance


@pytest.mark.parametrize("pairwise", [False, True])
def test_two_workers_are_solved(pairwise: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        instance = random_instance(rng, n=int(rng.integers(1, 6)), workers=2, pairwise=pairwise)
        result = pp.solve(instance, "pair-exchange")
        assert result.value == pytest.approx(optimum(instance), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("pairwise", [False, True])
def test_the_answer_of_a_pair_is_the_best_one(pairwise: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(15):
        instance = random_instance(rng, n=4, workers=3, pairwise=pairwise, whole=True)
        start = pp.solve(instance, "greedy").placement
        assert start is not None
        pairs = PairExchange(instance, width=10_000)
        for first, second, third in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
            best = max(
                instance.objective.value(mask)
                for mask in placements(instance)
                if np.array_equal(mask[third], start.mask[third])
            )
            now = instance.objective.value(start.mask)
            better = pairs.improve(np.array(start.mask), first, second)
            if better is None:
                assert best == pytest.approx(now, rel=1e-12)
            else:
                assert np.array_equal(better[third], start.mask[third])
                instance.check(pp.Placement(instance.tree, better))
                assert instance.objective.value(better) == pytest.approx(best, rel=1e-12)
        assert pairs.unproven == 0


def xy_pool(pairs: int, epsilon: float = 1e-3) -> pp.Instance:
    """2t workers with budgets 3 and 2 in turn, t chains of 2 paying 1 + ε at the end and t chains of 3 paying 1."""
    parents: list[int] = []
    coverage: list[float] = []
    for length, value in [(2, 1 + epsilon)] * pairs + [(3, 1.0)] * pairs:
        first = len(parents)
        parents += [-1, *range(first, first + length - 1)]
        coverage += [0.0] * (length - 1) + [value]
    budgets = [3, 2] * pairs
    tree = pp.PrefixTree.from_parents(parents)
    return pp.Instance.from_values(
        tree,
        local=np.zeros((2 * pairs, tree.n)),
        coverage=tree.to_preorder(np.array(coverage)),
        budgets=budgets,
    )


def test_it_repairs_the_pool_that_every_order_misses() -> None:
    instance = xy_pool(4)
    best = 4 * 1.001 + 4
    assert (pp.solve(instance, "prefixplace").value or 0.0) < 0.95 * best
    assert pp.solve(instance, "pair-exchange").value == pytest.approx(best)


def test_a_start_is_never_lost_and_wrong_parameters_are_named() -> None:
    instance = xy_pool(2)
    start = pp.solve(instance, "independent").placement
    result = pp.solve(instance, "pair-exchange", start=start)
    assert start is not None and result.value is not None and result.value >= instance.value(start)
    with pytest.raises(pp.InputError, match="width"):
        ExchangeParams(width=0)
    with pytest.raises(pp.InputError, match="tolerance"):
        ExchangeParams(tolerance=-1.0)


def test_a_limit_keeps_what_was_found() -> None:
    result = pp.solve(xy_pool(4), "pair-exchange", budget=pp.Budget(iterations=12))
    assert result.stop_reason == "iterations" and result.value is not None and result.value > 0
