"""PrefixTree: preorder arrays, NetworkX, labels, and what it refuses."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from tests.brute import random_parents


@given(st.integers(0, 10_000), st.integers(0, 40))
def test_arrays_agree_with_walking_the_parents(seed: int, n: int) -> None:
    parents = random_parents(np.random.default_rng(seed), n)
    tree = pp.PrefixTree.from_parents(parents)
    assert sorted(tree.origin.tolist()) == list(range(n))
    assert np.array_equal(tree.position[tree.origin], np.arange(n))
    for i in range(n):
        given_parent = parents[tree.origin[i]]
        assert tree.parent[i] == (-1 if given_parent < 0 else tree.position[given_parent])
        assert tree.parent[i] < i
        ancestors, v = set(), i
        while v >= 0:
            ancestors.add(v)
            v = int(tree.parent[v])
        assert tree.depth[i] == len(ancestors) - 1
        inside = {j for j in range(n) if i in _path(tree, j)}
        assert inside == set(range(i, tree.end[i]))
    assert tree.given_parents.tolist() == parents


def _path(tree: pp.PrefixTree, node: int) -> set[int]:
    path = set()
    while node >= 0:
        path.add(node)
        node = int(tree.parent[node])
    return path


def test_children_keep_the_order_in_which_they_were_given() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0, 0, 0, -1])
    assert tree.origin.tolist() == [0, 1, 2, 3, 4]


def test_networkx_round_trip_keeps_labels_and_shape() -> None:
    graph = nx.DiGraph([("sys", "doc-a"), ("sys", "doc-b"), ("doc-a", "q1")])
    tree = pp.PrefixTree.from_networkx(graph)
    assert tree.labels == ("sys", "doc-a", "q1", "doc-b")
    back = tree.to_networkx()
    assert list(back.nodes) == list(graph.nodes) and set(back.edges) == set(graph.edges)
    assert pp.PrefixTree.from_networkx(back) == tree


def test_a_dummy_root_is_left_out_and_put_back() -> None:
    graph = nx.DiGraph([("", "a"), ("", "b"), ("b", "c")])
    tree = pp.PrefixTree.from_networkx(graph, dummy_root="")
    assert tree.n == 3 and tree.roots.size == 2
    assert set(tree.to_networkx(dummy_root="").edges) == set(graph.edges)
    with pytest.raises(pp.InputError, match="already the label"):
        tree.to_networkx(dummy_root="a")


@pytest.mark.parametrize(
    ("edges", "keywords", "message"),
    [
        ([("a", "c"), ("b", "c")], {}, "'c' has two parents, 'a' and 'b'"),
        ([("a", "b"), ("b", "a")], {}, "cycle"),
        ([("a", "b")], {"dummy_root": "b"}, "dummy_root 'b' has the parent 'a'"),
        ([("a", "b")], {"dummy_root": "z"}, "not a node"),
        ([("r", "b"), ("a", "b")], {"dummy_root": "r"}, "two parents"),
    ],
)
def test_graphs_that_are_no_forest_are_refused(
    edges: list[tuple[str, str]], keywords: dict[str, str], message: str
) -> None:
    with pytest.raises(pp.InputError, match=message):
        pp.PrefixTree.from_networkx(nx.DiGraph(edges), **keywords)


def test_undirected_graphs_are_refused() -> None:
    with pytest.raises(pp.InputError, match="DiGraph"):
        pp.PrefixTree.from_networkx(nx.path_graph(3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([1, 2, 0, -1], "cycle: "),
        ([0], "cycle: 0 → 0"),
        ([-1, 5], "parent of node 1 is 5"),
        ([-2], "parent of node 0 is -2"),
        ([-1, 0.5], "whole numbers"),
        ([[-1]], "one-dimensional"),
        (["a"], "whole numbers"),
        ([[-1], [1, 2]], "flat list"),
        ([2**64 - 1], "parent of node 0 is 18446744073709551615"),
        ([1e30, -1.0], "parent of node 0 is 1e\\+30"),
    ],
)
def test_wrong_parent_lists_name_the_place(parents: list[object], message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        pp.PrefixTree.from_parents(parents)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [["a"], ["a", "a"]])
def test_labels_must_be_distinct_and_complete(labels: list[str]) -> None:
    with pytest.raises(pp.InputError, match="labels for 2|names both node 0 and node 1"):
        pp.PrefixTree.from_parents([-1, 0], labels)


def test_labels_must_be_hashable() -> None:
    with pytest.raises(pp.InputError, match=r"label \[1\] of node 0 is not hashable"):
        pp.PrefixTree.from_parents([-1], [[1]])  # type: ignore[list-item]


def test_arrays_are_read_only_and_inputs_untouched() -> None:
    parents = np.array([2, 2, -1])
    tree = pp.PrefixTree.from_parents(parents)
    parents[0] = -1
    assert tree.given_parents.tolist() == [2, 2, -1]
    for name in ("parent", "end", "depth", "origin", "position"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 7


def test_empty_forest() -> None:
    tree = pp.PrefixTree.from_parents([])
    assert tree.n == 0 and tree.roots.size == 0 and tree.given_parents.size == 0
    assert pp.PrefixTree.from_networkx(nx.DiGraph()) == tree


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_200_000_nodes(shape: str) -> None:
    n = 200_000
    parents = np.arange(-1, n - 1) if shape == "chain" else np.r_[-1, np.zeros(n - 1, np.int64)]
    tree = pp.PrefixTree.from_parents(parents[::1])
    assert tree.end[0] == n and tree.depth.max() == (n - 1 if shape == "chain" else 1)
    assert tree.closure([n - 1]).sum() == (n if shape == "chain" else 2)


def test_reordering_helpers_are_inverse() -> None:
    tree = pp.PrefixTree.from_parents([3, 0, -1, 2])
    values = np.arange(8.0).reshape(2, 4)
    assert np.array_equal(tree.to_given(tree.to_preorder(values)), values)
    assert tree.to_preorder(np.arange(4)).tolist() == tree.origin.tolist()
