"""Rounding keeps what it promises."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.bounds import Bound
from exact.rounding import independent_rounding, oracle_rounding, rounding_factor
from tests.brute import random_instance


def choices(instance: pp.Instance, found: Bound) -> list[list[tuple[float, np.ndarray]]]:
    """The columns of every worker with their probabilities."""
    return [
        [
            (column.weight / len(column.workers), column.nodes)
            for column in found.columns
            if m in column.workers
        ]
        for m in range(instance.num_workers)
    ]


def expectation(instance: pp.Instance, columns: list[list[tuple[float, np.ndarray]]]) -> float:
    """E F of independent rounding, over all outcomes."""
    total = 0.0
    nothing = np.zeros(0, np.int64)
    outcomes = [[*own, (1.0 - sum(weight for weight, _ in own), nothing)] for own in columns]
    for choice in product(*outcomes):
        mask = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
        probability = 1.0
        for m, (weight, nodes) in enumerate(choice):
            mask[m, nodes] = True
            probability *= weight
        total += probability * instance.objective.value(mask)
    return total


@pytest.mark.parametrize("seed", range(40))
def test_expectation_and_derandomisation(seed: int) -> None:
    """LP·factor ≤ E(independent rounding) ≤ oracle rounding, in every order of the workers."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=5, workers=2 + seed % 2, pairwise=seed % 4 > 1)
    found = exact.bound(instance, "configuration-lp")
    assert found.weights is not None and found.master is not None
    columns = choices(instance, found)
    mean = expectation(instance, columns)
    factor = rounding_factor(instance, found.weights)
    workers = instance.num_workers
    assert 1 - (1 - 1 / workers) ** workers <= factor + 1e-12 <= 1 + 2e-12
    assert mean >= factor * found.master * (1 - 1e-8)
    for order in permutations(range(workers)):
        rounded = instance.value(oracle_rounding(instance, found.weights, order))
        assert rounded >= mean * (1 - 1e-8)


def test_draws_follow_the_weights() -> None:
    tree = pp.PrefixTree.from_parents([-1, -1, -1])
    instance = pp.Instance.from_values(tree, local=np.ones((1, 3)), coverage=np.ones(3), budgets=[1])
    columns = [[(0.5, np.array([0])), (0.25, np.array([2]))]]
    rng = np.random.default_rng(0)
    kept = np.mean([independent_rounding(instance, columns, rng).mask[0] for _ in range(4000)], axis=0)
    assert kept == pytest.approx([0.5, 0.0, 0.25], abs=0.03)


def test_hypercliques_have_the_factor_of_the_theorem() -> None:
    """Pairwise, four holders of one chunk each, two chunks, a requester for each pair: LP 12, optimum 10."""
    pairs = [(u, v) for u in range(4) for v in range(u)]
    fetch = np.full((10, 10, 2), np.inf)
    for requester, ends in enumerate(pairs):
        fetch[4 + requester, list(ends)] = 0.0
    demand = np.repeat([[0.0, 0.0], [1.0, 1.0]], [4, 6], axis=0)
    tree = pp.PrefixTree.from_parents([-1, -1])
    instance = pp.Instance(
        tree, demand=demand, recompute=np.ones((10, 2)), fetch=fetch, budgets=[1] * 4 + [0] * 6
    )
    found = exact.bound(instance, "configuration-lp")
    assert found.bound == pytest.approx(12)
    assert found.weights is not None
    assert instance.value(oracle_rounding(instance, found.weights)) == 10


def test_wrong_input() -> None:
    instance = random_instance(np.random.default_rng(0), n=4, workers=2)
    with pytest.raises(pp.InputError, match="order"):
        oracle_rounding(instance, np.zeros((2, 4)), [0, 0])
    with pytest.raises(pp.InputError, match="weights have shape"):
        oracle_rounding(instance, np.zeros((2, 5)))
