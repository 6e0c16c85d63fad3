"""Structural families: their shapes, their popularity, and their extremes."""

from __future__ import annotations

import numpy as np
import pytest

import instances
import prefixplace as pp
from instances.families import AgentTraces, Caterpillar, DeepChain, Star, TenantPrompts, WikiQaLike
from instances.families.base import DEMAND_QUANTUM
from tests.instances.relaxations import compact_lp


def children(tree: pp.PrefixTree) -> np.ndarray:
    return np.bincount(tree.parent[tree.parent >= 0], minlength=tree.n)


def test_caterpillar_is_a_spine_with_legs() -> None:
    instance = Caterpillar(spine=6, legs=2).sample(1)
    tree = instance.tree
    count = children(tree)
    spine = np.flatnonzero(count)
    assert (tree.n, spine.size, tree.roots.size) == (18, 6, 1)
    assert tree.depth[spine].tolist() == list(range(6))
    assert count[spine].tolist() == [3, 3, 3, 3, 3, 2]
    leaves = np.flatnonzero(count == 0)
    assert instance.demand[:, leaves].sum() == pytest.approx(10_000, abs=1e-3)


def test_star_has_no_precedence_and_no_gap() -> None:
    instance = Star(chunks=9, workers=2, budget_chunks=(3,), gpus=("L4", "A100")).sample(2)
    assert (instance.tree.parent == -1).all()
    best = max(instance.objective.value(mask) for mask in every_placement(instance))
    assert compact_lp(instance) == pytest.approx(best, rel=1e-9)


def every_placement(instance: pp.Instance):
    from itertools import combinations, product

    for sets in product(*(combinations(range(9), 3) for _ in range(2))):
        mask = np.zeros((2, 9), bool)
        for m, chosen in enumerate(sets):
            mask[m, list(chosen)] = True
        yield mask


def test_deep_chains_are_left_at_exits_and_at_the_end() -> None:
    instance = DeepChain(chains=3, length=40, exits=2, popularity="uniform").sample(0)
    tree, total = instance.tree, instance.demand.sum(axis=0)
    assert (tree.roots.size, int(tree.depth.max())) == (3, 39)
    ends = tree.end[tree.roots] - 1
    assert total[tree.roots] == pytest.approx(10_000 / 3, abs=1e-3)
    assert (total[ends] >= 10_000 / 9 - 1e-3).all()
    drops = np.flatnonzero(np.diff(total) * (np.diff(tree.depth) == 1))
    assert 3 <= drops.size <= 6


def test_tenants_have_their_own_system_prompts() -> None:
    family = TenantPrompts(vendor_chunks=2, tenants=5, system_chunks=(3, 3), prompts=4, prompt_chunks=(2, 2))
    instance = family.sample(0)
    tree = instance.tree
    assert tree.n == 2 + 5 * (3 + 4 * 2)
    count = children(tree)
    assert sorted(count[count > 1].tolist()) == [4] * 5 + [5]
    tenant = np.flatnonzero(tree.parent == 1)
    share = instance.demand[:, tenant].sum(axis=0)
    np.testing.assert_allclose(share[0] / share, np.arange(1, 6) ** 0.9, rtol=1e-6)
    leaves = np.flatnonzero(count == 0)
    assert (tree.depth[leaves] == 2 + 3 + 2 - 1).all()
    assert TenantPrompts(tenants=7).sample(0).tree.roots.size == 7


def test_agents_reuse_privately_behind_a_shared_prefix() -> None:
    family = AgentTraces(
        tool_chunks=3, sessions=6, session_chunks=(8, 8), subagents=2, subagent_chunks=(2, 4), sharing=0.0
    )
    instance = family.sample(4)
    tree, demand = instance.tree, instance.demand
    assert (demand[:, 3:] > 0).sum(axis=0).max() == 1  # sticky: every private chunk has one worker
    assert (demand[:, 0] > 0).sum() > 1
    leaves = np.flatnonzero(children(tree) == 0)
    assert leaves.size in range(6 * 2, 6 * 3 + 1)
    sizes = [int(tree.end[r] - r) for r in np.flatnonzero(tree.parent == 2)]
    assert all(8 + 2 * 2 <= size <= 8 + 2 * 4 for size in sizes)


