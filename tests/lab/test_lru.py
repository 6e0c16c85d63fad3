"""The LRU comparator against a literal queue of free blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.demand import Requests
from prefixplace.lab.lru import drawn_requests, lru_placement


def literal(paths: list[list[int]], budget: int) -> set[int]:
    """A cache as a list from oldest to newest: use a path, free it from its last block to its first, evict."""
    queue: list[int] = []
    for path in paths:
        queue = [block for block in queue if block not in path] + path[::-1]
        queue = queue[max(0, len(queue) - budget) :]
    return set(queue)


@given(st.integers(0, 2**32))
def test_equals_the_literal_queue(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, workers, count = int(rng.integers(1, 15)), int(rng.integers(1, 4)), int(rng.integers(0, 40))
    tree = pp.PrefixTree.from_parents([int(rng.integers(-1, i)) for i in range(n)])
    requests = Requests(tree, rng.integers(0, n, count)).routed(rng.integers(0, workers, count), workers)
    ones = np.ones((workers, n))
    budgets = rng.integers(0, n + 2, workers)
    instance = pp.Instance(tree, demand=ones, recompute=ones, fetch=ones, budgets=budgets)
    placement = lru_placement(instance, requests)
    instance.check(placement)
    assert requests.worker is not None
    for m in range(workers):
        paths = [requests.path(r).tolist() for r in range(count) if requests.worker[r] == m]
        assert set(placement.sets()[m].tolist()) == literal(paths, int(budgets[m]))


def test_drawn_requests_follow_the_demand() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0, 0])
    demand = np.array([[60.0, 30, 10], [40, 0, 40]])  # 20 requests of worker 0 end at chunk 0
    ones = np.ones((2, 3))
    instance = pp.Instance(tree, demand=demand, recompute=ones, fetch=ones, budgets=[1, 1])
    drawn = drawn_requests(instance, 20_000, seed=1)
    np.testing.assert_allclose(drawn.demand() / 200, demand, atol=2)
    again = drawn_requests(instance, 20_000, seed=1)
    assert np.array_equal(drawn.leaf, again.leaf)


def test_no_demand_draws_nothing() -> None:
    tree = pp.PrefixTree.from_parents([-1])
    instance = pp.Instance(tree, demand=[[0]], recompute=[[1]], fetch=[[1]], budgets=[1])
    assert len(drawn_requests(instance, 10, seed=0)) == 0
    assert lru_placement(instance, drawn_requests(instance, 10, seed=0)).sizes.tolist() == [0]


def test_routing_must_fit() -> None:
    tree = pp.PrefixTree.from_parents([-1])
    instance = pp.Instance(tree, demand=[[1]], recompute=[[1]], fetch=[[1]], budgets=[1])
    with pytest.raises(pp.InputError, match="routed over 1 workers"):
        lru_placement(instance, Requests(tree, np.array([0])))
