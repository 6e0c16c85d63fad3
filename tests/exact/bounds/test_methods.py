"""What every bound promises: stops at any time with something valid, repeats itself, touches nothing."""

from __future__ import annotations

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.bounds import (
    BudgetDualParams,
    CompactParams,
    ConfigurationParams,
    CoverageDualParams,
)
from prefixplace.stopping import Progress
from tests.brute import optimum, random_instance, random_parents

KINDS = tuple(exact.BOUNDS)


@pytest.fixture(scope="module", params=[False, True], ids=["requester-side", "pairwise"])
def instance(request: pytest.FixtureRequest) -> pp.Instance:
    return random_instance(np.random.default_rng(17), n=7, workers=3, pairwise=request.param)


@pytest.fixture(scope="module")
def best(instance: pp.Instance) -> float:
    return optimum(instance)


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_back(kind: str, instance: pp.Instance, best: float) -> None:
    found = exact.bound(instance, kind)
    assert found.kind == kind and found.proof == "float" and found.stop_reason == "finished"
    assert found.bound >= best * (1 - 1e-12)
    assert found.placement is not None and found.value == instance.value(found.placement) <= best * (
        1 + 1e-12
    )
    assert found.instance_digest == instance.digest
    bounds = [point.bound for point in found.history]
    seconds = [point.seconds for point in found.history]
    assert bounds == sorted(bounds, reverse=True) and seconds == sorted(seconds)
    assert found.bound == pytest.approx(bounds[-1], rel=1e-9)
    assert found.multipliers or kind == "trivial"
    for name, array in found.multipliers.items():
        shape = (3,) if name == "budget" else (3, 7) if instance.pairwise else (7,)
        assert array.shape == shape and (array >= 0).all()
    if found.weights is not None:
        assert found.weights.shape == (3, 7) and found.weights.min() >= 0 and found.weights.max() <= 1 + 1e-9
    document = found.to_dict()
    assert document["bound"] == found.bound and document["counters"]["iterations"] >= 1
    assert kind in repr(found)


@pytest.mark.parametrize("kind", ["configuration-lp", "budget-dual"])
def test_the_master_meets_the_bound(kind: str, instance: pp.Instance) -> None:
    found = exact.bound(instance, kind)
    if found.bound != found.value:  # else the run ended with the proof that nothing is left to find
        assert found.master == pytest.approx(found.bound, rel=1e-8)
    assert all(point.master is None or point.master <= found.bound * (1 + 1e-8) for point in found.history)


def test_columns_solve_the_configuration_lp(instance: pp.Instance) -> None:
    found = exact.bound(instance, "configuration-lp")
    weight = np.zeros(3)
    for column in found.columns:
        pp.Placement.from_sets(instance.tree, [column.nodes])  # closed
        assert column.nodes.size <= instance.budgets[list(column.workers)].min()
        weight[list(column.workers)] += column.weight / len(column.workers)
    assert (weight <= 1 + 1e-9).all()
    assert found.weights is not None
    total = sum(column.weight * column.nodes.size for column in found.columns)
    assert found.weights.sum() == pytest.approx(total)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [pp.Budget(seconds=0), pp.Budget(iterations=0), pp.Budget(iterations=3)])
def test_it_can_stop_at_any_time(kind: str, limit: pp.Budget, instance: pp.Instance, best: float) -> None:
    found = exact.bound(instance, kind, budget=limit)
    assert np.isfinite(found.bound) and found.bound >= best * (1 - 1e-12)
    if limit.iterations is not None and kind != "trivial":
        assert found.counters["iterations"] <= max(limit.iterations, 1)
        assert found.stop_reason in ("iterations", "finished")
    certificate = exact.certify(instance, pp.Placement.empty(instance.tree, 3), found)
    assert exact.verify(instance, certificate).ok


def test_a_gap_that_is_asked_for_ends_the_run(instance: pp.Instance) -> None:
    loose = exact.bound(instance, "coverage-dual", budget=pp.Budget(gap=0.9))
    tight = exact.bound(instance, "coverage-dual")
    assert loose.stop_reason == "finished"
    assert loose.gap is not None and loose.gap <= 0.9
    assert loose.counters["iterations"] <= tight.counters["iterations"]


