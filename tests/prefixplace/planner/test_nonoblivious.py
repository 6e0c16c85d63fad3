"""Non-oblivious refinement: the potential's weights, its guarantee, the traps that it escapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.planner.nonoblivious import NonObliviousParams, potential_weights
from tests.brute import optimum, random_instance


def test_weights_follow_the_recurrence() -> None:
    weights = potential_weights(12)
    assert weights[:5] == pytest.approx([0, 0.6321, 0.8964, 1.057, 1.1709], abs=5e-5)
    for i in range(1, 12):
        assert weights[i + 1] == pytest.approx(
            (i + 1) * weights[i] - i * weights[i - 1] - 1 / math.e, rel=1e-6
        )
    long = potential_weights(500)
    assert (np.diff(long) > 0).all() and (np.diff(long, 2) < 0).all()


@pytest.mark.parametrize("pairwise", [False, True])
def test_guarantee(pairwise: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        instance = random_instance(rng, n=int(rng.integers(1, 5)), workers=3, pairwise=pairwise)
        value = pp.solve(instance, "non-oblivious").value
        best = optimum(instance)
        assert value is not None and (1 - 1 / math.e) * best <= value * (1 + 1e-9) <= best * (1 + 2e-9)


def tight(
    parents: list[int], coverage: list[float], local: dict[tuple[int, int], float], budgets: list[int]
) -> pp.Instance:
    tree = pp.PrefixTree.from_parents(parents)
    a = np.zeros((len(budgets), tree.n))
    for (worker, chunk), value in local.items():
        a[worker, chunk] = value
    return pp.Instance.from_values(
        tree, local=tree.to_preorder(a), coverage=tree.to_preorder(np.array(coverage)), budgets=budgets
    )


def test_it_escapes_the_tight_examples_of_greedy() -> None:
    half = tight([-1, -1, 1], [1.01, 0, 1], {(1, 1): 1e-3}, [2, 1])
    assert pp.solve(half, "refined").value == pytest.approx(1.011)
    assert pp.solve(half, "non-oblivious").value == pytest.approx(2.01)
    identical = tight([-1, 0, -1, -1, 3, 3], [0, 1, 1.01, 0, 1.01, 1], {}, [3, 3])
    assert pp.solve(identical, "refined").value == pytest.approx(3.02)
    assert pp.solve(identical, "non-oblivious").value == pytest.approx(4.02)


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(pp.InputError, match="tolerance"):
        NonObliviousParams(tolerance=-1.0)
    with pytest.raises(pp.InputError, match="sweeps"):
        NonObliviousParams(sweeps=0)
