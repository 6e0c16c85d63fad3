"""Small helpers of the oracle's tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from prefixplace import PrefixTree


def random_parents(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """One of five shapes, drawn at random."""
    shape = rng.integers(5)
    i = np.arange(n)
    if shape == 0:
        return np.floor(rng.random(n) * (i + 1)).astype(np.int64) - 1
    if shape == 1:
        return i - 1
    if shape == 2:
        return np.full(n, -1)
    if shape == 3:
        return (i + 1) // 2 - 1
    return np.maximum(-1, i - 1 - rng.integers(0, 3, n))


def is_closed(tree: PrefixTree, mask: NDArray[np.bool_]) -> bool:
    """Whether every node of the set has its parent in it."""
    inner = np.flatnonzero(mask & (tree.parent >= 0))
    return bool(mask[tree.parent[inner]].all())


@st.composite
def trees(draw: Any, most: int = 14) -> PrefixTree:
    """Any forest of at most `most` nodes; shrinks towards few roots."""
    n = draw(st.integers(0, most))
    return PrefixTree.from_parents(np.array([draw(st.integers(-1, i - 1)) for i in range(n)], np.int64))


def whole_profits(n: int) -> st.SearchStrategy[list[int]]:
    """n integers, small ones often so that there are ties."""
    one = st.one_of(st.integers(-3, 3), st.integers(-(10**6), 10**6), st.integers(-(2**40), 2**40))
    return st.lists(one, min_size=n, max_size=n)
