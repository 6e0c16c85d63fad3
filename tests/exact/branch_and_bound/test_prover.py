"""The prover against enumeration, known values and adversarial shapes; its limits and what it reports."""

from __future__ import annotations

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.branch_and_bound.backend import prove
from instances.families.rag import RagShaped
from tests.exact.branch_and_bound.instances import SETTINGS, identical_workers, mixed
from tests.shared import case_names, expected_values, shared_dir


def assert_optimal(instance: pp.Instance, result: pp.Result, optimum: float) -> None:
    assert result.status == "optimal" and result.stop_reason == "finished", result
    assert result.value == pytest.approx(optimum, rel=1e-12, abs=1e-12)
    assert result.placement is not None
    instance.check(result.placement)


def compare_with_enumeration(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for index in range(count):
        instance = mixed(rng, index)
        optimum = exact.solve(instance, "brute-force").value
        assert optimum is not None
        params = SETTINGS[int(rng.integers(len(SETTINGS)))]
        assert_optimal(instance, exact.solve(instance, "branch-and-bound", params=params), optimum)


def test_equal_to_enumeration() -> None:
    compare_with_enumeration(seed=1, count=500)


@pytest.mark.slow
def test_equal_to_enumeration_on_twenty_thousand() -> None:
    compare_with_enumeration(seed=2, count=20_000)


@pytest.mark.parametrize("params", SETTINGS)
def test_identical_workers(params: object) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        instance = identical_workers(rng, 5, 3)
        optimum = exact.solve(instance, "brute-force").value
        assert optimum is not None
        assert_optimal(instance, exact.solve(instance, "branch-and-bound", params=params), optimum)


@pytest.mark.parametrize("name", case_names())
def test_known_cases(name: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{name}.json")
    result = exact.solve(instance, "branch-and-bound")
    assert result.status == "optimal" and result.stop_reason == "finished"
    assert result.value == pytest.approx(expected_values()[name]["opt"], rel=1e-9)


def values(parents: list[int], coverage: list[float], budgets: list[int]) -> pp.Instance:
    tree = pp.PrefixTree.from_parents(parents)
    local = np.zeros((len(budgets), tree.n))
    return pp.Instance.from_values(
        tree, local=local, coverage=tree.to_preorder(np.array(coverage)), budgets=budgets
    )


@pytest.mark.parametrize(
    ("instance", "optimum"),
    [
        (values([], [], [3, 2]), 0.0),
        (values([-1, 0], [1, 2], [0, 0]), 0.0),
        (values([-1, 0, -1], [0, 0, 0], [1, 2]), 0.0),
        (values([-1, 0, -1], [1, 2, 4], [9, 0]), 7.0),
        (values([-1] * 6, [1] * 6, [2, 2]), 4.0),
        (values([-1, *range(29)], [0.0] * 29 + [5.0], [30, 29]), 5.0),
        (values([-1, *range(29)], [0.0] * 29 + [5.0], [29, 29]), 0.0),
        (values([-1, 0, -1], [1e12, 1e-3, 1e9], [2, 1]), 1e12 + 1e9 + 1e-3),
    ],
    ids=[
        "empty",
        "zero budgets",
        "all zero",
        "budget above n",
        "ties",
        "chain fits",
        "chain too long",
        "scales",
    ],
)
def test_adversarial(instance: pp.Instance, optimum: float) -> None:
    assert_optimal(instance, exact.solve(instance, "branch-and-bound"), optimum)


def test_a_chain_and_a_star_of_twenty_thousand() -> None:
    n = 20_000
    for parents in ([-1, *range(n - 1)], [-1] * n):
        rng = np.random.default_rng(4)
        tree = pp.PrefixTree.from_parents(parents)
        instance = pp.Instance.from_values(
            tree, local=rng.integers(0, 3, (2, n)), coverage=rng.integers(0, 3, n), budgets=[40, 25]
        )
        result = exact.solve(instance, "branch-and-bound", budget=pp.Budget(seconds=60))
        plan = pp.solve(instance, "prefixplace")
        assert result.status == "optimal" and result.value is not None and plan.value is not None
        assert result.value >= plan.value


def test_limits_leave_a_plan_and_a_valid_bound() -> None:
    instance = RagShaped(workers=4, documents=12, sharing=0.5).sample(1)
    optimum = exact.solve(instance, "branch-and-bound")
    assert optimum.value is not None and optimum.status == "optimal"
    for params in SETTINGS[1:]:
        for nodes in (0, 1, 2, 5):
            result = exact.solve(instance, "branch-and-bound", budget=pp.Budget(nodes=nodes), params=params)
            assert result.stop_reason in ("nodes", "finished")
            assert result.value is not None and result.bound is not None
            assert result.value <= optimum.value * (1 + 1e-12) <= result.bound * (1 + 2e-12)
    early = exact.solve(instance, "branch-and-bound", budget=pp.Budget(seconds=0.0))
    assert early.stop_reason == "time"


def test_a_gap_asked_for_ends_the_search() -> None:
    instance = RagShaped(workers=4, documents=12, sharing=0.5).sample(2)
    result = exact.solve(instance, "branch-and-bound", budget=pp.Budget(gap=0.5), params=SETTINGS[1])
    assert result.stop_reason == "finished" and result.gap is not None and result.gap <= 0.5


def test_progress_is_monotone_and_interruption_keeps_what_is_known() -> None:
    instance = RagShaped(workers=4, documents=12, sharing=0.5).sample(3)
    seen: list[pp.Progress] = []
    result = exact.solve(instance, "branch-and-bound", progress=seen.append)
    known = [p.value for p in seen if p.value is not None]
    assert known == sorted(known) and result.value == known[-1]

    def interrupt(progress: pp.Progress) -> None:
        if progress.value is not None and progress.value > 0:
            raise KeyboardInterrupt

    stopped = exact.solve(instance, "branch-and-bound", progress=interrupt)
    assert stopped.stop_reason == "user" and stopped.value is not None and stopped.value > 0


def test_the_same_twice() -> None:
    instance = RagShaped(workers=5, documents=10, sharing=0.5).sample(4)
    first, second = (exact.solve(instance, "branch-and-bound") for _ in range(2))
    assert first.counters == second.counters and first.value == second.value
    assert first.placement is not None and second.placement is not None
    assert np.array_equal(first.placement.mask, second.placement.mask)


def test_what_it_refuses() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    holders = 25
    pairwise = pp.Instance(
        tree,
        demand=np.ones((holders, 2)),
        recompute=np.ones((holders, 2)),
        fetch=np.zeros((holders, holders, 2)),
        budgets=[1] * holders,
    )
    with pytest.raises(pp.InputError, match="holder sets"):
        exact.solve(pairwise, "branch-and-bound")
    with pytest.raises(pp.InputError, match="holder sets"):
        prove(pairwise)


def test_many_workers_without_a_table_of_states() -> None:
    instance = RagShaped(workers=26, documents=6, sharing=0.5).sample(5)
    result = exact.solve(instance, "branch-and-bound", budget=pp.Budget(seconds=5))
    assert result.value is not None and result.bound is not None and result.gap is not None
    assert result.gap < 0.02
