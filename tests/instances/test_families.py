"""Random families: shape, statistics, reproducibility, and what they refuse."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import instances
import prefixplace as pp
from instances.families import (
    MismatchedRag,
    MultiTurn,
    RagShaped,
    RandomValues,
    TwoGroupRag,
    UniformRecursive,
)
from instances.families.base import DEMAND_QUANTUM, ServedFamily, chain_blocks, zipf
from instances.families.recursive import recursive_parents
from prefixplace.costs import fetch_ms, model

NAMES = sorted(
    n for n in instances.FAMILIES if instances.FAMILIES[n].__module__.startswith("instances.families")
)


def fingerprint(instance: pp.Instance) -> str:
    """Hash of the numbers of an instance, independent of the library's own digest."""
    parts: list[Any] = [instance.tree.given_parents.tolist(), instance.budgets.tolist()]
    parts += [instance.demand.tolist(), instance.recompute.tolist()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_instance_and_other_seed_another(name: str) -> None:
    family = instances.build(name)
    first, again, other = family.sample(5), family.sample(5), family.sample(6)
    assert first.digest == again.digest
    assert first.meta == again.meta
    assert first.digest != other.digest
    assert first.name == f"{name}-5"
    json.dumps(first.meta)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rag-shaped", "b03d57c672b262b8"),
        ("mismatched-rag", "0d4965f527b6c7cb"),
        ("two-group-rag", "94e311223e28926b"),
        ("multi-turn", "fad60156e6412c45"),
        ("uniform-recursive", "d97c72b24893f3c4"),
        ("random-values", "863efc0beb07e5ef"),
    ],
)
def test_bytes_do_not_depend_on_version_or_machine(name: str, expected: str) -> None:
    assert fingerprint(instances.build(name).sample(0)) == expected


@pytest.mark.parametrize("name", [name for name in NAMES if name != "random-values"])
def test_demand_comes_from_requests(name: str) -> None:
    family = cast(ServedFamily, instances.build(name, {"sharing": "0.5"}))
    instance = family.sample(1)
    parent, demand = instance.tree.parent, instance.demand
    inner = parent >= 0
    assert np.all(demand[:, inner] <= demand[:, parent[inner]])
    np.testing.assert_array_equal(demand % DEMAND_QUANTUM, 0)
    assert demand[:, ~inner].sum() == pytest.approx(
        family.requests, abs=instance.num_chunks * instance.num_workers * DEMAND_QUANTUM
    )
    # Exact sums: no chunk has more or less demand than its children and the requests that end there.
    below = np.zeros_like(demand)
    for child in np.flatnonzero(inner):
        below[:, parent[child]] += demand[:, child]
    assert np.all(below <= demand)


def test_rag_shape() -> None:
    instance = RagShaped(system_chunks=2, documents=7, document_chunks=(3, 5), queries=4).sample(2)
    tree = instance.tree
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=tree.n)
    assert tree.parent[:2].tolist() == [-1, 0]
    heads = np.flatnonzero(tree.parent == 1)
    assert heads.size == 7
    for head in heads:
        length = 1
        while children[head] == 1:
            head += 1
            length += 1
        assert 3 <= length <= 5
        assert children[head] == 4
    assert np.count_nonzero(children == 0) == 28
    assert instance.tree.origin.tolist() == list(range(tree.n))


def test_rag_demand_is_zipf_over_documents_and_queries() -> None:
    instance = RagShaped(documents=9, queries=5, document_skew=0.9, query_skew=0.6).sample(0)
    tree, total = instance.tree, instance.demand.sum(0)
    document = total[tree.parent == 0]
    np.testing.assert_allclose(document[0] / document, np.arange(1, 10) ** 0.9, rtol=1e-6)
    last = np.flatnonzero(np.bincount(tree.parent[1:], minlength=tree.n) == 5)
    for node in last:
        query = total[tree.parent == node]
        np.testing.assert_allclose(query[0] / query, np.arange(1, 6) ** 0.6, rtol=1e-6)


def test_rag_without_system_prefix_or_queries() -> None:
    bare = RagShaped(system_chunks=0, documents=5, queries=0).sample(0)
    assert bare.tree.roots.size == 5
    assert np.bincount(bare.tree.parent[bare.tree.parent >= 0]).max() == 1
    assert bare.demand[:, bare.tree.roots].sum() == pytest.approx(10_000, abs=1e-3)


