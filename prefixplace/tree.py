"""The forest of prefix chunks, held as preorder arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["PrefixTree"]


class PrefixTree:
    """A rooted forest of equal-sized placement chunks under an implicit dummy root.

    Each node extends the prefix of its parent by one chunk. The dummy root (the empty prefix) is free and is
    not a node. Nodes are numbered in *preorder*: a parent comes before its children, and the subtree of ``i``
    is the range ``i : end[i]``. Every array of the library with one entry per chunk is in this order; the order
    in which the nodes were given is kept in :attr:`origin`.

    Build one with :meth:`from_parents` or :meth:`from_networkx`. The arrays are read-only.

    Attributes
    ----------
    parent : int64 array, shape (n,)
        Preorder position of the parent; -1 for a child of the dummy root.
    end : int64 array, shape (n,)
        First position after the subtree of each node (``next(i)`` in the paper).
    depth : int64 array, shape (n,)
        Number of ancestors; 0 for a child of the dummy root.
    origin : int64 array, shape (n,)
        ``origin[i]`` is the number under which node ``i`` was given.
    position : int64 array, shape (n,)
        The inverse: ``position[origin[i]] == i``.

    Examples
    --------
    >>> tree = PrefixTree.from_parents([2, 2, -1, 0])
    >>> tree.parent.tolist(), tree.end.tolist(), tree.origin.tolist()
    ([-1, 0, 1, 0], [4, 3, 3, 4], [2, 0, 3, 1])
    """

    parent: NDArray[np.int64]
    end: NDArray[np.int64]
    depth: NDArray[np.int64]
    origin: NDArray[np.int64]
    position: NDArray[np.int64]

    def __init__(self, parents: ArrayLike, labels: Sequence[Hashable] | None = None) -> None:
        from prefixplace._preorder import preorder, subtree_arrays

        given = _checked_parents(parents)
        n = given.size
        names = None if labels is None else tuple(labels)
        if names is not None:
            _check_labels(names, n)
        order, count = preorder(given)
        if count < n:
            raise InputError(_describe_cycle(given, order[:count]))
        position = np.empty(n, np.int64)
        position[order] = np.arange(n)
        above = given[order]
        parent = np.where(above >= 0, position[above], -1) if n else above
        end, depth = subtree_arrays(parent)
        self.parent, self.end, self.depth = _read_only(parent), _read_only(end), _read_only(depth)
        self.origin, self.position = _read_only(order), _read_only(position)
        self._labels = None if names is None else tuple(names[i] for i in order)
        self._derived: dict[str, Any] = {}  # arrays that the oracle derives from the shape, computed once

    @classmethod
    def from_parents(cls, parents: ArrayLike, labels: Sequence[Hashable] | None = None) -> PrefixTree:
        """Forest from a parent list, nodes in any order. O(n).

        Parameters
        ----------
        parents : int array-like, shape (n,)
            Number of the parent of each node, -1 for a child of the dummy root.
        labels : sequence of n distinct hashables, optional
            Names of the nodes, in the order of `parents`; the node numbers when left out.

        Raises
        ------
        InputError
            For a number that is no node, a cycle, or labels that repeat.
        """
        return cls(parents, labels)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any], *, dummy_root: Hashable | None = None) -> PrefixTree:
        """Forest from a NetworkX ``DiGraph`` with edges parent → child; node names become labels. O(n).

        Parameters
        ----------
        graph : networkx.DiGraph
            A forest. Children keep the order in which the graph lists its nodes.
        dummy_root : hashable, optional
            A root of `graph` that stands for the empty prefix: it is left out and its children become roots.

        Raises
        ------
        InputError
            When the graph is undirected, a node has two parents, there is a cycle, or `dummy_root` is not a root.
        """
        if not graph.is_directed() or graph.is_multigraph():
            raise InputError(
                f"a prefix tree needs a DiGraph with edges parent → child, not {type(graph).__name__}"
            )
        if dummy_root is not None:
            if dummy_root not in graph:
                raise InputError(f"dummy_root {dummy_root!r} is not a node of the graph")
            if graph.in_degree(dummy_root):
                raise InputError(
                    f"dummy_root {dummy_root!r} has the parent {next(iter(graph.pred[dummy_root]))!r}"
                )
        labels = [v for v in graph if dummy_root is None or v != dummy_root]
        number = {v: i for i, v in enumerate(labels)}
        parents = np.full(len(labels), -1, np.int64)
        for i, v in enumerate(labels):
            above = [u for u in graph.pred[v] if dummy_root is None or u != dummy_root]
            if len(graph.pred[v]) > 1:
                first, second = list(graph.pred[v])[:2]
                raise InputError(f"node {v!r} has two parents, {first!r} and {second!r}")
            if above:
                parents[i] = number[above[0]]
        return cls(parents, labels)

    def to_networkx(self, *, dummy_root: Hashable | None = None) -> nx.DiGraph[Any]:
        """The forest as a NetworkX ``DiGraph`` of labels, edges parent → child, nodes in the order given.

        With `dummy_root`, a node of that name is added above all roots. The result goes back through
        :meth:`from_networkx` to an equal tree.
        """
        import networkx as nx

        labels = self.labels
        if dummy_root is not None and dummy_root in set(labels):
            raise InputError(f"dummy_root {dummy_root!r} is already the label of a chunk")
        graph: nx.DiGraph[Any] = nx.DiGraph()
        if dummy_root is not None:
            graph.add_node(dummy_root)
        graph.add_nodes_from(labels[i] for i in self.position)
        for i, p in enumerate(self.parent.tolist()):
            if p >= 0:
                graph.add_edge(labels[p], labels[i])
            elif dummy_root is not None:
                graph.add_edge(dummy_root, labels[i])
        return graph

    @property
    def n(self) -> int:
        """Number of chunks."""
        return int(self.parent.size)

    def __len__(self) -> int:
        return self.n

    @property
    def labels(self) -> Sequence[Hashable]:
        """Labels in preorder; the numbers under which the nodes were given when they have no names."""
        return tuple(self.origin.tolist()) if self._labels is None else self._labels

    @property
    def has_labels(self) -> bool:
        """Whether the nodes were given names of their own."""
        return self._labels is not None

    @property
    def roots(self) -> NDArray[np.int64]:
        """Preorder positions of the children of the dummy root."""
        return np.flatnonzero(self.parent < 0)

    @property
    def given_parents(self) -> NDArray[np.int64]:
        """The parent list in the order in which the nodes were given (shape (n,))."""
        above = self.parent[self.position]
        return np.where(above >= 0, self.origin[above], -1) if self.n else above

    def to_preorder(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder the last axis of `values` from the order in which the nodes were given to preorder."""
        return np.ascontiguousarray(values[..., self.origin])

    def to_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder the last axis of `values` from preorder to the order in which the nodes were given."""
        return np.ascontiguousarray(values[..., self.position])

    def closure(self, nodes: Iterable[int]) -> NDArray[np.bool_]:
        """Mask (shape (n,)) of the smallest parent-closed set that contains `nodes` (preorder positions)."""
        mask = np.zeros(self.n, np.bool_)
        for node in nodes:
            v = int(node)
            if not 0 <= v < self.n:
                raise InputError(f"node {node} is not a position below {self.n}")
            while v >= 0 and not mask[v]:
                mask[v] = True
                v = int(self.parent[v])
        return mask

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrefixTree):
            return NotImplemented
        return self is other or (
            np.array_equal(self.parent, other.parent)
            and np.array_equal(self.origin, other.origin)
            and (self._labels == other._labels or tuple(self.labels) == tuple(other.labels))
        )

    __hash__ = None  # type: ignore[assignment]  # equality is by content; trees of a million nodes are no keys

    def __reduce__(self) -> tuple[Any, ...]:
        labels = None if self._labels is None else [self._labels[i] for i in self.position]
        # through the door again, so that a copy is read-only too
        return PrefixTree, (self.given_parents, labels)

    def __repr__(self) -> str:
        deepest = int(self.depth.max()) if self.n else -1
        return f"PrefixTree(n={self.n}, roots={self.roots.size}, max_depth={deepest})"


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _checked_parents(parents: ArrayLike) -> NDArray[np.int64]:
    try:
        raw = np.asarray(parents)
    except ValueError as error:
        raise InputError(f"parents must be a flat list of node numbers: {error}") from None
    if raw.size == 0:
        raw = raw.astype(np.int64)
    if raw.ndim != 1:
        raise InputError(f"parents must be one-dimensional, not of shape {raw.shape}")
    if raw.dtype.kind not in "iu" and (raw.dtype.kind != "f" or not np.all(raw == np.trunc(raw))):
        raise InputError(f"parents must be whole numbers, not {raw.dtype}")
    bad = np.flatnonzero(~((raw >= -1) & (raw < raw.size)))  # before the cast, which would wrap large numbers
    if bad.size:
        raise InputError(
            f"parent of node {bad[0]} is {raw[bad[0]]}, not -1 or a node number below {raw.size}"
        )
    return raw.astype(np.int64)


def _check_labels(labels: tuple[Hashable, ...], n: int) -> None:
    if len(labels) != n:
        raise InputError(f"{len(labels)} labels for {n} nodes")
    seen: dict[Hashable, int] = {}
    for i, label in enumerate(labels):
        try:
            hash(label)
        except TypeError:
            raise InputError(f"label {label!r} of node {i} is not hashable") from None
        if label in seen:
            raise InputError(f"label {label!r} names both node {seen[label]} and node {i}")
        seen[label] = i


def _describe_cycle(given: NDArray[np.int64], reached: NDArray[np.int64]) -> str:
    unreached = np.ones(given.size, np.bool_)
    unreached[reached] = False
    v = int(np.flatnonzero(unreached)[0])
    for _ in range(given.size):  # after n steps upwards the walk is certainly on the cycle
        v = int(given[v])
    cycle, u = [v], int(given[v])
    while u != v and len(cycle) < 6:
        cycle.append(u)
        u = int(given[u])
    shown = " → ".join(map(str, cycle)) + (" → …" if u != v else f" → {v}")
    return f"the parents form a cycle: {shown}"