@pytest.mark.parametrize("kind", ["coverage-dual", "configuration-lp", "budget-dual"])
def test_interrupts_keep_what_is_known(kind: str, instance: pp.Instance, best: float) -> None:
    seen: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    found = exact.bound(instance, kind, progress=interrupt, start=pp.Placement.empty(instance.tree, 3))
    assert found.stop_reason == "user" and len(seen) == 2
    assert found.bound == seen[1].bound >= best * (1 - 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_again_and_nothing_touched(kind: str, instance: pp.Instance) -> None:
    start = pp.solve(instance, "greedy").placement
    assert start is not None
    before = instance.digest, start.mask.copy()
    first, second = (exact.bound(instance, kind, start=start) for _ in range(2))
    assert (first.bound, first.value) == (second.bound, second.value)
    assert [(p.master, p.bound) for p in first.history] == [(p.master, p.bound) for p in second.history]
    for name, array in first.multipliers.items():
        assert np.array_equal(array, second.multipliers[name])
    assert before[0] == instance.digest and np.array_equal(before[1], start.mask)


@pytest.mark.parametrize("solver", ["simplex", "ipm", "pdlp"])
def test_every_lp_algorithm_gives_the_compact_lp(solver: str, instance: pp.Instance) -> None:
    found = exact.bound(instance, "compact-lp", params=CompactParams(solver))  # type: ignore[arg-type]
    truth = exact.bound(instance, "compact-lp").bound
    assert found.bound >= truth * (1 - 1e-9)
    assert found.bound == pytest.approx(truth, rel=1e-4 if solver == "pdlp" else 1e-6)


@pytest.mark.parametrize("pairwise", [False, True])
def test_both_oracles_of_the_coverage_dual_have_their_limits(pairwise: bool) -> None:
    for seed in range(10):
        instance = random_instance(np.random.default_rng(seed), n=7, workers=3, pairwise=pairwise)
        compact, configuration = (
            exact.bound(instance, kind).bound for kind in ("compact-lp", "configuration-lp")
        )
        for oracle, limit in (("price", compact), ("exact", configuration)):
            found = exact.bound(instance, "coverage-dual", params=CoverageDualParams(oracle=oracle))  # type: ignore[arg-type]
            assert found.bound >= limit * (1 - 1e-9)
            assert found.bound <= limit * 1.05 + 1e-9, seed


def test_pruned_columns_change_nothing() -> None:
    rng = np.random.default_rng(4)
    tree = pp.PrefixTree.from_parents(random_parents(rng, 60))
    instance = pp.Instance.from_values(
        tree, local=rng.random((4, 60)), coverage=4 * rng.random(60), budgets=[9, 8, 7, 6]
    )
    whole = exact.bound(instance, "configuration-lp")
    pruned = exact.bound(instance, "configuration-lp", params=ConfigurationParams(column_limit=1))
    assert pruned.bound == pytest.approx(whole.bound, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "case", ["no chunks", "no budget", "no value", "huge budget", "tiny values", "huge values", "one worker"]
)
def test_corners(kind: str, case: str) -> None:
    rng = np.random.default_rng(0)
    n, workers = 0 if case == "no chunks" else 6, 1 if case == "one worker" else 2
    tree = pp.PrefixTree.from_parents(random_parents(rng, n))
    scale = {"no value": 0.0, "tiny values": 1e-200, "huge values": 1e200}.get(case, 1.0)
    budget = {"no budget": 0, "huge budget": 2**61}.get(case, 2)
    instance = pp.Instance.from_values(
        tree,
        local=rng.random((workers, n)) * scale,
        coverage=rng.random(n) * scale,
        budgets=[budget] * workers,
    )
    best = optimum(instance)
    found = exact.bound(instance, kind)
    assert found.bound == pytest.approx(best, rel=1e-9) or found.bound >= best
    assert found.placement is not None
    checked = exact.verify(instance, exact.certify(instance, found.placement, found))
    assert checked.ok, checked.errors
    if case in ("no chunks", "no budget", "no value"):
        assert found.bound == 0 and checked.optimal
    if case in ("huge budget", "one worker") and kind not in ("compact-lp", "budget-dual", "trivial"):
        assert found.bound == pytest.approx(best)


@pytest.mark.parametrize("kind", ["trivial", "coverage-dual", "budget-dual"])
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_deep_and_wide_trees(kind: str, shape: str) -> None:
    n = 200_000
    tree = pp.PrefixTree.from_parents(
        np.arange(-1, n - 1) if shape == "chain" else np.r_[-1, np.zeros(n - 1, int)]
    )
    local = np.ones((2, n))
    instance = pp.Instance.from_values(tree, local=local, coverage=np.full(n, 2.0), budgets=[100, n + 7])
    start = pp.Placement.empty(tree, 2)
    found = exact.bound(instance, kind, start=start, budget=pp.Budget(iterations=2))
    # everything is kept once and a hundred chunks twice; 100 × 2 more where a copy may count as the first one
    assert 3 * n + 100 <= found.bound <= 3 * n + 300 if kind != "trivial" else found.bound >= 3 * n + 100
    assert found.value is not None and found.value <= 3 * n + 100


def test_wrong_calls(instance: pp.Instance) -> None:
    with pytest.raises(pp.InputError, match="unknown bound 'best'; known are trivial, compact-lp"):
        exact.bound(instance, "best")
    with pytest.raises(pp.InputError, match=r"'budget-dual' takes BudgetDualParams \(radius, tolerance\)"):
        exact.bound(instance, "budget-dual", params=CompactParams())
    stranger = random_instance(np.random.default_rng(0), n=7, workers=3)
    with pytest.raises(pp.InputError, match="another tree"):
        exact.bound(instance, start=pp.Placement.empty(stranger.tree, 3))
    for wrong in (
        lambda: CoverageDualParams(oracle="fast"),  # type: ignore[arg-type]
        lambda: CoverageDualParams(patience=0),
        lambda: CoverageDualParams(reduction=1.0),
        lambda: CoverageDualParams(smallest_step=0.0),
        lambda: CoverageDualParams(average=0.0),
        lambda: CompactParams("barrier"),  # type: ignore[arg-type]
        lambda: ConfigurationParams(warm_iterations=-1),
        lambda: ConfigurationParams(smoothing=1.0),
        lambda: ConfigurationParams(column_limit=0),
        lambda: ConfigurationParams(tolerance=0.0),
        lambda: BudgetDualParams(radius=0.0),
        lambda: BudgetDualParams(tolerance=-1.0),
    ):
        with pytest.raises(pp.InputError, match=r"is .*, (must|not)"):
            wrong()