@pytest.mark.parametrize("sharing", [0.0, 0.25, 1.0])
def test_sharing_leaves_the_rest_at_one_home_per_document(sharing: float) -> None:
    instance = RagShaped(documents=300, queries=1, workers=4, sharing=sharing).sample(3)
    demand = instance.demand[:, instance.tree.parent == 0]
    share = np.sort(demand / demand.sum(0), axis=0)
    np.testing.assert_allclose(share[:3], sharing / 4, atol=1e-5)
    np.testing.assert_allclose(share[3], sharing / 4 + 1 - sharing, atol=1e-5)
    if sharing < 1:  # homes are uniform: 75 expected, standard deviation 7.5
        homes = np.bincount(demand.argmax(0), minlength=4)
        assert homes.sum() == 300
        assert np.all(np.abs(homes - 75) < 40)


def test_costs_follow_the_profiles_and_the_model() -> None:
    instance = RagShaped(workers=5, goodput_gbps=1.5, overhead_ms=2.0).sample(0)
    assert instance.workers == ("T4-0", "L4-0", "A100-0", "T4-1", "L4-1")
    depth = instance.tree.depth
    np.testing.assert_allclose(instance.recompute[1], 170.2 + 0.01 * 512 * depth)
    np.testing.assert_allclose(instance.recompute[2], 48.1 + 0.005 * 512 * depth)
    np.testing.assert_array_equal(instance.recompute[3], instance.recompute[0])
    assert not instance.pairwise
    assert isinstance(instance.fetch, np.ndarray)
    np.testing.assert_allclose(instance.fetch, fetch_ms(model("qwen2.5-7b").chunk_bytes(512), 1.5e9, 2.0))


def test_shorter_chunks_cost_in_proportion() -> None:
    long, short = (RagShaped(chunk_tokens=c, gpus=("L4",)).sample(0) for c in (512, 128))
    assert short.recompute[0, 0] == pytest.approx(long.recompute[0, 0] / 4, rel=0.02)
    assert isinstance(long.fetch, np.ndarray) and isinstance(short.fetch, np.ndarray)
    assert short.fetch[0, 0] == pytest.approx(long.fetch[0, 0] / 4)


def test_kernel_level_profiles_serve_a_family() -> None:
    family = RagShaped(
        gpus=("h100-sxm", "b200-sxm"), source="aiconfigurator", model="qwen3-32b", engine="vllm"
    )
    instance = family.sample(0)
    assert instance.recompute[0, 0] == pytest.approx(50.71, rel=0.01)
    assert instance.workers == ("h100-sxm-0", "b200-sxm-0", "h100-sxm-1")


def test_budgets() -> None:
    assert RagShaped(budget_fraction=0.1).budgets(600).tolist() == [60, 60, 60]
    assert RagShaped(budget_fraction=0.1).budgets(609).tolist() == [60, 60, 60]
    assert [RagShaped(budget_fraction=f).budgets(10)[0] for f in (0.0, 0.01, 0.3, 0.7, 1.0)] == [
        0,
        1,
        3,
        7,
        10,
    ]
    assert RagShaped(budget_chunks=(7,)).budgets(600).tolist() == [7, 7, 7]
    assert RagShaped(budget_chunks=(0, 5, 999)).sample(0).budgets.tolist() == [0, 5, 999]


def test_mismatch_pulls_popular_documents_to_shallow_branches() -> None:
    def slope(mismatch: float) -> float:
        rank = np.arange(22)
        lengths = [MismatchedRag(mismatch=mismatch).lengths(np.random.default_rng(s)) for s in range(60)]
        return float(np.mean([np.corrcoef(rank, length)[0, 1] for length in lengths]))

    levels = [slope(m) for m in (0.0, 0.5, 1.0)]
    assert abs(levels[0]) < 0.12  # 60 correlations of standard deviation 1/√21: standard error 0.03
    assert levels[0] + 0.2 < levels[1]
    assert levels[1] + 0.1 < levels[2]
    for mismatch, seed in product((0.0, 0.5, 1.0), range(5)):
        same = [MismatchedRag(mismatch=m).lengths(np.random.default_rng(seed)) for m in (0.0, mismatch)]
        assert sorted(same[0]) == sorted(same[1])  # paired: the same branches, other owners
    full = MismatchedRag(mismatch=1.0).lengths(np.random.default_rng(0))
    assert np.all(np.diff(full) >= 0)


