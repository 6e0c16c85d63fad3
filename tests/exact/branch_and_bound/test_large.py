"""What only many chunks need: the LP over a region, groups in it, several threads. Here on small instances."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

import exact
import exact.branch_and_bound.bounding as bounding
import exact.branch_and_bound.coverage as coverage
import exact.branch_and_bound.search as search
import prefixplace as pp
from exact.branch_and_bound.backend import prove, searched
from exact.branch_and_bound.bounding import Bounding
from exact.branch_and_bound.groups import GroupExchange, Region
from exact.branch_and_bound.parameters import Parameters
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import problem_of
from exact.branch_and_bound.relaxation import optimistic, relax
from exact.branch_and_bound.search import Search
from exact.interruptible import Interruptible
from prefixplace.joint.states import FREE, OUTSIDE
from tests.brute import random_instance
from tests.exact.branch_and_bound.instances import WITHOUT_STATES, stubborn

WEAK: tuple[tuple[ModuleType, str, object], ...] = (
    (search, "_MOST_DIVE", 0),  # every instance counts as large
    (search, "_CLOSE_GAP", 0.0),
    (coverage, "_MOST_AT_ONE", 1),  # no states before a single set is left
    (bounding, "_NODE_ROUNDS", 3),
    (bounding, "_LEAST_ROUNDS", 3),
    (bounding, "_PASSES", 1),
)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in WEAK:
        monkeypatch.setattr(module, name, value)


def instances(seed: int, count: int, **options: int) -> list[pp.Instance]:
    rng = np.random.default_rng(seed)
    return [random_instance(rng, whole=True, **options) for _ in range(count)]


def open_pairs(instance: pp.Instance) -> tuple[Bounding, np.ndarray]:
    problem = problem_of(instance, 0)
    fix = np.zeros((problem.workers.size, instance.num_chunks), np.int8)
    return Bounding(problem, Primal(problem, lambda mask: None), Parameters(), lambda: False), fix


def test_the_lp_over_all_pairs_is_the_compact_lp() -> None:
    equal = 0
    for instance in instances(1, 60, n=12, workers=3):
        made, fix = open_pairs(instance)
        problem = made.problem
        assert problem.coverage is not None
        zero = np.zeros_like(problem.coverage), np.zeros(problem.workers.size, np.int64)
        found = relax(problem, fix, *zero, None, lambda: False, lambda: False)
        assert found is not None
        # less where a chunk lies deeper than a budget: the prover has dropped it
        most = exact.bound(instance, "compact-lp").bound
        assert problem.grid.to_ms(found.value) <= most * (1 + 1e-6) + 1e-6
        if (instance.tree.depth.max() < instance.budgets).all():
            assert problem.grid.to_ms(found.value) == pytest.approx(most, rel=1e-6, abs=1e-6)
            equal += 1
        assert (found.weights.sum(axis=1) <= problem.budgets + 1e-6).all()
        dual = coverage.CoverageDual(
            instance.tree.end, problem.local, problem.coverage, problem.budgets, problem.twin, fix,
            np.zeros(instance.num_chunks, np.bool_), 0,
        )  # fmt: skip
        bound = dual.bound(found.multipliers, found.prices[dual.first], np.zeros(fix.shape))
        assert bound == pytest.approx(
            found.value, rel=1e-5, abs=10.0
        )  # strong duality, evaluated without the solver
    assert equal > 3


def test_a_region_is_closed_and_no_larger_than_asked() -> None:
    for instance in instances(2, 40, n=15, workers=3):
        made, fix = open_pairs(instance)
        root = search.root_of(made.problem)
        dual = made.coverage_dual(root)
        assert root.multipliers is not None
        point = dual.descend(root.multipliers, root.prices[dual.first], floor=0, target=0, rounds=5)
        losses = dual.losses(point)
        for most in (3, 10, fix.size):
            left = optimistic(made.problem, losses, fix, max(point.bound, 1), most)
            assert np.count_nonzero(left == FREE) <= most
            parent = np.array(instance.tree.parent)
            below = parent >= 0
            assert (left[:, below][left[:, parent[below]] == OUTSIDE] == OUTSIDE).all()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("threads", [1, 2])
def test_the_way_of_large_instances_ends_at_the_optimum(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = []
    original = Bounding.relax

    def relaxing(self: Bounding, *arguments: object) -> int | None:
        solved.append(original(self, *arguments))  # type: ignore[arg-type]
        return solved[-1]

    monkeypatch.setattr(Bounding, "relax", relaxing)
    few = replace(WITHOUT_STATES, coverage_rounds=8)
    for instance in stubborn(3, 60):
        result, certificate = prove(instance, params=few, threads=threads)
        assert result.value == pytest.approx(exact.solve(instance, "brute-force").value, rel=1e-12)
        assert certificate is not None, result.log
        checked = exact.verify(instance, certificate)
        assert checked.ok, checked.errors
        assert checked.gap is not None and checked.gap < 1e-11
    assert len(solved) > 5 and any(value is not None for value in solved)


def test_groups_in_a_region_never_lose_and_find_the_optimum() -> None:
    better = 0
    for instance in instances(4, 40, n=7, workers=3):
        made, fix = open_pairs(instance)
        primal = made.primal
        primal.improve(np.zeros_like(primal.mask))
        before = primal.value
        assert made.problem.coverage is not None
        region = Region(fix, made.problem.coverage // 2, np.zeros(fix.shape[0], np.int64))
        groups: GroupExchange = Search(made, lambda bound, line: None).groups
        if not groups.useful(region):
            continue
        groups.exhaust(lambda: True, region)
        assert primal.value >= before
        instance.check(pp.Placement(instance.tree, primal.mask))
        better += primal.value > before
        optimum = exact.solve(instance, "brute-force").value
        assert optimum is not None and made.problem.grid.to_ms(primal.value) <= optimum * (1 + 1e-12)
    assert better > 0


def test_a_region_without_pairs_still_holds_the_incumbent() -> None:
    (instance,) = instances(5, 1, n=10, workers=3)
    made, fix = open_pairs(instance)
    primal = made.primal
    primal.improve(np.zeros_like(primal.mask))
    before = primal.mask.copy()
    assert made.problem.coverage is not None
    region = Region(fix + OUTSIDE, made.problem.coverage * 0, np.zeros(fix.shape[0], np.int64))
    Search(made, lambda bound, line: None).groups.improve(region)
    assert (primal.mask == before).all()


def test_threads_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "_MANY_PAIRS", 0)
    for instance in instances(6, 20, n=20, workers=5):
        problem = problem_of(instance, 0)
        root = search.root_of(problem)
        points = []
        for threads in (1, 2, 9):
            dual = coverage.CoverageDual(
                instance.tree.end, problem.local, problem.coverage, problem.budgets, problem.twin, root.fix,
                root.must, 0, threads,
            )  # fmt: skip
            points.append(
                dual.descend(root.multipliers, root.prices[dual.first], floor=0, target=0, rounds=20)
            )
        assert len({point.bound for point in points}) == 1
        assert all((point.weights == points[0].weights).all() for point in points)


@pytest.mark.usefixtures("large")
def test_a_single_worker_makes_no_groups() -> None:
    for instance in instances(10, 10, n=8, workers=1):
        result, certificate = prove(instance, params=replace(WITHOUT_STATES, coverage_rounds=2))
        assert result.status == "optimal" and certificate is not None


@pytest.mark.usefixtures("large")
def test_a_limit_leaves_a_certificate_that_verifies() -> None:
    for instance in instances(7, 15, n=12, workers=4):
        result, certificate = prove(instance, params=WITHOUT_STATES, budget=pp.Budget(nodes=1))
        assert certificate is not None and exact.verify(instance, certificate).ok
        assert result.bound is not None and result.bound >= result.value


def test_a_limit_after_states_were_written_late_leaves_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budget prices of what fixing has left are none of the whole instance's, whose states are too many."""
    monkeypatch.setattr(Search, "_split", lambda self, node: self.bounding.check() or (node,))
    priced: list[object] = []
    original = Bounding.price

    def pricing(self: Bounding, node: search.Node) -> bool:
        priced.append(node)
        return original(self, node)

    monkeypatch.setattr(Bounding, "price", pricing)
    for instance in stubborn(11, 60):
        params = replace(WITHOUT_STATES, few_pairs=1000)
        _, certificate = prove(instance, params=params, budget=pp.Budget(nodes=1))
        assert certificate is not None and exact.verify(instance, certificate).ok
    assert priced


