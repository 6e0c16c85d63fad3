"""Bounds are bounds, at any multipliers, of every state: against enumeration of all placements."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from exact.branch_and_bound.coverage import CoverageDual
from exact.branch_and_bound.joint_dual import JointDual, JointPoint
from exact.branch_and_bound.problem import Problem, problem_of
from prefixplace.joint.prices import Pricing
from tests.brute import placements, random_instance


def best_by_state(problem: Problem, instance: pp.Instance, must: np.ndarray | None = None) -> np.ndarray:
    """Best grid value of a placement with each chunk in each state, shape (n, 2^M); −1 where there is none."""
    assert problem.table is not None
    best = np.full(problem.table.shape, -1, np.int64)
    for mask in placements(instance):
        holders = np.zeros(instance.num_chunks, np.int64)
        for i, m in enumerate(problem.workers):
            holders |= mask[m].astype(np.int64) << i
        if must is not None and (holders[must] == 0).any():
            continue
        value = problem.value(mask)
        at = np.arange(holders.size), holders
        best[at] = np.maximum(best[at], value)
    return best


@pytest.mark.parametrize("pairwise", [False, True])
def test_every_dual_bounds_every_state(pairwise: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        instance = random_instance(rng, n=int(rng.integers(1, 6)), workers=2, pairwise=pairwise)
        problem = problem_of(instance, 1 << 23)
        if not problem.workers.size:
            continue
        best = best_by_state(problem, instance)
        space = problem.all_states()
        top = int(problem.table.max()) if problem.table is not None else 0

        prices = rng.integers(0, top + 2, problem.workers.size)
        pricing = Pricing(space)
        total = pricing.bound(prices)
        assert total >= best.max()
        assert (pricing.through(total).reshape(best.shape) >= best)[best >= 0].all()

        dual = JointDual(problem, space, problem.twin)
        multipliers = dual.clean(rng.integers(0, top + 2, (problem.workers.size, instance.num_chunks)))
        bound, _, _ = dual.evaluate(multipliers, np.zeros(multipliers.shape))
        assert bound >= best.max()
        point = JointPoint(bound, multipliers, np.zeros(multipliers.shape), 0)
        assert (dual.state_bounds(point).reshape(best.shape) >= best)[best >= 0].all()


@pytest.mark.parametrize("exact", [True, False])
def test_the_coverage_dual_bounds_every_state(exact: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        instance = random_instance(rng, n=int(rng.integers(1, 6)), workers=2)
        problem = problem_of(instance, 1 << 23)
        if not problem.workers.size:
            continue
        assert problem.local is not None and problem.coverage is not None
        must = (
            rng.random(instance.num_chunks) < 0.3
        )  # chunks that somebody has to hold in every placement that counts
        best = best_by_state(problem, instance, must)
        if best.max() < 0:
            continue
        dual = CoverageDual(
            instance.tree.end,
            problem.local,
            problem.coverage,
            problem.budgets,
            problem.twin,
            np.zeros(problem.local.shape, np.int8),
            must,
            1000 if exact else 0,
        )
        assert dual.exact == exact
        start = rng.integers(0, problem.coverage + 1)
        point = dual.descend(start, np.zeros(dual.first.size, np.int64), floor=0, target=0, rounds=3)
        assert point.bound >= best.max()
        losses = dual.losses(point)
        space = problem.all_states()
        assert (point.bound - losses.of_states(space).reshape(best.shape) >= best)[best >= 0].all()
        room = point.bound - int(best.max()) + 1
        cheap = losses.cheap_space(problem, room)
        assert cheap is not None
        for c, chunk in enumerate(cheap.chunks):
            listed = set(cheap.holders[cheap.offset[c] : cheap.offset[c + 1]].tolist())
            assert set(np.flatnonzero(best[chunk] == best.max()).tolist()) <= listed


def test_descents_reach_the_compact_and_the_configuration_lp() -> None:
    """Two equal workers and four free chunks worth 1, one behind a chunk worth 0: LP 3.5, optimum 3."""
    tree = pp.PrefixTree.from_parents([-1, -1, -1, -1, 3])
    instance = pp.Instance.from_values(tree, local=np.zeros((2, 5)), coverage=[1, 1, 1, 0, 1], budgets=[2, 2])
    problem = problem_of(instance, 1 << 23)
    assert problem.coverage is not None and problem.local is not None
    dual = CoverageDual(
        tree.end, problem.local, problem.coverage, problem.budgets, problem.twin, np.zeros((2, 5), np.int8),
        np.zeros(5, bool), 1000,
    )  # fmt: skip
    point = dual.descend(
        problem.coverage // 2,
        np.zeros(1, np.int64),
        floor=0,
        target=problem.value(np.zeros((2, 5), bool)),
        rounds=500,
    )
    assert problem.grid.to_ms(point.bound) == pytest.approx(3.5, rel=0.02)
