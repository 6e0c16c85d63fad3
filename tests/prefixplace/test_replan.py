"""Replanning: the migration cost copy by copy, and the rule that follows from it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from tests.brute import fetch_cost, random_instance


def random_placement(instance: pp.Instance, rng: np.random.Generator) -> pp.Placement:
    """A random feasible placement: the oracle's answer to random profits."""
    mask = [
        pp.best_closed_set(instance.tree, rng.normal(size=instance.num_chunks), int(k)).mask
        for k in instance.budgets
    ]
    return pp.Placement(instance.tree, mask)


@given(st.integers(0, 100_000), st.booleans())
def test_migration_pays_each_new_copy_once_from_what_the_incumbent_holds(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=6, workers=3, pairwise=pairwise)
    old, new = random_placement(instance, rng), random_placement(instance, rng)
    cost, fetched, recomputed = 0.0, 0, 0
    for m in range(3):
        for b in range(6):
            if new.mask[m, b] and not old.mask[m, b]:
                offers = [fetch_cost(instance, m, h, b) for h in range(3) if h != m and old.mask[h, b]]
                best = min(offers, default=math.inf)
                cost += min(best, instance.recompute[m, b])
                fetched += best < instance.recompute[m, b]
                recomputed += best >= instance.recompute[m, b]
    horizon = float(rng.integers(0, 20))
    decision = pp.replan(instance, old, new, horizon=horizon)
    assert decision.migration_cost == pytest.approx(cost, rel=1e-12, abs=1e-12)
    assert (decision.fetched, decision.recomputed) == (fetched, recomputed)
    gain = instance.value(new) - instance.value(old)
    assert decision.adopt == (decision.net_saving > 0) == (horizon * gain > decision.migration_cost)
    if gain > 0:
        later = pp.replan(instance, old, new, horizon=decision.break_even * 1.001 + 1e-9)
        sooner = pp.replan(instance, old, new, horizon=decision.break_even * 0.999)
        assert later.adopt and not sooner.adopt
    else:
        assert decision.break_even == math.inf and not decision.adopt
    json.dumps(decision.to_dict(), allow_nan=False)


def test_keeping_everything_costs_nothing_and_is_not_adopted() -> None:
    instance = random_instance(np.random.default_rng(1), n=6, workers=2)
    plan = random_placement(instance, np.random.default_rng(2))
    decision = pp.replan(instance, plan, plan, horizon=100)
    assert decision.migration_cost == 0 and not decision.adopt and decision.dropped == 0


def test_the_candidate_is_planned_from_the_incumbent_when_left_out() -> None:
    instance = random_instance(np.random.default_rng(3), n=8, workers=3)
    plan = pp.Placement.empty(instance.tree, 3)
    decision = pp.replan(instance, plan, horizon=1e9)
    assert decision.candidate_value == pp.solve(instance).value and decision.adopt


@pytest.mark.parametrize("horizon", [-1.0, math.nan, math.inf])
def test_wrong_horizons(horizon: float) -> None:
    instance = random_instance(np.random.default_rng(3), n=4, workers=2)
    with pytest.raises(pp.InputError, match="horizon is"):
        pp.replan(instance, pp.Placement.empty(instance.tree, 2), horizon=horizon)