def test_branch_lengths_are_uniform_among_those_with_the_given_total() -> None:
    family = MismatchedRag(documents=3, document_chunks=(1, 3), total_chunks=6, mismatch=1.0)
    drawn = Counter(tuple(family.lengths(np.random.default_rng(s)).tolist()) for s in range(4000))
    # Sorted, the 7 sequences of three lengths 1…3 with total 6 are (2, 2, 2) once and (1, 2, 3) six times.
    assert set(drawn) == {(2, 2, 2), (1, 2, 3)}
    assert drawn[2, 2, 2] / 4000 == pytest.approx(1 / 7, abs=0.028)  # five standard deviations


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 5), st.integers(0, 100), st.integers(0, 2**32))
@settings(max_examples=60)
def test_every_total_is_reached(documents: int, low: int, span: int, percent: int, seed: int) -> None:
    total = documents * low + documents * span * percent // 100
    family = MismatchedRag(documents=documents, document_chunks=(low, low + span), total_chunks=total)
    lengths = family.lengths(np.random.default_rng(seed))
    assert lengths.sum() == total
    assert lengths.min() >= low
    assert lengths.max() <= low + span
    assert family.sample(seed).num_chunks == 1 + total + 3 * documents


def test_two_groups_are_fast_inside_and_slow_between() -> None:
    instance = TwoGroupRag(goodput_between_gbps=1.0).sample(0)
    assert instance.pairwise
    assert isinstance(instance.fetch, pp.TransferModel)
    cost = np.stack([instance.fetch.holder_costs(h, slice(0, 1))[:, 0] for h in range(6)], axis=1)
    inside = np.arange(6)[:, None] // 3 == np.arange(6) // 3
    np.testing.assert_allclose(cost, np.where(inside, 23.488, 234.881), atol=1e-3)
    cut = TwoGroupRag(goodput_between_gbps=0.0, groups=3).sample(0).fetch
    assert isinstance(cut, pp.TransferModel)
    assert np.isinf(cut.holder_costs(0, slice(0, 1))[:, 0]).tolist() == [False, False, True, True, True, True]


def test_multi_turn_chains() -> None:
    whole = MultiTurn().sample(4)
    lengths = np.bincount(np.cumsum(whole.tree.parent < 0) - 1)
    assert lengths.size == 120
    assert set(lengths.tolist()) == set(range(3, 16))
    assert np.all(whole.tree.parent[whole.tree.parent >= 0] == np.flatnonzero(whole.tree.parent >= 0) - 1)
    total = whole.demand.sum(0)
    heads = whole.tree.roots
    np.testing.assert_allclose(total[heads[0]] / total[heads], np.arange(1, 121) ** 0.8, rtol=1e-5)
    np.testing.assert_array_equal(np.repeat(total[heads], lengths), total)
    growing = MultiTurn(growing=True).sample(4)
    np.testing.assert_array_equal(growing.tree.parent, whole.tree.parent)
    for head, length in zip(heads[:5], lengths[:5], strict=True):
        turns = growing.demand.sum(0)[head : head + length]
        np.testing.assert_allclose(turns, turns[0] * np.arange(length, 0, -1) / length, rtol=1e-5)
    shared = MultiTurn(system_chunks=2, growing=True).sample(4)
    assert shared.tree.roots.size == 1
    assert shared.demand[:, :2].sum(0).tolist() == pytest.approx([10_000, 10_000], abs=1e-2)


def test_recursive_forest_is_uniform() -> None:
    rng = np.random.default_rng(0)
    drawn = Counter(tuple(recursive_parents(3, rng).tolist()) for _ in range(6000))
    assert set(drawn) == set(product((-1,), (-1, 0), (-1, 0, 1)))
    for count in drawn.values():
        assert count / 6000 == pytest.approx(1 / 6, abs=0.025)  # five standard deviations
    assert instances.build("uniform-recursive", {"chunks": "1"}).sample().num_chunks == 1


