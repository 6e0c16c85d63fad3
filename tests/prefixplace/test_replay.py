"""Replay against a literal loop over requests and chunks, and against both objectives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace._replay import replay, requests_of_demand
from prefixplace.demand import Requests

KINDS = ("requester-side", "pairwise", "links")


def random_case(seed: int, kind: str) -> tuple[pp.Instance, pp.Placement, Requests]:
    """Random forest, requests with weights, costs with ties, zeros and infinities, and a random placement."""
    rng = np.random.default_rng(seed)
    n, workers, count = int(rng.integers(1, 30)), int(rng.integers(1, 5)), int(rng.integers(0, 60))
    tree = pp.PrefixTree.from_parents([int(rng.integers(-1, i)) for i in range(n)])
    weight = None if seed % 2 else rng.integers(0, 5, count).astype(float)
    requests = Requests(tree, rng.integers(0, n, count), weight=weight).routed(
        rng.integers(0, workers, count), workers
    )
    recompute = rng.integers(0, 9, (workers, n)) * rng.choice([1.0, 0.37])
    fetch: np.ndarray | pp.TransferModel
    if kind == "requester-side":
        fetch = np.where(rng.random((workers, n)) < 0.2, np.inf, rng.integers(0, 9, (workers, n)))
    elif kind == "pairwise":
        shape = (workers, workers, n)
        fetch = np.where(rng.random(shape) < 0.2, np.inf, rng.integers(0, 9, shape))
    else:
        links = rng.choice([0.0, 1e9, 3e9, 10e9], (workers, workers))
        fetch = pp.TransferModel(rng.integers(0, 3_000_000, n), links, rng.random((workers, workers)))
    budgets = rng.integers(0, n + 3, workers)
    instance = pp.Instance(tree, demand=requests.demand(), recompute=recompute, fetch=fetch, budgets=budgets)
    mask = np.zeros((workers, n), bool)
    for m in range(workers):
        for v in range(n):  # preorder: a parent is decided before its children
            allowed = tree.parent[v] < 0 or mask[m, tree.parent[v]]
            mask[m, v] = allowed and mask[m].sum() < budgets[m] and rng.random() < 0.6
    return instance, pp.Placement(tree, mask), requests


def literal(instance: pp.Instance, placement: pp.Placement, requests: Requests) -> dict[str, float]:
    """The definition, one Python number at a time."""
    kept = [set(s.tolist()) for s in placement.sets()]
    paid = full = 0.0
    counts = {"local": 0.0, "fetched": 0.0, "recomputed": 0.0}
    assert requests.worker is not None
    for r in range(len(requests)):
        m, weight = int(requests.worker[r]), float(requests.weights[r])
        for b in requests.path(r).tolist():
            w = float(instance.recompute[m, b])
            full += weight * w
            peers = []
            for h in range(instance.num_workers):
                if h == m or b not in kept[h]:
                    continue
                if isinstance(instance.fetch, pp.TransferModel):
                    peers.append(float(instance.fetch.holder_costs(h, np.array([b]))[m, 0]))
                elif instance.fetch.ndim == 3:
                    peers.append(float(instance.fetch[m, h, b]))
                else:
                    peers.append(float(instance.fetch[m, b]))
            if b in kept[m]:
                counts["local"] += weight
            elif min(peers, default=np.inf) < w:
                paid += weight * min(peers)
                counts["fetched"] += weight
            else:
                paid += weight * w
                counts["recomputed"] += weight
    return {"paid": paid, "recompute_all": full, **counts}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_equals_the_literal_loop_and_the_objective(kind: str, seed: int) -> None:
    instance, placement, requests = random_case(seed, kind)
    served = replay(instance, placement, requests)
    for name, expected in literal(instance, placement, requests).items():
        assert np.sum(getattr(served, name)) == pytest.approx(expected, rel=1e-12, abs=1e-12), name
    assert served.saved == pytest.approx(instance.value(placement), rel=1e-9, abs=1e-9)
    assert served.paid_by_worker.sum() == pytest.approx(served.paid)


def test_blocks_do_not_change_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(8, "pairwise")
    whole = replay(*case).to_dict()
    monkeypatch.setattr("prefixplace._replay.BLOCK", 7)
    parts = replay(*case).to_dict()
    assert whole["requests"] > 7
    for name, value in whole.items():
        assert parts[name] == pytest.approx(value, rel=1e-12), name


def test_the_function_is_not_hidden_by_its_module() -> None:
    assert callable(pp.replay) and pp.replay is replay


def test_by_hand() -> None:
    """A chain 0 → 1; worker 0 keeps chunk 0 and asks for both chunks once, worker 1 asks for them twice."""
    tree = pp.PrefixTree.from_parents([-1, 0])
    requests = Requests(tree, np.array([1, 1, 1])).routed([0, 1, 1], 2)
    instance = pp.Instance(
        tree, demand=requests.demand(), recompute=[[10, 20], [10, 20]], fetch=[[4, 5], [4, 5]], budgets=[1, 0]
    )
    served = replay(instance, pp.Placement(tree, [[1, 0], [0, 0]]), requests)
    assert served.recompute_all == 3 * 30
    assert served.paid_by_worker.tolist() == [20, 2 * (4 + 20)]
    assert served.local.tolist() == [1, 0]
    assert served.fetched.tolist() == [0, 2]
    assert served.recomputed.tolist() == [1, 2]
    assert served.saved == 22 == instance.value(pp.Placement(tree, [[1, 0], [0, 0]]))
    assert served.hit_rate == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_requests_of_demand_make_that_demand(kind: str) -> None:
    for seed in range(20):
        instance, placement, _ = random_case(seed, kind)
        requests = requests_of_demand(instance)
        np.testing.assert_allclose(requests.demand(), instance.demand, rtol=1e-9)
        served = replay(instance, placement, requests)
        assert served.saved == pytest.approx(instance.value(placement), rel=1e-9, abs=1e-9)


def test_a_demand_that_no_requests_make_is_refused() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    instance = pp.Instance(
        tree, demand=[[1, 2]], recompute=[[1, 1]], fetch=[[1, 1]], budgets=[1], workers=["gpu"]
    )
    with pytest.raises(pp.InputError, match=r"worker 0 \(gpu\) wants the children of chunk 0 more often"):
        requests_of_demand(instance)
    values = pp.Instance.from_values(tree, local=[[1, 1]], coverage=[0, 0], budgets=[1])
    with pytest.raises(pp.InputError, match="no demand"):
        requests_of_demand(values)


def test_no_requests_cost_nothing() -> None:
    tree = pp.PrefixTree.from_parents([-1])
    instance = pp.Instance(tree, demand=[[0]], recompute=[[1]], fetch=[[1]], budgets=[1])
    served = replay(instance, pp.Placement.empty(tree, 1), Requests(tree, np.zeros(0, int)).routed([], 1))
    assert (served.requests, served.paid, served.saved, served.hit_rate) == (0, 0, 0, 0)


def test_deep_chain() -> None:
    n = 200_000
    tree = pp.PrefixTree.from_parents(np.arange(-1, n - 1))
    requests = Requests(tree, np.array([n - 1, n // 2])).routed([0, 0], 1)
    ones = np.ones((1, n))
    instance = pp.Instance(tree, demand=requests.demand(), recompute=ones, fetch=ones, budgets=[1000])
    placement = pp.Placement(tree, (np.arange(n) < 1000)[None])
    assert replay(instance, placement, requests).saved == 2000 == instance.value(placement)


def test_bad_requests_are_named() -> None:
    instance, placement, requests = random_case(8, "pairwise")
    other = pp.PrefixTree.from_parents([-1] * (instance.num_chunks + 1))
    with pytest.raises(pp.InputError, match="another tree"):
        replay(instance, placement, Requests(other, np.array([0])).routed([0], instance.num_workers))
    with pytest.raises(pp.InputError, match="no workers yet"):
        replay(instance, placement, Requests(instance.tree, np.array([0])))
    with pytest.raises(pp.InputError, match="routed over"):
        replay(instance, placement, requests.routed(requests.worker, instance.num_workers + 1))
