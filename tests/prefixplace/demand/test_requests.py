"""Requests as paths: the tree they span, the demand they make, windows and thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.demand import Requests, RoundRobin, path_demand, route

PATHS = st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=30)


def prefixes(path: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(path[: i + 1]) for i in range(len(path))]


def spelled(requests: Requests, node: int) -> tuple[object, ...]:
    """The ids from the root to a node."""
    assert requests.chunk_ids is not None
    ids = []
    while node >= 0:
        ids.append(requests.chunk_ids[node])
        node = int(requests.tree.parent[node])
    return tuple(ids[::-1])


@given(PATHS)
def test_tree_has_one_node_per_distinct_prefix(paths: list[list[int]]) -> None:
    requests = Requests.from_paths(paths)
    nodes = [spelled(requests, i) for i in range(requests.tree.n)]
    assert sorted(nodes) == sorted({p for path in paths for p in prefixes(path)})
    kept = [path for path in paths if path]
    assert [spelled(requests, int(leaf)) for leaf in requests.leaf] == [tuple(path) for path in kept]
    assert requests.lengths.tolist() == [len(path) for path in kept]
    assert requests.records.tolist() == [i for i, path in enumerate(paths) if path]


@given(PATHS, st.integers(1, 4))
def test_demand_counts_requests_by_prefix(paths: list[list[int]], workers: int) -> None:
    requests = route(Requests.from_paths(paths), RoundRobin(), workers)
    demand = requests.demand()
    expected = Counter((i % workers, p) for i, path in enumerate(paths) for p in prefixes(path))
    for m in range(workers):
        for node in range(requests.tree.n):
            assert demand[m, node] == expected[m, spelled(requests, node)]  # type: ignore[index]
    np.testing.assert_array_equal(requests.total_demand, demand.sum(0))


def test_same_id_after_different_prefixes_is_two_chunks() -> None:
    requests = Requests.from_paths([[1, 9], [2, 9], [1, 9]])
    assert requests.tree.n == 4
    assert requests.chunk_ids == (1, 9, 2, 9)
    assert requests.total_demand.tolist() == [2, 2, 1, 1]


def test_nodes_are_numbered_by_first_appearance() -> None:
    requests = Requests.from_paths([["a", "b"], ["c"], ["a", "d"]])
    assert requests.tree.given_parents.tolist() == [-1, 0, -1, 0]
    assert requests.path(2).tolist() == [0, 2]


@given(PATHS.filter(any), st.lists(st.floats(0, 1e6), min_size=30, max_size=30))
def test_weighted_demand_never_rises_along_a_path(paths: list[list[int]], weight: list[float]) -> None:
    requests = route(Requests.from_paths(paths, weight=weight[: len(paths)]), RoundRobin(), 2)
    demand, parent = requests.demand(), requests.tree.parent
    inner = parent >= 0
    assert np.all(demand[:, inner] <= demand[:, parent[inner]])
    assert demand[:, ~inner].sum() == pytest.approx(requests.weights.sum())


@given(PATHS.filter(any), st.integers(0, 5))
def test_pruning_keeps_exactly_the_wanted_chunks(paths: list[list[int]], least: int) -> None:
    requests = Requests.from_paths(paths)
    pruned = requests.pruned(least)
    wanted = [spelled(requests, i) for i in np.flatnonzero(requests.total_demand >= max(least, 1))]
    assert [spelled(pruned, i) for i in range(pruned.tree.n)] == wanted
    for record, leaf in zip(pruned.records, pruned.leaf, strict=True):
        longest = max((p for p in prefixes(paths[record]) if p in set(wanted)), key=len)
        assert spelled(pruned, int(leaf)) == longest
    cut = {i for i, path in enumerate(paths) if path and tuple(path[:1]) not in set(wanted)}
    assert set(pruned.records) == set(requests.records) - cut
    assert pruned.total_demand.tolist() == [
        requests.total_demand[i] for i in np.flatnonzero(requests.total_demand >= max(least, 1))
    ]


def test_windows_and_epochs_share_the_tree_and_keep_the_records() -> None:
    requests = Requests.from_paths(
        [[1], [1, 2], [3], [3, 4]], timestamp=[10, 12, 29.5, 31], session=[0, 1, 0, -1]
    )
    window = requests.window(12, 31)
    assert window.tree is requests.tree
    assert window.records.tolist() == [1, 2]
    assert window.session is not None and window.session.tolist() == [1, 0]
    epochs = requests.epochs(10)
    assert [e.records.tolist() for e in epochs] == [[0, 1], [2], [3]]
    assert [e.records.tolist() for e in requests.epochs(2)] == [
        [0],
        [1],
        [],
        [],
        [],
        [],
        [],
        [],
        [],
        [2],
        [3],
    ]
    assert sum(e.total_demand for e in epochs).tolist() == requests.total_demand.tolist()
    labelled = requests.window(29, 40).pruned()
    assert labelled.chunk_ids == (3, 4)
    assert labelled.tree.n == 2


def test_pruning_keeps_labels() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0, -1], ["a", "b", "c"])
    pruned = Requests(tree, np.array([1, 2, 2])).pruned(2)
    assert pruned.tree.labels == ("c",)
    assert pruned.leaf.tolist() == [0, 0]


def test_chain_of_200000_chunks_and_star_of_200000_roots() -> None:
    chain = route(Requests.from_paths([range(200_000), range(100_000)]), RoundRobin(), 2)
    demand = chain.demand()
    assert demand.sum(1).tolist() == [200_000, 100_000]
    assert chain.path(1).size == 100_000
    assert chain.pruned(2).tree.n == 100_000
    star = Requests.from_paths([[i] for i in range(200_000)])
    assert star.total_demand.max() == 1
    assert star.pruned(2).tree.n == 0


def test_no_requests() -> None:
    empty = Requests.from_paths([])
    assert (len(empty), empty.tree.n) == (0, 0)
    assert route(empty, RoundRobin(), 3).demand().shape == (3, 0)
    assert empty.pruned(1).tree.n == 0
    assert Requests.from_paths([], timestamp=[]).epochs(5) == ()


TREE = pp.PrefixTree.from_parents([-1, 0])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"leaf": [0, 2]}, "request 1 ends at 2, which is no chunk of 2"),
        ({"leaf": [0.5]}, "leaf of requests must be a one-dimensional array of numbers"),
        ({"leaf": [0, 1], "timestamp": [1]}, "timestamp has 1 entries for 2 requests"),
        ({"leaf": [0], "timestamp": [np.nan]}, "timestamp of request 0 is nan: must be finite"),
        ({"leaf": [0], "session": [0.5]}, "session of requests must be a one-dimensional array of numbers"),
        ({"leaf": [0], "weight": [-1]}, "weight of request 0 is -1.0"),
        ({"leaf": [0], "weight": [np.nan]}, "weight of request 0 is nan"),
        ({"leaf": [0], "chunk_ids": ["a"]}, "1 chunk ids for 2 chunks"),
        ({"leaf": [0], "worker": [3], "num_workers": 3}, "request 0 is routed to worker 3 of 3"),
    ],
)
def test_bad_requests_name_the_place(fields: dict[str, object], message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        Requests(TREE, **fields)  # type: ignore[arg-type]


def test_what_needs_timestamps_or_workers() -> None:
    requests = Requests(TREE, np.array([1]))
    for action in (lambda: requests.window(0, 1), lambda: requests.epochs(1)):
        with pytest.raises(pp.InputError, match="no timestamps"):
            action()
    with pytest.raises(pp.InputError, match="route them first"):
        requests.demand()
    stamped = Requests(TREE, np.array([1]), timestamp=np.array([1.0]))
    with pytest.raises(pp.InputError, match="violates start < end"):
        stamped.window(2, 2)
    with pytest.raises(pp.InputError, match="violate 0 < seconds"):
        stamped.epochs(0)
    with pytest.raises(pp.InputError, match="too short for a trace of 1 s"):
        Requests(TREE, np.array([0, 1]), timestamp=np.array([1.0, 2.0])).epochs(1e-300)
    with pytest.raises(pp.InputError, match="timestamp has 2 entries for 3 sequences"):
        Requests.from_paths([[1], [], [2]], timestamp=[1, 2])


def test_path_demand_checks_the_shape_and_copies() -> None:
    ending = np.array([[0.0, 1.0]])
    assert path_demand(TREE, ending).tolist() == [[1, 1]]
    assert ending.tolist() == [[0, 1]]
    with pytest.raises(pp.InputError, match=r"shape \(2,\), not \(M, 2\)"):
        path_demand(TREE, [1, 2])
