"""Routing rules: which worker each request of an epoch goes to.

Routing is given to the planner, not decided by it; these rules produce the usual ones. Each is a small frozen
dataclass with one method ``assign(requests, workers)`` that returns a worker number per request, shape (R,).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.demand.requests import Requests
from prefixplace.errors import InputError

__all__ = [
    "ROUTINGS",
    "FirstChunkHash",
    "GivenAssignment",
    "HomeSharing",
    "RoundRobin",
    "Routing",
    "StickySession",
    "route",
    "sharing_split",
    "stable_hash",
]


class Routing(Protocol):
    """A rule that sends each request to one of `workers` workers."""

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request, shape (R,), each in ``0 … workers−1``."""


def route(requests: Requests, rule: Routing, workers: int) -> Requests:
    """The requests with a worker each, by `rule`."""
    if workers < 1:
        raise InputError(f"workers = {workers} violates workers >= 1")
    return requests.routed(rule.assign(requests, workers), workers)


@dataclass(frozen=True, eq=False)
class GivenAssignment:
    """Workers from outside, such as the log of a real router: ``worker[record]`` for each request."""

    worker: ArrayLike

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request.

        Raises
        ------
        InputError
            When the assignment is shorter than the source of the requests, or names a worker that does not
            exist.
        """
        given = np.asarray(self.worker)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InputError(
                f"an assignment must list whole numbers, not {given.dtype} of shape {given.shape}"
            )
        record = requests.records
        if record.size and record.max() >= given.size:
            raise InputError(
                f"the assignment has {given.size} workers, but there is a request {record.max()}"
            )
        bad = np.flatnonzero((given < 0) | (given >= workers))
        if bad.size:
            raise InputError(f"the assignment sends request {bad[0]} to worker {given[bad[0]]} of {workers}")
        return given.astype(np.int64)[record]


@dataclass(frozen=True)
class RoundRobin:
    """Request i of the source goes to worker i mod M."""

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request."""
        return requests.records % workers


@dataclass(frozen=True)
class StickySession:
    """Every session stays at one worker; new sessions go round the workers in order of their first request.

    A request without session is a session of its own.
    """

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request.

        Raises
        ------
        InputError
            When the requests carry no sessions at all.
        """
        if requests.session is None:
            raise InputError("sticky-session routing needs sessions, and these requests have none")
        alone = -1 - np.arange(len(requests))  # distinct negative numbers, so that each stays alone
        session = np.where(requests.session < 0, alone, requests.session)
        _, first, number = np.unique(session, return_index=True, return_inverse=True)
        rank = np.empty(first.size, np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        return rank[number] % workers


@dataclass(frozen=True)
class FirstChunkHash:
    """A stable hash of the first chunk's id chooses the worker, so equal first chunks meet at one worker.

    The hash (:func:`stable_hash`) is the same in every process and on every machine, unlike Python's
    ``hash``.
    """

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request."""
        tree = requests.tree
        root = _ancestors_at(requests, 0)
        target = np.zeros(tree.n, np.int64)
        ids = requests.chunk_ids
        for i in tree.roots.tolist():
            target[i] = stable_hash(i if ids is None else ids[i]) % workers
        return target[root]


@dataclass(frozen=True)
class HomeSharing:
    """Requests of one prefix have a home worker; a fraction ρ of them goes to a random worker instead.

    The home of each prefix and the random workers are drawn from `seed`. The workers drawn include the
    home, so ρ = 1 is uniform and ρ = 0 keeps every prefix at one worker; this is the per-request form of
    :func:`sharing_split`.

    Parameters
    ----------
    sharing : float
        ρ in [0, 1].
    depth : int
        The prefix that has a home: the chunk at this depth on a request's path (0 = first chunk), or the
        last chunk of a shorter request. Default 1, below one shared system chunk.
    seed : int
    """

    sharing: float = 1.0
    depth: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.sharing <= 1:
            raise InputError(f"home sharing: sharing = {self.sharing} violates 0 <= sharing <= 1")
        if self.depth < 0:
            raise InputError(f"home sharing: depth = {self.depth} violates depth >= 0")

    def assign(self, requests: Requests, workers: int) -> NDArray[np.int64]:
        """Worker of each request."""
        rng = np.random.default_rng(self.seed)
        _, group = np.unique(_ancestors_at(requests, self.depth), return_inverse=True)
        home = rng.integers(workers, size=group.max(initial=-1) + 1)
        anywhere = rng.integers(workers, size=len(requests))
        shared = rng.random(len(requests)) < self.sharing
        return np.where(shared, anywhere, home[group])


ROUTINGS: dict[str, Callable[..., Routing]] = {
    "round-robin": RoundRobin,
    "sticky-session": StickySession,
    "first-chunk-hash": FirstChunkHash,
    "home-sharing": HomeSharing,
}
"""Rules that need no file, by name."""


def sharing_split(total: ArrayLike, home: ArrayLike, workers: int, sharing: float) -> NDArray[np.float64]:
    """Expected demand per worker: ρ·total spread evenly over the workers, (1 − ρ)·total at the home worker.

    Parameters
    ----------
    total : float array-like, shape (G,)
        Requests of each prefix (document, session).
    home : int array-like, shape (G,)
        Home worker of each.
    workers : int
        M ≥ 1.
    sharing : float
        ρ in [0, 1].

    Returns
    -------
    float array, shape (M, G)
        Columns sum to `total`, to rounding.
    """
    if not 0 <= sharing <= 1:
        raise InputError(f"sharing = {sharing} violates 0 <= sharing <= 1")
    amount, at = np.asarray(total, np.float64), np.asarray(home, np.int64)
    split = np.tile(sharing * amount / workers, (workers, 1))
    split[at, np.arange(at.size)] += (1 - sharing) * amount
    return split


def stable_hash(value: Hashable) -> int:
    """64-bit BLAKE2b of an id (type name and ``repr``): equal in every run, process and Python version."""
    text = f"{type(value).__name__}:{value!r}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _ancestors_at(requests: Requests, depth: int) -> NDArray[np.int64]:
    """The chunk at `depth` on each request's path, or its last chunk when the path is shorter."""
    from prefixplace.demand._kernels import nearest_marked

    above = nearest_marked(requests.tree.parent, requests.tree.depth == depth)[requests.leaf]
    return np.where(above >= 0, above, requests.leaf)
