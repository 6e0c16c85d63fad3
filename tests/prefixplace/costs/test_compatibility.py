"""Splitting a fleet into groups that can use each other's cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.costs import WorkerSpec, split_compatible, split_instance
from tests.brute import random_instance

BASE = WorkerSpec("w0", "L4", "qwen2.5-7b")


@pytest.mark.parametrize("field", ["model", "revision", "kv_dtype", "positional_encoding", "parallelism"])
def test_each_field_of_the_fingerprint_separates(field: str) -> None:
    workers = [BASE, replace(BASE, **{field: "other"}), replace(BASE, name="w2")]
    assert [group.tolist() for group in split_compatible(workers)] == [[0, 2], [1]]


def test_gpu_and_name_do_not_separate() -> None:
    assert [g.tolist() for g in split_compatible([BASE, replace(BASE, name="w1", gpu="A100")])] == [[0, 1]]
    assert split_compatible([]) == ()


@pytest.mark.parametrize("kind", ["requester", "matrix", "model"])
def test_values_of_the_groups_add_up_when_nothing_can_cross(kind: str) -> None:
    rng = np.random.default_rng(5)
    tree = pp.PrefixTree.from_parents([-1, 0, 0, -1, 3])
    demand, recompute = rng.integers(0, 9, (4, 5)), rng.integers(1, 50, (4, 5))
    group = np.array([0, 1, 0, 1])
    apart = group[:, None] != group
    goodput = np.where(apart, 0.0, 8e6)  # 1 byte takes 1 µs inside a group
    fetch: object = pp.TransferModel(np.arange(1.0, 6.0) * 1e4, goodput, 0.5)
    if kind == "matrix":
        model = pp.Instance(tree, demand=demand, recompute=recompute, fetch=fetch, budgets=[2] * 4).fetch
        fetch = np.stack([model.holder_costs(h, slice(None)) for h in range(4)], axis=1)  # type: ignore[union-attr]
    elif kind == "requester":
        fetch = rng.integers(1, 60, (4, 5))
    instance = pp.Instance(
        tree, demand=demand, recompute=recompute, fetch=fetch, budgets=[2, 1, 3, 2], name="x"
    )
    specs = [replace(BASE, name=f"w{m}", revision=str(g)) for m, g in enumerate(group)]
    parts = split_instance(instance, specs)
    assert [part.workers for part in parts] == [("worker-0", "worker-2"), ("worker-1", "worker-3")]
    assert [part.budgets.tolist() for part in parts] == [[2, 3], [1, 2]]
    sets = [[0], [3], [0, 1], [3, 4]]
    separate = sum(
        part.value(pp.Placement.from_sets(tree, [sets[m] for m in np.flatnonzero(group == g)]))
        for g, part in enumerate(parts)
    )
    if kind != "requester":
        assert separate == pytest.approx(instance.value(pp.Placement.from_sets(tree, sets)))
    else:  # requester-side costs know no holder: the joint value counts fetches across groups, the parts do not
        assert separate <= instance.value(pp.Placement.from_sets(tree, sets))


def test_compatible_workers_stay_one_instance() -> None:
    instance = random_instance(np.random.default_rng(0), n=5, workers=2)
    assert split_instance(instance, [BASE, BASE]) == (instance,)


def test_what_cannot_be_split() -> None:
    tree = pp.PrefixTree.from_parents([-1])
    valued = pp.Instance.from_values(tree, local=[[1], [2]], coverage=[3], budgets=[1, 1])
    with pytest.raises(pp.InputError, match="3 worker specifications for 2 workers"):
        split_instance(valued, [BASE] * 3)
    with pytest.raises(pp.InputError, match="cannot be split"):
        split_instance(valued, [BASE, replace(BASE, model="qwen2.5-3b")])