@pytest.mark.usefixtures("large")
def test_an_lp_without_an_answer_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "relax", lambda *arguments: None)
    for instance in instances(8, 10, n=7, workers=3):
        from exact.backend import Run

        outcome, made = searched(Run(instance, pp.Budget(), 1, None), WITHOUT_STATES)
        assert outcome.stop_reason == "finished"
        optimum = exact.solve(instance, "brute-force").value
        assert made.bounding.problem.grid.to_ms(made.bounding.primal.value) == pytest.approx(optimum)


def test_work_beside_a_solver_ends_with_it_and_its_exceptions_stop_it() -> None:
    process, calls = Interruptible(), []

    def beside() -> bool:
        calls.append(1)
        if len(calls) == 3:
            process.stopping.set()
        return len(calls) < 5

    assert process.call(lambda: process.stopping.wait(20), beside) is True
    assert len(calls) >= 3

    failing = Interruptible()

    def wrong() -> bool:
        raise ValueError("beside")

    with pytest.raises(ValueError, match="beside"):
        failing.call(lambda: failing.stopping.wait(20), wrong)
    assert failing.stopping.is_set()


def test_the_prover_takes_threads() -> None:
    (instance,) = instances(9, 1, n=12, workers=3)
    found = exact.solve(instance, "branch-and-bound", threads=2)
    assert found.status == "optimal" and found.value == exact.solve(instance, "branch-and-bound").value
