"""Graph files: DIMACS cliques and colourings, rudy and Biq Mac cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.importers.text import PathLike, fail, lines_of, number, whole

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["read_dimacs", "read_rudy"]


def read_dimacs(path: PathLike) -> nx.Graph[int]:
    """Read a DIMACS ``.clq`` or ``.col`` file (also BHOSLIB ``.mis``) as a simple graph on 1 … n.

    Lines are comments ``c …``, one ``p edge n m`` (or ``p col n m``), and edges ``e u v``. The count m is not
    checked, since many files of the collections list each edge twice.

    Raises
    ------
    InputError
        Naming file and line of whatever does not fit: an unknown line, a vertex beyond n, a loop, no ``p`` line.
    """
    import networkx as nx

    graph: nx.Graph[int] | None = None
    for line, words in lines_of(path):
        if words[0] == "c":
            continue
        if words[0] == "p":
            if graph is not None or len(words) != 4:
                raise fail(path, line, f"{' '.join(words)!r}: one line 'p edge n m' is expected")
            graph = nx.empty_graph(range(1, whole(path, line, words[2], 0, "the number of vertices") + 1))
        elif words[0] == "e" and len(words) == 3 and graph is not None:
            _add_edge(graph, path, line, words[1:])
        else:
            raise fail(path, line, f"{' '.join(words)!r}: not a comment, 'p edge n m' or, after it, 'e u v'")
    if graph is None:
        raise fail(path, 1, "there is no line 'p edge n m'")
    return graph


def read_rudy(path: PathLike) -> nx.Graph[int]:
    """Read a rudy or Biq Mac file: ``n m``, then m lines ``u v weight`` with vertices 1 … n.

    Parallel edges add up. The weights are edge attributes ``weight``, of any sign; the placement problem of a cut
    takes only those ≥ 0.

    Raises
    ------
    InputError
        Naming file and line of whatever does not fit, a wrong count included.
    """
    import networkx as nx

    rows = list(lines_of(path))
    if not rows or len(rows[0][1]) != 2:
        raise fail(path, 1, "the first line must be 'vertices edges'")
    line, (vertices, edges) = rows[0]
    graph: nx.Graph[int] = nx.empty_graph(
        range(1, whole(path, line, vertices, 0, "the number of vertices") + 1)
    )
    if len(rows) - 1 != whole(path, line, edges, 0, "the number of edges"):
        raise fail(path, line, f"{edges} edges are announced, {len(rows) - 1} are listed")
    for line, words in rows[1:]:
        if len(words) != 3:
            raise fail(path, line, f"{' '.join(words)!r} is not 'u v weight'")
        weight = number(path, line, words[2], "the weight")
        u, v = _add_edge(graph, path, line, words[:2])
        graph[u][v]["weight"] = graph[u][v].get("weight", 0.0) + weight
    return graph


def _add_edge(graph: nx.Graph[int], path: PathLike, line: int, words: list[str]) -> tuple[int, int]:
    u, v = (whole(path, line, word, 1, "the vertex") for word in words)
    if max(u, v) > len(graph):
        raise fail(path, line, f"vertex {max(u, v)} is beyond the last one, {len(graph)}")
    if u == v:
        raise fail(path, line, f"vertex {u} has a loop")
    graph.add_edge(u, v)
    return u, v