def test_wiki_qa_numbers_are_those_of_the_paper() -> None:
    instance = WikiQaLike().sample(0)
    tree = instance.tree
    assert (tree.n, instance.num_workers, tree.roots.size) == (9_917, 6, 2_811)
    assert instance.budgets.tolist() == [227] * 6
    leaves = children(tree) == 0
    assert leaves.sum() == 3_047
    np.testing.assert_allclose(instance.demand[:, leaves], 1.0, atol=DEMAND_QUANTUM)
    assert 227 * 36_864 * 128 < 2**30 < 228 * 36_864 * 128  # 1 GiB holds 227 chunks


@pytest.mark.parametrize("name", ["caterpillar", "star", "deep-chain", "tenant-prompts", "agent-traces"])
def test_popularity(name: str) -> None:
    size = {"chains": "40"} if name == "deep-chain" else {}
    total = {
        kind: np.sort(instances.build(name, {"popularity": kind, **size}).sample(3).demand.sum(axis=0))
        for kind in ("zipf", "uniform", "bursty")
    }
    spread = {kind: values[-len(values) // 4 :].sum() / values.sum() for kind, values in total.items()}
    assert spread["uniform"] < spread["zipf"]
    assert not np.array_equal(total["bursty"], total["zipf"])
    with pytest.raises(pp.InputError, match="popularity = 'normal' violates"):
        instances.build(name, {"popularity": "normal"})


def test_a_burst_is_tenfold() -> None:
    calm, burst = (
        Star(chunks=4000, popularity=p, skew=0.0).sample(0).demand.sum(axis=0) for p in ("uniform", "bursty")
    )
    assert np.ptp(calm) < 1e-4
    levels = np.unique(np.round(burst, 4))
    assert levels.size == 2
    assert levels[1] / levels[0] == pytest.approx(10, rel=1e-4)
    share = (burst > burst.min() * 2).mean()
    assert abs(share - 0.1) < 0.025  # 4,000 draws: five standard deviations


@pytest.mark.parametrize(
    "family",
    [
        Caterpillar(spine=100_000, legs=1),
        Star(chunks=200_000),
        DeepChain(chains=1, length=200_000),
        AgentTraces(sessions=2, session_chunks=(60_000, 80_000)),
        TenantPrompts(tenants=3_000, system_chunks=(5, 60)),
    ],
    ids=lambda f: f.family(),
)
def test_large_and_deep_forests(family: pp.Instance) -> None:
    instance = family.sample(0)
    tree = instance.tree
    inner = tree.parent >= 0
    assert tree.n >= 100_000
    assert (instance.demand[:, inner] <= instance.demand[:, tree.parent[inner]]).all()
    assert instance.demand[:, tree.roots].sum() == pytest.approx(10_000, abs=tree.n * 3 * DEMAND_QUANTUM)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("caterpillar", {"spine": "0"}, "spine = 0 violates spine >= 1"),
        ("star", {"chunks": "0"}, "chunks = 0 violates chunks >= 1"),
        ("deep-chain", {"exits": "-1"}, "exits = -1 violates exits >= 0"),
        ("tenant-prompts", {"system_chunks": "3,2"}, r"system_chunks = \(3, 2\) violates"),
        ("agent-traces", {"session_chunks": "3"}, r"violates len\(session_chunks\) == 2"),
        ("wiki-qa-like", {"documents": "9", "questions": "8"}, "documents = 9, questions = 8"),
        ("star", {"skew": "-1"}, "skew = -1.0 violates 0 <= skew < inf"),
    ],
)
def test_parameters_check_themselves(name: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        instances.build(name, settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("caterpillar", {"spine": "250000"}),
        ("star", {"chunks": "1000000"}),
        ("deep-chain", {"chains": "1", "length": "1000000"}),
        ("tenant-prompts", {"tenants": "60000"}),
        ("agent-traces", {"sessions": "33000"}),
        ("wiki-qa-like", {"documents": "280000", "questions": "300000", "total_chunks": "1000000"}),
        ("uniform-recursive", {"chunks": "1000000"}),
        ("planted-optimum", {"chunks": "1000000", "budget": "10000"}),
    ],
)
def test_a_million_chunks(name: str, size: dict[str, str]) -> None:
    instance = instances.build(name, size).sample(0)
    assert instance.num_chunks >= 990_000
    if "opt" in instance.meta:
        assert instance.value(instances.build(name, size).witness(0)) == instance.meta["opt"]
