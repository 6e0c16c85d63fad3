"""What a trace became: requests, chunks, and how much of it could profit from coordination."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace import PrefixTree

__all__ = ["TraceReport", "constant_demand_segments", "id_violations", "shared_access_fraction"]


@dataclass(frozen=True)
class TraceReport:
    """Counts of one conversion from a trace to an instance.

    Attributes
    ----------
    requests_read : int
        Lines of the file.
    requests_used : int
        Requests that make demand in the instance.
    without_full_chunk, outside_window, below_min_demand : int
        Requests left out: shorter than one chunk; outside the time window; on no chunk with enough demand.
    partial_tails_dropped : int
        Last blocks left out because they are not full.
    trace_chunks : int
        Chunks of the whole trace (paths, not ids).
    ids_on_several_paths, ids_with_several_predecessors : int
        Ids that are not prefix hashes: found at more than one node, or right after more than one other id.
        Both are 0 when the ids are chained hashes, as a prefix cache needs.
    chunks : int
        n, the chunks of the instance.
    repeated_chunks : int
        Those wanted by at least two requests.
    shared_accesses : float
        Fraction of all (request, chunk) accesses that go to chunks wanted by at least two workers: what
        coordination can touch at all.
    segments : int
        Maximal runs of parent and child with equal total demand; one identical set of requests uses each.
    budgets : tuple of M ints
        k_m, chunks per worker.
    cells : int
        n · Σ k_m, the size of one pass of the plain dynamic program.
    """

    requests_read: int
    requests_used: int
    without_full_chunk: int
    outside_window: int
    below_min_demand: int
    partial_tails_dropped: int
    trace_chunks: int
    ids_on_several_paths: int
    ids_with_several_predecessors: int
    chunks: int
    repeated_chunks: int
    shared_accesses: float
    segments: int
    budgets: tuple[int, ...]
    cells: int

    def to_dict(self) -> dict[str, object]:
        """The fields as JSON-able values."""
        return {**asdict(self), "budgets": list(self.budgets)}

    def lines(self) -> tuple[tuple[str, str], ...]:
        """(what, how many) for a table, in reading order."""
        lost = {
            "no full chunk": self.without_full_chunk,
            "outside the window": self.outside_window,
            "below the demand threshold": self.below_min_demand,
        }
        left_out = ", ".join(f"{count:,} {why}" for why, count in lost.items() if count) or "none left out"
        chained = self.ids_on_several_paths == 0
        return (
            ("requests", f"{self.requests_used:,} of {self.requests_read:,} ({left_out})"),
            ("partial last blocks dropped", f"{self.partial_tails_dropped:,}"),
            ("chunks of the trace", f"{self.trace_chunks:,}"),
            (
                "ids that are no prefix hash",
                "none"
                if chained
                else f"{self.ids_on_several_paths:,} on several paths, "
                f"{self.ids_with_several_predecessors:,} with several predecessors; keyed by path",
            ),
            ("chunks n", f"{self.chunks:,}, {self.repeated_chunks:,} wanted twice or more"),
            ("accesses to chunks of ≥ 2 workers", f"{self.shared_accesses:.1%}"),
            ("constant-demand segments", f"{self.segments:,}"),
            ("budgets k", ", ".join(f"{k:,}" for k in self.budgets)),
            ("cells n · Σk", f"{self.cells:,}"),
        )


def id_violations(paths: Sequence[Sequence[Hashable]]) -> tuple[int, int]:
    """(ids on several paths, ids with several predecessors) in sequences of ids; (0, 0) for prefix hashes.

    The first count is of ids that end at least two different prefixes, the second of ids that come right after at
    least two different ids (or after an id and at the start). An id with one predecessor that is itself on several
    paths is in the first count only. O(total length).
    """
    start = object()
    prefix: dict[tuple[Hashable, int], int] = {}
    first_prefix: dict[Hashable, int] = {}
    first_predecessor: dict[Hashable, Hashable] = {}
    paths_differ: set[Hashable] = set()
    predecessors_differ: set[Hashable] = set()
    for path in paths:
        node = -1
        before: Hashable = start
        for chunk in path:
            node = prefix.setdefault((chunk, node), len(prefix))
            if first_prefix.setdefault(chunk, node) != node:
                paths_differ.add(chunk)
            if first_predecessor.setdefault(chunk, before) != before:
                predecessors_differ.add(chunk)
            before = chunk
    return len(paths_differ), len(predecessors_differ)


def constant_demand_segments(tree: PrefixTree, total: NDArray[np.float64]) -> int:
    """Number of maximal chains on which the total demand (shape (n,)) is constant.

    A chunk with the demand of its parent is its only wanted child, so the same requests use both, and every
    Λ_m is constant on the segment.
    """
    return int(np.count_nonzero((tree.parent < 0) | (total != total[tree.parent])))


def shared_access_fraction(demand: NDArray[np.float64]) -> float:
    """Fraction of accesses (demand, shape (M, n)) on chunks of at least two workers; 0.0 without any."""
    shared = np.count_nonzero(demand, axis=0) >= 2
    total = demand.sum()
    return float(demand[:, shared].sum() / total) if total > 0 else 0.0
