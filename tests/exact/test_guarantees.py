"""The audit says what is known, and notices what cannot be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.guarantees import curvature, is_local_optimum
from tests.brute import optimum, placements, random_instance


@pytest.mark.parametrize("seed", range(20))
def test_curvature_is_the_largest_loss_of_a_pair(seed: int) -> None:
    """From the definition on chunks without structure: 1 − F(all) − F(all but the pair), over F(the pair alone)."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=4, workers=2 + seed % 2, pairwise=seed % 4 > 1)
    everything = np.zeros((instance.num_workers, 4), np.bool_)
    everything[instance.budgets > 0] = True
    value = instance.objective.value
    worst = 0.0
    for m, b in product(range(instance.num_workers), range(4)):
        alone, without = np.zeros_like(everything), everything.copy()
        alone[m, b], without[m, b] = True, False
        if instance.budgets[m] and value(alone) > 0:
            worst = max(worst, 1 - (value(everything) - value(without)) / value(alone))
    assert curvature(instance) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_guarantees_hold_for_plans_that_they_are_about(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, n=5, workers=2 + seed % 2, pairwise=seed % 4 > 1)
    best = optimum(instance)
    plan = pp.solve(instance, "refined").placement
    assert plan is not None and is_local_optimum(instance, plan)
    bounds = [exact.bound(instance, kind) for kind in ("compact-lp", "configuration-lp", "budget-dual")]
    found = exact.audit(instance, plan, bounds, optimum=best)
    assert found.ok and found.value == instance.value(plan)
    assert found.value >= found.proven_ratio * best * (1 - 1e-9)
    for factor in found.factors:
        assert 0 < factor.factor <= 1
        if factor.applies:
            assert found.value >= factor.factor * best * (1 - 1e-9), factor
    assert {factor.name for factor in found.factors} >= {"1/2", "best of all orders", "LP rounding"}
    for (kind, bound, ratio), given in zip(found.ratios, bounds, strict=True):
        assert (kind, bound) == (given.kind, given.bound)
        assert ratio == (found.value / bound if bound else 1.0)
    assert "a posteriori" in str(found) and found.to_dict()["violations"] == []


def test_what_is_no_local_optimum_gets_no_factor() -> None:
    instance = random_instance(np.random.default_rng(2), n=5, workers=2)
    empty = pp.Placement.empty(instance.tree, 2)
    assert not is_local_optimum(instance, empty)
    found = exact.audit(instance, empty)
    assert all(not factor.applies for factor in found.factors)
    assert found.proven_ratio == 0.0
    best = pp.Placement(instance.tree, max(placements(instance), key=instance.objective.value))
    assert is_local_optimum(instance, best)


def test_factors_by_number_of_workers() -> None:
    for workers, factor in ((1, 1.0), (2, 2 / 3), (3, 7 / 12), (4, None)):
        instance = random_instance(np.random.default_rng(1), n=4, workers=workers)
        found = exact.audit(instance, pp.Placement.empty(instance.tree, workers))
        orders = [f.factor for f in found.factors if f.name == "best of all orders"]
        assert orders == ([] if factor is None else [factor])
        assert (curvature(instance) == 0.0) >= (workers == 1)


def test_contradictions_are_noticed() -> None:
    instance = random_instance(np.random.default_rng(3), n=5, workers=2)
    best = optimum(instance)
    plan = pp.Placement(instance.tree, max(placements(instance), key=instance.objective.value))
    compact, configuration = (exact.bound(instance, kind) for kind in ("compact-lp", "configuration-lp"))
    assert exact.audit(instance, plan, [compact, configuration], optimum=best).ok
    low = replace(compact, bound=0.9 * best)
    found = exact.audit(instance, plan, [low, configuration], optimum=best)
    assert not found.ok and len(found.violations) == 3
    assert "below the value" in found.violations[0] and "below the optimum" in found.violations[1]
    assert "the compact LP" in found.violations[2]
    assert "VIOLATED" in str(found)
    stopped = replace(configuration, bound=1.1 * compact.bound, stop_reason="time")
    assert exact.audit(instance, plan, [compact, stopped], optimum=best).ok
    assert not exact.audit(instance, plan, optimum=0.5 * best).ok
    other = random_instance(np.random.default_rng(9), n=5, workers=2)
    with pytest.raises(pp.InputError, match="another instance"):
        exact.audit(other, pp.Placement.empty(other.tree, 2), [compact])
