"""Small graphs by name, and two exact graph numbers that serve as known optima."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["CUT_LIMIT", "GRAPHS", "INDEPENDENCE_LIMIT", "Cut", "independence", "maximum_cut", "named_graph"]

CUT_LIMIT = 22
"""Vertices up to which :func:`maximum_cut` enumerates."""

INDEPENDENCE_LIMIT = 80
"""Vertices up to which constructions ask for :func:`independence`; a sparse graph of that size takes seconds."""


def _heawood(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    return [(i, (i + 1) % 14) for i in range(14)] + [(i, (i + 5) % 14) for i in range(0, 14, 2)]


def _petersen(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    outer = [(i, (i + 1) % 5) for i in range(5)]
    return outer + [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]


def _cycle(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    return [(i, (i + 1) % vertices) for i in range(vertices)]


def _complete(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    return [(i, j) for j in range(vertices) for i in range(j)]


def _cubic(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Uniform random simple cubic graph: random perfect matchings of 3·vertices points until one is simple."""
    while True:
        points = rng.permutation(3 * vertices) // 3
        ends = np.sort(points.reshape(-1, 2), axis=1)
        if (ends[:, 0] < ends[:, 1]).all() and len(np.unique(ends, axis=0)) == len(ends):
            return [(int(i), int(j)) for i, j in ends]


def _gnp(vertices: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Every pair is an edge with probability ½ (the model of the g05 instances of Biq Mac)."""
    return [(i, j) for j in range(vertices) for i in range(j) if rng.random() < 0.5]


GRAPHS: Mapping[str, tuple[Callable[[int, np.random.Generator], list[tuple[int, int]]], int, bool]] = {
    "petersen": (_petersen, 10, True),
    "heawood": (_heawood, 14, True),
    "cycle": (_cycle, 5, False),
    "complete": (_complete, 5, False),
    "cubic": (_cubic, 20, False),
    "half-dense": (_gnp, 12, False),
}
"""Name → (edges, number of vertices unless told, whether that number is fixed)."""


def named_graph(name: str, vertices: int | None, rng: np.random.Generator) -> nx.Graph[int]:
    """A graph of :data:`GRAPHS` on the vertices 0 … n − 1.

    Raises
    ------
    InputError
        For an unknown name or a number of vertices that the graph cannot have.
    """
    import networkx as nx

    if name not in GRAPHS:
        raise InputError(f"unknown graph {name!r}; known: {', '.join(GRAPHS)}")
    edges, usual, fixed = GRAPHS[name]
    count = usual if vertices is None else vertices
    if (fixed and count != usual) or count < 3 or (name == "cubic" and (count < 4 or count % 2)):
        raise InputError(f"graph {name!r} cannot have {count} vertices")
    graph: nx.Graph[int] = nx.empty_graph(count)
    graph.add_edges_from(edges(count, rng))
    return graph


def independence(graph: nx.Graph[Any]) -> list[Any]:
    """A largest independent set of a simple graph, exact, by branching on vertices of largest degree.

    Degrees 0 and 1 are taken at once; otherwise a vertex of largest degree is left out or taken. Exponential:
    meant for sparse graphs of at most about :data:`INDEPENDENCE_LIMIT` vertices.
    """
    names = list(graph)
    index = {v: i for i, v in enumerate(names)}
    near = [0] * len(names)
    for u, v in graph.edges:
        if u == v:
            raise InputError(f"vertex {u!r} has a loop; an independent set needs a simple graph")
        near[index[u]] |= 1 << index[v]
        near[index[v]] |= 1 << index[u]
    best = 0
    stack = [((1 << len(names)) - 1, 0)]  # (vertices left, vertices taken)
    while stack:
        left, taken = stack.pop()
        while left:
            if taken.bit_count() + left.bit_count() <= best.bit_count():
                break
            largest, branch, simple = -1, -1, -1
            rest = left
            while rest:
                v = (rest & -rest).bit_length() - 1
                rest &= rest - 1
                degree = (near[v] & left).bit_count()
                if degree <= 1:
                    simple = v
                    break
                if degree > largest:
                    largest, branch = degree, v
            if simple < 0:
                stack.append((left & ~(1 << branch), taken))  # left out, later
                simple = branch
            taken |= 1 << simple
            left &= ~(near[simple] | 1 << simple)
        if not left and taken.bit_count() > best.bit_count():
            best = taken
    return [v for i, v in enumerate(names) if best >> i & 1]


class Cut(NamedTuple):
    """A cut of a weighted graph: the side (0 or 1) of each vertex, and the weight across."""

    side: NDArray[np.int64]
    weight: float


def maximum_cut(weights: NDArray[np.float64]) -> Cut:
    """A heaviest cut of the graph with weight matrix `weights` (symmetric, shape (V, V)), by enumeration.

    Raises
    ------
    InputError
        Above :data:`CUT_LIMIT` vertices.
    """
    count = len(weights)
    if count > CUT_LIMIT:
        raise InputError(f"a graph of {count} vertices is too large for enumeration (at most {CUT_LIMIT})")
    best, best_code = -np.inf, 0
    codes = np.arange(1 << max(count - 1, 0))  # the last vertex is on side 0
    for part in np.array_split(codes, max(1, codes.size >> 14)):
        side = (part[:, None] >> np.arange(count)) & 1
        across = ((side @ weights) * (1 - side)).sum(axis=1)
        if across.max() > best:
            best, best_code = float(across.max()), int(part[across.argmax()])
    return Cut((best_code >> np.arange(count)) & 1, best)
