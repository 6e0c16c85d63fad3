"""Maximum cut as source-dependent placement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances.construction import Construction, Drawn, from_costs
from instances.known import Known
from instances.reductions.graphs import CUT_LIMIT, maximum_cut, named_graph
from prefixplace.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MaxCut", "max_cut"]


def max_cut(
    graph: nx.Graph[Any],
    *,
    weight: str = "weight",
    maximum: Fraction | int | None = None,
    side: NDArray[np.int64] | None = None,
    **header: Any,
) -> Drawn:
    """The pairwise placement problem of a weighted graph: OPT = W + maxcut, configuration LP 2W, W = Σ weights.

    A holder with budget 1 for every vertex, two root chunks, and for every edge a requester that keeps nothing,
    wants both chunks as often as the edge weighs, and reaches only its two ends. An edge counts once, and once
    more when its ends keep different chunks.

    Parameters
    ----------
    graph : networkx.Graph
        Simple and undirected; holders are its vertices in order, then requesters its edges in order.
    weight : str
        Edge attribute with the weight, 1 where it is missing; ≥ 0 (a negative one could not be monotone).
    maximum : Fraction or int, optional
        The weight of a largest cut, where the caller knows it.
    side : int array of 0 and 1, one per vertex, optional
        A largest cut; gives the maximum and a witness.
    header
        ``name`` and ``meta`` of the instance.

    Raises
    ------
    InputError
        For a directed graph, a multigraph, loops or negative weights.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise InputError(f"a cut needs an undirected simple graph, not {type(graph).__name__}")
    index = {v: i for i, v in enumerate(graph)}
    holders = len(index)
    ends, weights = [], []
    for u, v, w in graph.edges.data(weight, default=1):
        if u == v:
            raise InputError(f"vertex {u!r} has a loop, which no cut can separate")
        if not 0 <= w < np.inf:
            raise InputError(f"edge ({u!r}, {v!r}) has weight {w!r}: must be a number ≥ 0")
        ends.append((index[u], index[v]))
        weights.append(w)
    workers = holders + len(ends)
    demand = np.zeros((workers, 2))
    demand[holders:] = np.array(weights, np.float64).reshape(-1, 1)
    fetch = np.full((workers, workers, 2), np.inf)
    for e, pair in enumerate(ends):
        fetch[holders + e, pair] = 0
    exact = [Fraction(float(w)) for w in weights]
    witness = None
    if side is not None:
        if len(side) != holders or not np.isin(side, (0, 1)).all():
            raise InputError(f"a cut puts each of the {holders} vertices on side 0 or 1, not {list(side)}")
        maximum = sum((w for w, (u, v) in zip(exact, ends, strict=True) if side[u] != side[v]), Fraction(0))
        witness = [[int(s)] for s in side] + [[] for _ in ends]
    total = sum(exact, Fraction(0))
    values: dict[str, Any] = {
        "configuration_lp": 2 * total,
        "reasons": {"configuration_lp": "half of either chunk at every holder meets every requester"},
    }
    if maximum is not None:
        values["opt"] = total + maximum
        values["reasons"]["opt"] = f"W + maxcut with W = {total} and maxcut = {maximum}"
    instance = from_costs(
        [-1, -1],
        demand=demand,
        recompute=np.ones((workers, 2)),
        fetch=fetch,
        budgets=[1] * holders + [0] * len(ends),
        known=Known(**values),
        **header,
    )
    return Drawn(instance, witness)


@dataclass(frozen=True, kw_only=True)
class MaxCut(Construction):
    """Pairwise MAX-CUT: a holder for each vertex, a requester for each edge; OPT = W + maxcut.

    Cycle of five 9, Petersen graph 27. The largest cut is computed for at most 22 vertices, and not stated
    above.

    Parameters
    ----------
    graph : str
        A name of :data:`instances.reductions.GRAPHS`: petersen, heawood, cycle, complete, cubic (random),
        half-dense (random). All weights are 1.
    vertices : int, optional
        Number of vertices of a graph whose name does not fix it; 5 for cycle and complete, 20 for cubic, 12 for
        half-dense when left out.
    """

    graph: str = "cycle"
    vertices: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        named_graph(self.graph, self.vertices, np.random.default_rng(0))

    def draw(self, seed: int = 0) -> Drawn:
        """Random graphs are drawn from the seed; the named ones are the same for every seed."""
        import networkx as nx

        graph = named_graph(self.graph, self.vertices, np.random.default_rng(seed))
        side = maximum_cut(nx.to_numpy_array(graph)).side if len(graph) <= CUT_LIMIT else None
        return max_cut(graph, side=side, **self._header(seed))
