"""Maximum independent set as placement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.construction import Construction, Drawn, chain_forest, from_values
from instances.known import Known
from instances.reductions.graphs import INDEPENDENCE_LIMIT, independence, named_graph
from prefixplace.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["IndependentSet", "independent_set"]


def independent_set(
    graph: nx.Graph[Any],
    *,
    independence_number: int | None = None,
    chosen: list[Any] | None = None,
    **header: Any,
) -> Drawn:
    """The placement problem of a graph G: OPT = Σ_v (2·deg v − 1) + α(G).

    A worker for every vertex, with budget deg v. A root chunk for every edge, worth Δ = 1, and a = 1 to the
    workers of its two ends. A private chain of deg v chunks for every vertex, worth 2·deg v − 1 to its worker at
    the end. A worker that keeps its edges reaches 2·deg v when no neighbour covers one of them, otherwise no
    more than by its chain. APX-hard at budget 3 for cubic graphs.

    Parameters
    ----------
    graph : networkx.Graph
        Simple and undirected, any hashable vertices. The workers are its vertices in order.
    independence_number : int, optional
        α(G) where the caller knows it.
    chosen : list of vertices, optional
        A largest independent set; gives α(G) and a witness. When neither is given, α is not known.
    header
        ``name`` and ``meta`` of the instance.

    Raises
    ------
    InputError
        For a directed graph, a multigraph, a loop, or `chosen` vertices that are adjacent.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise InputError(f"an independent set needs an undirected simple graph, not {type(graph).__name__}")
    vertices = list(graph)
    index = {v: i for i, v in enumerate(vertices)}
    edges = [(index[u], index[v]) for u, v in graph.edges]
    for u, v in edges:
        if u == v:
            raise InputError(f"vertex {vertices[u]!r} has a loop; an independent set needs a simple graph")
    degree = np.bincount(np.array(edges, np.int64).ravel(), minlength=len(vertices))
    parents, start = chain_forest(np.concatenate((np.ones(len(edges), np.int64), degree)))
    chain = start[len(edges) :]
    local, coverage = np.zeros((len(vertices), parents.size)), np.zeros(parents.size)
    for e, (u, v) in enumerate(edges):
        local[[u, v], e] = coverage[e] = 1
    busy = np.flatnonzero(degree)
    local[busy, chain[busy] + degree[busy] - 1] = 2 * degree[busy] - 1
    witness = None
    if chosen is not None:
        strange = [v for v in chosen if v not in index]
        if strange or len(set(chosen)) < len(chosen):
            raise InputError(f"the chosen vertices {chosen!r} are not distinct vertices of the graph")
        if any(graph.has_edge(u, v) for i, u in enumerate(chosen) for v in chosen[:i]):
            raise InputError("the chosen vertices are not independent")
        independence_number = len(chosen)
        inside = {index[v] for v in chosen}
        witness = [
            [e for e, ends in enumerate(edges) if v in ends]
            if v in inside
            else list(range(chain[v], chain[v] + degree[v]))
            for v in range(len(vertices))
        ]
    known = Known()
    if independence_number is not None:
        known = Known(
            opt=int((2 * degree - 1).sum()) + independence_number,
            reasons={"opt": f"Σ (2·deg v − 1) + α(G) with α(G) = {independence_number}"},
        )
    instance = from_values(parents, local=local, coverage=coverage, budgets=degree, known=known, **header)
    return Drawn(instance, witness)


@dataclass(frozen=True, kw_only=True)
class IndependentSet(Construction):
    """MIS(G): a worker for each vertex, an edge chunk for each edge; OPT = Σ (2·deg v − 1) + α(G).

    Petersen graph 54, Heawood graph 77. α(G) is computed for at most 80 vertices and not stated above.
    CP-SAT fails early on cubic graphs, HiGHS goes further.

    Parameters
    ----------
    graph : str
        A name of :data:`instances.reductions.GRAPHS`: petersen, heawood, cycle, complete, cubic (random),
        half-dense (random).
    vertices : int, optional
        Number of vertices of a graph whose name does not fix it; 5 for cycle and complete, 20 for cubic, 12 for
        half-dense when left out.
    """

    graph: str = "petersen"
    vertices: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        named_graph(self.graph, self.vertices, np.random.default_rng(0))

    def draw(self, seed: int = 0) -> Drawn:
        """Random graphs are drawn from the seed; the named ones are the same for every seed."""
        graph = named_graph(self.graph, self.vertices, np.random.default_rng(seed))
        chosen = independence(graph) if len(graph) <= INDEPENDENCE_LIMIT else None
        return independent_set(graph, chosen=chosen, **self._header(seed))
