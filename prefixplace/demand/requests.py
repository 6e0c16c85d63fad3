"""Requests as paths in a prefix tree, and the demand that they make."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.tree import PrefixTree

__all__ = ["Requests", "path_demand"]


def path_demand(tree: PrefixTree, ending: ArrayLike) -> NDArray[np.float64]:
    """Demand from requests that end at each chunk: every request counts on its whole path.

    Parameters
    ----------
    tree : PrefixTree
    ending : float array-like, shape (M, n)
        Requests (or their weight) per worker whose last chunk is each node, in preorder; ≥ 0.

    Returns
    -------
    float array, shape (M, n)
        Λ_m(b) = sum of `ending` over the subtree of b: non-increasing along every path. O(M·n).
    """
    from prefixplace.demand._kernels import add_to_ancestors

    demand = np.array(ending, np.float64, order="C")
    if demand.ndim != 2 or demand.shape[1] != tree.n:
        raise InputError(f"requests ending at chunks have shape {demand.shape}, not (M, {tree.n})")
    add_to_ancestors(tree.parent, demand)
    return demand


@dataclass(frozen=True, eq=False)
class Requests:
    """R requests of an epoch, each a path from a root to its last full chunk, in order of arrival.

    The path of a request is given by its last chunk alone: it is that node and its ancestors. This is what
    replay charges (one request, one worker, one path), and :meth:`demand` is what the planner sees.

    Parameters
    ----------
    tree : PrefixTree
    leaf : int array, shape (R,)
        Preorder position of the last chunk of each request.
    chunk_ids : sequence of n hashables, optional
        What identifies the content of each chunk (preorder), such as the hash ids of a trace; need not be
        distinct.
    timestamp : float array, shape (R,), optional
        Seconds.
    session : int array, shape (R,), optional
        Session number of each request; -1 when it belongs to none.
    weight : float array, shape (R,), optional
        Requests that each entry stands for; 1 when left out.
    record : int array, shape (R,), optional
        Position of each request in its source, so that per-line data (an assignment file) still fit after
        requests were left out; 0 … R−1 when left out.
    worker : int array, shape (R,), optional
        Worker of each request, set by :meth:`routed`; must lie below `num_workers`.
    num_workers : int
        M; 0 before routing.
    """

    tree: PrefixTree
    leaf: NDArray[np.int64]
    chunk_ids: tuple[Hashable, ...] | None = None
    timestamp: NDArray[np.float64] | None = None
    session: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None
    record: NDArray[np.int64] | None = None
    worker: NDArray[np.int64] | None = None
    num_workers: int = 0

    def __post_init__(self) -> None:
        leaf = _column("leaf", self.leaf, np.int64)
        object.__setattr__(self, "leaf", leaf)
        bad = np.flatnonzero((leaf < 0) | (leaf >= self.tree.n))
        if bad.size:
            raise InputError(f"request {bad[0]} ends at {leaf[bad[0]]}, which is no chunk of {self.tree.n}")
        for field, kind in _COLUMNS.items():
            values = getattr(self, field)
            if values is None:
                continue
            column = _column(field, values, kind)
            if column.size != leaf.size:
                raise InputError(f"{field} has {column.size} entries for {leaf.size} requests")
            object.__setattr__(self, field, column)
        if self.timestamp is not None and not np.isfinite(self.timestamp).all():
            i = int(np.flatnonzero(~np.isfinite(self.timestamp))[0])
            raise InputError(f"timestamp of request {i} is {self.timestamp[i]}: must be finite")
        if self.weight is not None and not ((self.weight >= 0) & np.isfinite(self.weight)).all():
            i = int(np.flatnonzero(~((self.weight >= 0) & np.isfinite(self.weight)))[0])
            raise InputError(f"weight of request {i} is {self.weight[i]}: must be finite and ≥ 0")
        if self.chunk_ids is not None:
            object.__setattr__(self, "chunk_ids", tuple(self.chunk_ids))
            if len(self.chunk_ids) != self.tree.n:
                raise InputError(f"{len(self.chunk_ids)} chunk ids for {self.tree.n} chunks")
        if self.worker is not None:
            bad = np.flatnonzero((self.worker < 0) | (self.worker >= self.num_workers))
            if bad.size:
                i = int(bad[0])
                raise InputError(f"request {i} is routed to worker {self.worker[i]} of {self.num_workers}")

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[Sequence[Hashable]],
        *,
        timestamp: ArrayLike | None = None,
        session: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> Requests:
        """Build the prefix tree of sequences of chunk ids; one request per sequence.

        A node is a *path* of ids, not an id: the same id after two different prefixes becomes two chunks,
        since its keys and values differ. Nodes are numbered in order of first appearance (``tree.origin``).

        Requests with an empty path need no chunk and are left out (`record` keeps the numbers of the others).
        `timestamp`, `session` and `weight` have one entry per sequence, as in the class. O(total length);
        sequences may be of any length.
        """
        children: dict[tuple[int, Hashable], int] = {}
        parents: list[int] = []
        ids: list[Hashable] = []
        leaves: list[int] = []
        records: list[int] = []
        number = -1
        for number, path in enumerate(paths):
            node = -1
            for chunk in path:
                step = (node, chunk)
                following = children.get(step)
                if following is None:
                    following = len(parents)
                    children[step] = following
                    parents.append(node)
                    ids.append(chunk)
                node = following
            if node >= 0:
                leaves.append(node)
                records.append(number)
        tree = PrefixTree.from_parents(np.array(parents, np.int64))
        kept = np.array(records, np.int64)
        columns: dict[str, Any] = {"record": kept}
        for field, values in (("timestamp", timestamp), ("session", session), ("weight", weight)):
            if values is not None:
                column = _column(field, values, _COLUMNS[field])
                if column.size != number + 1:
                    raise InputError(f"{field} has {column.size} entries for {number + 1} sequences")
                columns[field] = column[kept]
        names = tuple(ids[i] for i in tree.origin.tolist())
        return cls(tree, tree.position[np.array(leaves, np.int64)], chunk_ids=names, **columns)

    def __len__(self) -> int:
        return int(self.leaf.size)

    def path(self, request: int) -> NDArray[np.int64]:
        """Preorder positions of the chunks of one request, from the root to the last."""
        chunks = []
        node = int(self.leaf[request])
        while node >= 0:
            chunks.append(node)
            node = int(self.tree.parent[node])
        return np.array(chunks[::-1], np.int64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Chunks on the path of each request, shape (R,)."""
        depth: NDArray[np.int64] = self.tree.depth[self.leaf]
        return depth + 1

    @property
    def records(self) -> NDArray[np.int64]:
        """Position of each request in its source, shape (R,)."""
        return np.arange(len(self)) if self.record is None else self.record

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each request, shape (R,)."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_demand(self) -> NDArray[np.float64]:
        """Demand of each chunk over all workers, shape (n,)."""
        ending = np.bincount(self.leaf, self.weights, self.tree.n)
        total: NDArray[np.float64] = path_demand(self.tree, ending[None])[0]
        return total

    def demand(self) -> NDArray[np.float64]:
        """Λ_m(b), shape (M, n): weight of the requests routed to m whose path holds b. O(M·n + R).

        Raises
        ------
        InputError
            Before routing.
        """
        if self.worker is None:
            raise InputError("the requests have no workers yet: route them first")
        n = self.tree.n
        flat = np.bincount(self.worker * n + self.leaf, self.weights, self.num_workers * n)
        return path_demand(self.tree, flat.reshape(self.num_workers, n))

    def routed(self, worker: ArrayLike, num_workers: int) -> Requests:
        """The same requests, each sent to a worker (shape (R,)); see :mod:`prefixplace.demand.routing`."""
        if num_workers < 1:
            raise InputError(f"num_workers = {num_workers} violates num_workers >= 1")
        return replace(self, worker=np.asarray(worker), num_workers=num_workers)

    def select(self, chosen: ArrayLike) -> Requests:
        """The requests where `chosen` (boolean (R,), or request numbers) says so, on the same tree."""
        index = np.asarray(chosen)
        kept: dict[str, Any] = {"leaf": self.leaf[index], "record": self.records[index]}
        for field in ("timestamp", "session", "weight", "worker"):
            column = getattr(self, field)
            kept[field] = None if column is None else column[index]
        return replace(self, **kept)

    def window(self, start: float, end: float) -> Requests:
        """Requests with ``start <= timestamp < end`` (seconds), on the same tree."""
        if self.timestamp is None:
            raise InputError("the requests have no timestamps: no time window can be cut")
        if not start < end:
            raise InputError(f"window from {start} to {end} s violates start < end")
        return self.select((self.timestamp >= start) & (self.timestamp < end))

    def epochs(self, seconds: float) -> tuple[Requests, ...]:
        """Consecutive windows of equal length from the first timestamp on, all on the same tree; some may be empty."""
        epoch = self.epoch_numbers(seconds)
        arrival = np.argsort(epoch, kind="stable")
        ends = np.cumsum(np.bincount(epoch))
        return tuple(self.select(part) for part in np.split(arrival, ends)[:-1])

    def epoch_numbers(self, seconds: float) -> NDArray[np.int64]:
        """Which window of `seconds` each request arrives in, from 0 at the first timestamp; shape (R,)."""
        if self.timestamp is None:
            raise InputError("the requests have no timestamps: there are no epochs")
        if not 0 < seconds < np.inf:
            raise InputError(f"epochs of {seconds} s violate 0 < seconds < inf")
        since = self.timestamp - self.timestamp.min(initial=np.inf)
        epoch = np.floor(since / seconds)
        if epoch.max(initial=0) >= 2**53:  # beyond, the numbers of neighbouring epochs are the same float
            raise InputError(f"epochs of {seconds} s are too short for a trace of {since.max():g} s")
        number: NDArray[np.int64] = epoch.astype(np.int64)
        return number

    def pruned(self, min_demand: float = 0.0) -> Requests:
        """Leave out chunks that nobody wants, and those wanted by fewer than `min_demand` requests in all.

        Total demand never rises along a path, so what is left is a tree. A request is cut at its last chunk
        that is left; one without any is left out.
        """
        from prefixplace.demand._kernels import nearest_marked

        total = self.total_demand
        kept = (total > 0) & (total >= min_demand)
        number = np.cumsum(kept) - 1
        above = self.tree.parent[kept]
        parents = np.where(above >= 0, number[above], -1) if above.size else above
        names = tuple(compress(self.tree.labels, kept)) if self.tree.has_labels else None
        end = nearest_marked(self.tree.parent, kept)[self.leaf]
        rest = self.select(end >= 0)
        return replace(
            rest,
            tree=PrefixTree.from_parents(parents, names),
            leaf=number[end[end >= 0]],
            chunk_ids=None if self.chunk_ids is None else tuple(compress(self.chunk_ids, kept)),
        )

    def __repr__(self) -> str:
        routed = f", workers={self.num_workers}" if self.worker is not None else ""
        return f"Requests({len(self)} on {self.tree.n} chunks{routed})"


_COLUMNS: dict[str, type[np.int64] | type[np.float64]] = {
    "timestamp": np.float64,
    "session": np.int64,
    "weight": np.float64,
    "record": np.int64,
    "worker": np.int64,
}


def _column(field: str, values: ArrayLike, kind: type[np.int64] | type[np.float64]) -> NDArray[Any]:
    raw = np.asarray(values)
    if raw.size == 0:
        raw = raw.astype(kind)
    if raw.ndim != 1 or raw.dtype.kind not in ("iu" if kind is np.int64 else "iuf"):
        raise InputError(
            f"{field} of requests must be a one-dimensional array of numbers, not {raw.dtype} {raw.shape}"
        )
    column = raw.astype(kind)
    column.setflags(write=False)
    return column
