"""Trees and profits on which the oracle is tested and timed: everyday ones, degenerate ones, and hard ones.

A *case* is a tree with a profit vector. Shapes and profit laws combine freely (:data:`SHAPES` × :data:`LAWS`); the
families of :data:`HARD` bring a shape of their own, made to defeat Lagrangian bounds. Same seed, same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.tree import PrefixTree

__all__ = ["CHILD_ORDERS", "HARD", "LAWS", "SHAPES", "hard_case", "make_profit", "make_tree"]

Parents = NDArray[np.int64]
Profit = NDArray[Any]
CHILD_ORDERS = ("random", "heavy-first", "heavy-last")


def zipf_prefix(n: int, rng: np.random.Generator) -> Parents:
    """Requests that share a popular prefix and add a private tail of geometric length (mean 8 chunks)."""
    lengths = rng.geometric(1 / 8, n)
    starts = np.cumsum(lengths) - lengths
    starts = starts[starts < n]
    parent = np.arange(n) - 1
    # u³ prefers nodes that are there for long: their continuations become popular
    parent[starts] = np.floor(rng.random(starts.size) ** 3 * (starts + 1)).astype(np.int64) - 1
    return parent


def random_recursive(n: int, rng: np.random.Generator) -> Parents:
    """Each node hangs below a uniformly random earlier one, or is a root."""
    return np.floor(rng.random(n) * (np.arange(n) + 1)).astype(np.int64) - 1


def binary(n: int, rng: np.random.Generator) -> Parents:
    """Complete binary tree, level by level."""
    return np.where(np.arange(n) > 0, (np.arange(n) - 1) // 2, -1)


def deep_walk(n: int, rng: np.random.Generator) -> Parents:
    """Depth-first random walk: each node goes on from one of the last few nodes."""
    return np.maximum(-1, np.arange(n) - 1 - rng.geometric(0.7, n) + 1)


def caterpillar(n: int, rng: np.random.Generator) -> Parents:
    """A spine with one leaf per joint."""
    i = np.arange(n)
    return np.where(i % 2 == 0, i - 2, i - 1).clip(-1)


def star(n: int, rng: np.random.Generator) -> Parents:
    """A root with n − 1 leaves."""
    return np.where(np.arange(n) > 0, 0, -1)


def chain(n: int, rng: np.random.Generator) -> Parents:
    """One path."""
    return np.arange(n) - 1


def small_trees(n: int, rng: np.random.Generator) -> Parents:
    """A forest of random recursive trees of 20 nodes."""
    i = np.arange(n)
    local = i % 20
    return np.where(local > 0, i - local + np.floor(rng.random(n) * local).astype(np.int64), -1)


SHAPES: dict[str, Callable[[int, np.random.Generator], Parents]] = {
    "zipf-prefix": zipf_prefix,
    "random-recursive": random_recursive,
    "binary": binary,
    "deep-walk": deep_walk,
    "caterpillar": caterpillar,
    "star": star,
    "chain": chain,
    "small-trees": small_trees,
}


def make_tree(shape: str, n: int, seed: int, child_order: str = "random") -> PrefixTree:
    """The tree of a shape with n nodes; siblings at random, or the largest subtree first or last."""
    rng = np.random.default_rng([seed, n])
    tree = PrefixTree.from_parents(SHAPES[shape](n, rng))
    size = tree.end - np.arange(n)
    key = {"random": rng.random(n), "heavy-first": -size, "heavy-last": size}[child_order]
    rank = np.empty(n, np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(n)
    parents = np.full(n, -1)
    below = tree.parent >= 0
    parents[rank[below]] = rank[tree.parent[below]]
    return PrefixTree.from_parents(parents)


def leaves(tree: PrefixTree) -> NDArray[np.bool_]:
    """Mask of the nodes without children."""
    mask: NDArray[np.bool_] = tree.end == np.arange(1, tree.n + 1)
    return mask


def demand(tree: PrefixTree, rng: np.random.Generator) -> NDArray[np.int64]:
    """Requests that pass through each node, when every leaf ends a Zipf-distributed number of them."""
    ends = np.where(leaves(tree), np.minimum(rng.zipf(1.6, tree.n), 10**6), 0)
    total = np.concatenate([[0], np.cumsum(ends)])
    return total[tree.end] - total[:-1]


def chain_correlated(tree: PrefixTree, rng: np.random.Generator, sign: int) -> Profit:
    """Leaves pay about (or inversely to) their depth; inner nodes cost a little."""
    deep = tree.depth + 1.0
    pay = deep if sign > 0 else deep.max() / deep
    return np.where(leaves(tree), pay * rng.uniform(0.95, 1.05, tree.n), -0.01)


def greedy_marginals(tree: PrefixTree, rng: np.random.Generator) -> Profit:
    """Late in a greedy pass: most nodes are covered and keep only their small local value."""
    local = demand(tree, rng) * rng.uniform(0.5, 1.0, tree.n)
    return local * np.where(rng.random(tree.n) < 0.9, 0.05, 1.0)


LAWS: dict[str, Callable[[PrefixTree, np.random.Generator], Profit]] = {
    "normal": lambda tree, rng: rng.normal(size=tree.n),
    "uniform": lambda tree, rng: rng.random(tree.n),
    "small-integers": lambda tree, rng: rng.integers(-2, 3, tree.n),
    "ones": lambda tree, rng: np.ones(tree.n, np.int64),
    "zeros": lambda tree, rng: np.zeros(tree.n, np.int64),
    "zero-one": lambda tree, rng: rng.integers(0, 2, tree.n),
    "leaf-only": lambda tree, rng: np.where(leaves(tree), rng.random(tree.n), 0.0),
    "sparse": lambda tree, rng: np.where(rng.random(tree.n) < 0.02, rng.exponential(size=tree.n), 0.0),
    "negative": lambda tree, rng: -rng.random(tree.n),
    "chain-correlated": lambda tree, rng: chain_correlated(tree, rng, 1),
    "chain-inverse": lambda tree, rng: chain_correlated(tree, rng, -1),
    "parity": lambda tree, rng: np.where(tree.depth % 2 == 1, 3, -1),
    "huge-and-tiny": lambda tree, rng: np.where(rng.random(tree.n) < 0.5, 1e9, 1e-6) * rng.random(tree.n),
    "demand-times-recompute": lambda tree, rng: demand(tree, rng) * (10.0 + 0.02 * tree.depth),
    "greedy-marginals": greedy_marginals,
}


def make_profit(law: str, tree: PrefixTree, seed: int) -> Profit:
    """The profit vector of a law on a tree, int64 or float64, shape (n,) in preorder."""
    return LAWS[law](tree, np.random.default_rng([seed, tree.n, len(law)]))


def _chains(lengths: NDArray[np.int64], n: int) -> tuple[Parents, NDArray[np.int64]]:
    """Parents of a forest of chains cut off at n nodes, and the last node of each whole chain."""
    ends = np.cumsum(lengths)
    ends = ends[ends <= n]
    parent = np.arange(n) - 1
    parent[np.concatenate([[0], ends[ends < n]])] = -1
    return parent, ends - 1


def all_or_nothing(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """Chains of 2 … √n chunks that pay about their length at the last chunk and nothing before: a knapsack."""
    lengths = rng.integers(2, max(3, int(np.sqrt(n))), n)
    parent, last = _chains(lengths, n)
    profit = np.zeros(n, np.int64)
    profit[last] = 1000 * lengths[: last.size] + rng.integers(0, 100, last.size)
    return parent, profit


def equal_chains(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """Chains of one length that pay at the last chunk: what is left of the budget cannot be used."""
    parent, last = _chains(np.full(n, 37), n)
    profit = np.zeros(n)
    profit[last] = rng.random(last.size)
    return parent, profit


def brooms(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """A few brooms: a handle of n/50 chunks that costs, then a fan of n/50 leaves that pay."""
    part = max(2, n // 50)
    i = np.arange(n)
    local = i % (2 * part)
    parent = np.where(local == 0, -1, np.where(local < part, i - 1, i - local + part - 1))
    return parent, np.where(local < part, -0.1 * rng.random(n), rng.random(n))


def root_n_subtrees(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """√n random recursive trees of √n nodes, each behind a root that costs about what its tree earns."""
    size = max(2, int(np.sqrt(n)))
    i = np.arange(n)
    local = i % size
    parent = np.where(local > 0, i - local + np.floor(rng.random(n) * local).astype(np.int64), -1)
    profit = rng.integers(0, 10, n)
    profit[local == 0] = -4 * size + rng.integers(-size, size, int((local == 0).sum()))
    return parent, profit


def binary_leaves(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """Complete binary tree where only leaves pay, each about its depth: a true gap of several multipliers."""
    parent = binary(n, rng)
    deepest = int(np.log2(n + 1))
    leaf = 2 * np.arange(n) + 1 >= n
    return parent, np.where(leaf, deepest + rng.integers(-1, 2, n), 0)


def one_large_block(n: int, rng: np.random.Generator) -> tuple[Parents, Profit]:
    """A chain of n/2 chunks that pays at its end, more per chunk than the random tree beside it."""
    half = n // 2
    parent = np.concatenate([np.arange(half) - 1, half - 1 + random_recursive(n - half, rng) + 1])
    parent[half:][parent[half:] == half - 1] = -1
    profit = rng.random(n)
    profit[: max(0, half - 1)] = 0.0
    if half:
        profit[half - 1] = 0.8 * half
    return parent, profit


HARD: dict[str, Callable[[int, np.random.Generator], tuple[Parents, Profit]]] = {
    "all-or-nothing": all_or_nothing,
    "equal-chains": equal_chains,
    "brooms": brooms,
    "root-n-subtrees": root_n_subtrees,
    "binary-leaves": binary_leaves,
    "one-large-block": one_large_block,
}


def hard_case(name: str, n: int, seed: int) -> tuple[PrefixTree, Profit]:
    """Tree and profits (in preorder) of a hard family with n nodes."""
    parents, profit = HARD[name](n, np.random.default_rng([seed, n]))
    tree = PrefixTree.from_parents(parents)
    return tree, tree.to_preorder(profit)