def test_random_values_are_whole_and_in_range() -> None:
    instance = RandomValues(largest=3, chunks=200).sample(0)
    assert set(np.unique(instance.local_value)) == {0, 1, 2, 3}
    assert set(np.unique(instance.coverage_value)) == {0, 1, 2, 3}
    assert RandomValues(chunks=0).sample(0).num_chunks == 0


def test_a_million_chunks_are_drawn_at_once() -> None:
    instance = RagShaped(documents=66_000, workers=2, gpus=("L4",)).sample(0)
    assert instance.num_chunks == pytest.approx(990_000, rel=0.01)
    assert UniformRecursive(chunks=300_000, workers=1).sample(0).num_chunks == 300_000


def test_chain_blocks_against_a_loop() -> None:
    parents, start, block = chain_blocks(np.array([2, 1, 3]), 2, 1)
    expected, heads, blocks = [-1], [], [0]
    for b, length in enumerate((2, 1, 3)):
        heads.append(len(expected))
        for i in range(length):
            expected.append(0 if i == 0 else len(expected) - 1)
        last = len(expected) - 1
        expected += [last, last]
        blocks += [b] * (length + 2)
    assert parents.tolist() == expected
    assert start.tolist() == heads
    assert block.tolist() == blocks


def test_zipf() -> None:
    assert zipf(1, 5.0).tolist() == [1.0]
    assert zipf(4, 0.0).tolist() == [0.25] * 4
    np.testing.assert_allclose(zipf(3, 1.0), np.array([6, 3, 2]) / 11)


@pytest.mark.parametrize(
    ("family", "parameters", "message"),
    [
        (RagShaped, {"documents": 0}, "RagShaped: documents = 0 violates documents >= 1"),
        (
            RagShaped,
            {"document_chunks": (5, 4)},
            r"document_chunks = (5, 4) violates 1 <= document_chunks[0]",
        ),
        (RagShaped, {"document_chunks": (5,)}, "len(document_chunks) == 2"),
        (RagShaped, {"sharing": 1.01}, "sharing = 1.01 violates 0 <= sharing <= 1"),
        (RagShaped, {"query_skew": float("nan")}, "query_skew = nan violates"),
        (RagShaped, {"workers": 0}, "workers = 0 violates workers >= 1"),
        (RagShaped, {"gpus": ()}, "gpus = () violates len(gpus) >= 1"),
        (RagShaped, {"goodput_gbps": -1}, "goodput_gbps = -1 violates 0 <= goodput_gbps < inf"),
        (RagShaped, {"budget_fraction": 1.5}, "budget_fraction = 1.5 violates 0 <= budget_fraction <= 1"),
        (RagShaped, {"budget_chunks": (1, 2)}, "budget_chunks = (1, 2) violates len(budget_chunks)"),
        (RagShaped, {"budget_chunks": (-1,)}, "budget_chunks = (-1,) violates budget_chunks >= 0"),
        (RagShaped, {"requests": 0}, "requests = 0 violates 0 < requests <= 1e9"),
        (RagShaped, {"chunk_tokens": 0}, "chunk_tokens = 0 violates chunk_tokens >= 1"),
        (RagShaped, {"documents": 2.5}, "RagShaped: documents = 2.5 is no int"),
        (RagShaped, {"workers": True}, "workers = True is no int"),
        (RagShaped, {"gpus": "L4"}, "gpus = 'L4' is no tuple[str, ...]"),
        (RagShaped, {"sharing": "1"}, "sharing = '1' is no float"),
        (RandomValues, {"budget": None}, "budget = None is no int"),
        (MismatchedRag, {"mismatch": -0.1}, "mismatch = -0.1 violates 0 <= mismatch <= 1"),
        (MismatchedRag, {"total_chunks": 43}, "documents·document_chunks[0] <= total_chunks"),
        (TwoGroupRag, {"groups": 7}, "groups = 7 violates 1 <= groups <= workers"),
        (MultiTurn, {"session_chunks": (0, 3)}, "session_chunks = (0, 3) violates 1 <= session_chunks[0]"),
        (UniformRecursive, {"chunks": 0}, "chunks = 0 violates chunks >= 1"),
        (RandomValues, {"largest": -1}, "largest = -1 violates largest >= 0"),
    ],
)
def test_parameters_check_themselves(family: type, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(pp.InputError) as error:
        family(**parameters)
    assert message in str(error.value)
