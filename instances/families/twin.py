"""A synthetic twin of a request trace: same lengths, reuse and recency, other content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances.checks import require
from instances.families.base import ServedFamily, Workload
from instances.traces.mooncake import read_mooncake
from prefixplace.demand import Requests
from prefixplace.errors import InputError

__all__ = ["Log", "TraceFit", "TraceTwin", "fit_trace", "forest_statistics", "twin_log"]

Paths = Sequence[Sequence[Any]]


@dataclass(frozen=True, eq=False)
class TraceFit:
    """What a twin keeps of a trace: for each request its length, how much of it was known, and since when.

    Attributes
    ----------
    length : int array, shape (R,)
        Chunks of each request, ≥ 1.
    reuse : int array, shape (R,)
        Length of its longest prefix that an earlier request had.
    age : int array, shape (R,)
        How many requests ago the last chunk of that prefix was last wanted; 0 when nothing was reused.
    """

    length: NDArray[np.int64]
    reuse: NDArray[np.int64]
    age: NDArray[np.int64]


def fit_trace(paths: Iterable[Sequence[Any]]) -> TraceFit:
    """Measure a trace given as sequences of chunk ids, in order of arrival. O(total length).

    Requests without any chunk are left out; a trace without others raises :class:`InputError`.
    """
    children: dict[tuple[int, Any], int] = {}
    seen: list[int] = []  # when each node was last wanted
    rows: list[tuple[int, int, int]] = []
    for path in paths:
        if not len(path):
            continue
        number, node, reuse, age = len(rows), -1, 0, 0
        for chunk in path:
            following = children.get((node, chunk))
            if following is None:
                following = children[node, chunk] = len(seen)
                seen.append(number)
            else:
                reuse, age = reuse + 1, number - seen[following]
                seen[following] = number
            node = following
        rows.append((len(path), reuse, age))
    if not rows:
        raise InputError("the trace has no request with a chunk")
    length, reuse_, age_ = np.array(rows, np.int64).T
    return TraceFit(length, reuse_, age_)


class Log(NamedTuple):
    """A drawn log: the forest, the last chunk of each request, and the request that brought each chunk."""

    parents: NDArray[np.int64]
    leaves: NDArray[np.int64]
    creator: NDArray[np.int64]


def twin_log(fit: TraceFit, arrivals: int, rng: np.random.Generator) -> Log:
    """Draw a log of `arrivals` requests.

    Each request takes the length, reuse and age of a random one of the trace, and continues the request
    nearest to that age that is long enough (among 256; the longest of those when none is).
    """
    rows = rng.integers(fit.length.size, size=arrivals)
    paths: list[NDArray[np.int64]] = []
    parents: list[NDArray[np.int64]] = []
    n = 0
    for j, row in enumerate(rows.tolist()):
        length, reuse, age = (int(column[row]) for column in (fit.length, fit.reuse, fit.age))
        known = _donor(paths, reuse, max(0, j - age))[:reuse] if reuse and j else np.zeros(0, np.int64)
        fresh = np.arange(n, n + length - known.size)
        parents.append(np.concatenate((known[-1:] if known.size else [-1], fresh))[: fresh.size])
        n += fresh.size
        paths.append(np.concatenate((known, fresh)))
    creator = np.repeat(np.arange(arrivals), [part.size for part in parents])
    return Log(np.concatenate(parents).astype(np.int64), np.array([path[-1] for path in paths]), creator)


def _donor(paths: list[NDArray[np.int64]], reuse: int, target: int) -> NDArray[np.int64]:
    best = paths[target]
    for distance in range(256):
        for t in {target - distance, target + distance}:
            if 0 <= t < len(paths):
                if paths[t].size >= reuse:
                    return paths[t]
                if paths[t].size > best.size:
                    best = paths[t]
    return best


def forest_statistics(parents: NDArray[np.int64], leaves: NDArray[np.int64]) -> dict[str, float]:
    """Figures by which a twin is compared with its trace; parents before children, one leaf per request."""
    n = parents.size
    depth, demand = np.zeros(n, np.int64), np.bincount(leaves, minlength=n)
    for b, above in enumerate(parents.tolist()):
        depth[b] = 1 + depth[above] if above >= 0 else 1
    total = int(depth[leaves].sum())
    for b in range(n - 1, -1, -1):
        if parents[b] >= 0:
            demand[parents[b]] += demand[b]
    children = np.bincount(parents[parents >= 0], minlength=n)
    lengths = depth[leaves]
    return {
        "requests": leaves.size,
        "chunks": n,
        "roots": int((parents < 0).sum()),
        "branching_chunks": int((children > 1).sum()),
        "chunks_wanted_twice": int((demand > 1).sum()),
        "largest_demand": int(demand.max()),
        "mean_length": float(lengths.mean()),
        "length_p90": float(np.quantile(lengths, 0.9)),
        "deepest": int(depth.max()),
        "hit_rate": 1 - n / total,
    }


@dataclass(frozen=True, kw_only=True)
class TraceTwin(ServedFamily):
    """A twin of a real trace: a random log with its lengths, reuse and recency, drawn at any size.

    Lengths, reused prefixes and ages are drawn together from those of the trace; what the twin then shares with
    it and what not (branching, hottest chunks) is reported in ``meta["fit"]``, both sides. Fleet, `sharing`,
    `requests` (to which the log is scaled) and `chunk_tokens` are inherited.

    Parameters
    ----------
    trace : str
        Path of a Mooncake trace (``.jsonl`` or ``.gz``); when empty, a made-up log of 60 conversations that grow
        by one to four chunks a turn behind a common chunk.
    arrivals : int
        Requests in the log; 0 = as many as in the trace.
    """

    trace: str = ""
    arrivals: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.arrivals >= 0, "arrivals >= 0")

    def workload(self, rng: np.random.Generator) -> Workload:
        """The log; a chunk belongs to the request that brought it."""
        paths = self._paths()
        count = self.arrivals or sum(1 for path in paths if len(path))
        log = twin_log(fit_trace(paths), count, rng)
        original = Requests.from_paths(paths)
        facts = {
            "fit": {
                "trace": forest_statistics(original.tree.given_parents, original.tree.origin[original.leaf]),
                "twin": forest_statistics(log.parents, log.leaves),
            }
        }
        ending = np.zeros(log.parents.size)
        np.add.at(ending, log.leaves, self.requests / count)
        return Workload(log.parents, ending, log.creator, count, facts)

    def _paths(self) -> Paths:
        if self.trace:
            return read_mooncake(self.trace).paths
        rng = np.random.default_rng(0)  # the made-up log is one and the same for every seed
        turns = rng.integers(1, 8, size=60)
        speaker = rng.permutation(np.repeat(np.arange(60), turns))
        so_far: list[list[Any]] = [["system"] for _ in range(60)]
        paths = []
        for number, s in enumerate(speaker.tolist()):
            so_far[s] = so_far[s] + [(number, i) for i in range(int(rng.integers(1, 5)))]
            paths.append(so_far[s])
        return paths
