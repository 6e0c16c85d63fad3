"""Leave-one-out marginals of both objectives, fresh and after changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.objective import state as state_module
from tests.brute import Mask, random_instance


def random_closed(rng: np.random.Generator, tree: pp.PrefixTree) -> Mask:
    return tree.closure(np.flatnonzero(rng.random(tree.n) < 0.25))


@given(st.integers(0, 100_000), st.sampled_from(["requester", "pairwise", "transfer"]))
def test_marginals_are_the_change_of_the_value(seed: int, kind: str) -> None:
    """p_m(b) summed over a set is exactly what F gains when m keeps that set instead of nothing."""
    rng = np.random.default_rng(seed)
    n, workers = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    instance = random_instance(rng, n=n, workers=workers, pairwise=kind == "pairwise")
    if kind == "transfer":
        rates = np.where(rng.random((workers, workers)) < 0.2, 0.0, rng.random((workers, workers)) * 1e10)
        instance = pp.Instance(
            instance.tree,
            demand=instance.demand,
            recompute=instance.recompute,
            fetch=pp.TransferModel(rng.random(n) * 4e6, rates, rng.random((workers, workers))),
            budgets=instance.budgets,
        )
    objective, tree = instance.objective, instance.tree
    mask = np.array([random_closed(rng, tree) for _ in range(workers)])
    state = objective.state(mask)
    for _ in range(6):
        worker = int(rng.integers(workers))
        without = state.mask.copy()
        without[worker] = False
        chosen = random_closed(rng, tree)
        with_chosen = without.copy()
        with_chosen[worker] = chosen
        gain = objective.value(with_chosen) - objective.value(without)
        assert state.marginals(worker)[chosen].sum() == pytest.approx(gain, rel=1e-9, abs=1e-6)
        state.replace(worker, chosen)
        assert np.array_equal(state.mask, with_chosen)
        assert state.value == pytest.approx(objective.value(with_chosen), rel=1e-12, abs=1e-9)
        fresh = objective.state(with_chosen)
        for m in range(workers):
            np.testing.assert_array_equal(state.marginals(m), fresh.marginals(m))


def test_a_worker_whose_marginals_cannot_have_moved_is_not_stale() -> None:
    instance = random_instance(np.random.default_rng(3), n=6, workers=3)
    state = instance.objective.state(np.zeros((3, 6), np.bool_))
    for m in range(3):
        assert state.is_stale(m)
        state.marginals(m)
    state.replace(1, instance.tree.closure([0, 1]))
    assert state.is_stale(0) and state.is_stale(2) and not state.is_stale(1)
    state.replace(1, state.mask[1].copy())
    state.marginals(0)
    assert not state.is_stale(0)


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    instance = random_instance(rng, n=40, workers=3, pairwise=True)
    mask = np.array([random_closed(rng, instance.tree) for _ in range(3)])
    whole = [instance.objective.state(mask).marginals(m).copy() for m in range(3)]
    monkeypatch.setattr(state_module, "BLOCK", 7)
    for m in range(3):
        assert np.array_equal(instance.objective.state(mask).marginals(m), whole[m])


@pytest.mark.parametrize("pairwise", [False, True])
def test_objectives_are_monotone_and_submodular(pairwise: bool) -> None:
    """Adding a pair never loses, and gains no more once other workers keep more."""
    rng = np.random.default_rng(11)
    for _ in range(200):
        instance = random_instance(rng, n=5, workers=3, pairwise=pairwise)
        value = instance.objective.value
        small = np.array([random_closed(rng, instance.tree) for _ in range(3)])
        large = small | np.array([random_closed(rng, instance.tree) for _ in range(3)])
        added = np.zeros_like(small)
        added[rng.integers(3), rng.integers(5)] = True
        gain_small, gain_large = value(small | added) - value(small), value(large | added) - value(large)
        assert gain_small >= gain_large - 1e-9 and gain_large >= -1e-9
