"""Retrieval-augmented generation: a shared system prefix, document branches, query leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.checks import require
from instances.families.base import ServedFamily, Workload, chain_blocks, zipf
from prefixplace import TransferModel

__all__ = ["MismatchedRag", "RagShaped", "TwoGroupRag"]


@dataclass(frozen=True, kw_only=True)
class RagShaped(ServedFamily):
    """RAG-shaped: one system prefix, document branches under it, query leaves under each document.

    The paper's workload (arXiv 2608.01655, section V). Documents are numbered by popularity; their lengths
    are independent of it. Parameters of the fleet, `sharing`, `requests` and `chunk_tokens` are inherited.

    Parameters
    ----------
    system_chunks : int
        Length of the shared system prefix; 0 makes every document a root.
    documents : int
    document_chunks : (int, int)
        Smallest and largest length of a document, uniform in between.
    queries : int
        One-chunk leaves under the last chunk of each document.
    document_skew, query_skew : float
        Zipf exponents of documents, and of queries within a document.
    """

    system_chunks: int = 1
    documents: int = 40
    document_chunks: tuple[int, int] = (4, 6)
    queries: int = 10
    document_skew: float = 0.9
    query_skew: float = 0.6

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.system_chunks >= 0, "system_chunks >= 0")
        require(self, self.documents >= 1, "documents >= 1")
        require(self, len(self.document_chunks) == 2, "len(document_chunks) == 2")
        low, high = self.document_chunks
        require(self, 1 <= low <= high, "1 <= document_chunks[0] <= document_chunks[1]")
        require(self, self.queries >= 0, "queries >= 0")
        require(self, 0 <= self.document_skew < np.inf, "0 <= document_skew < inf")
        require(self, 0 <= self.query_skew < np.inf, "0 <= query_skew < inf")

    def lengths(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Chunks of each document, most popular first."""
        low, high = self.document_chunks
        return rng.integers(low, high, size=self.documents, endpoint=True)

    def workload(self, rng: np.random.Generator) -> Workload:
        """Requests end at the queries (at the documents when there are none)."""
        lengths = self.lengths(rng)
        parents, start, document = chain_blocks(lengths, self.queries, self.system_chunks)
        share = self.requests * zipf(self.documents, self.document_skew)
        last = start + lengths - 1
        ending = np.zeros(parents.size)
        if self.queries:
            leaves = last[:, None] + 1 + np.arange(self.queries)
            ending[leaves] = share[:, None] * zipf(self.queries, self.query_skew)
        else:
            ending[last] = share
        return Workload(parents, ending, document, self.documents)


@dataclass(frozen=True, kw_only=True)
class MismatchedRag(RagShaped):
    """RAG-shaped with popular documents on shallow branches, so that demand alone misjudges the value.

    The second exact block of the paper. It gives the shape (22 branches of 2 to 9 chunks, 3 leaves each,
    183 chunks) and says that a stronger mismatch puts popular documents on shallow branches more often; how
    is not named. Here lengths are drawn uniformly among all ways to reach `total_chunks`, and the
    documents, most popular first, each take a branch that is left: the shortest with probability
    `mismatch`, any with equal probability otherwise.

    Parameters
    ----------
    mismatch : float
        In [0, 1]; 0 = lengths independent of popularity, 1 = sorted by it.
    total_chunks : int
        Chunks of all documents together, without system prefix and queries. The default 116 gives the 183
        chunks.
    """

    documents: int = 22
    document_chunks: tuple[int, int] = (2, 9)
    queries: int = 3
    mismatch: float = 0.5
    total_chunks: int = 116

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, 0 <= self.mismatch <= 1, "0 <= mismatch <= 1")
        low, high = (self.documents * bound for bound in self.document_chunks)
        require(
            self,
            low <= self.total_chunks <= high,
            "documents·document_chunks[0] <= total_chunks <= documents·document_chunks[1]",
        )

    def lengths(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Chunks of each document, most popular first."""
        left = sorted(self._composition(rng))
        taken = []
        for _ in range(self.documents):
            shortest = rng.random() < self.mismatch
            anyone = int(rng.integers(len(left)))
            taken.append(left.pop(0 if shortest else anyone))
        return np.array(taken, np.int64)

    def _composition(self, rng: np.random.Generator) -> list[int]:
        """Uniform among the sequences of lengths with the given total: each is drawn by counting completions."""
        low, high = self.document_chunks
        span, excess = high - low, self.total_chunks - self.documents * low
        # ways[j][s]: probability that j independent uniform lengths exceed `low` by s in all.
        ways = [np.zeros(excess + 1) for _ in range(self.documents + 1)]
        ways[0][0] = 1.0
        for j in range(1, self.documents + 1):
            for extra in range(min(span, excess) + 1):
                ways[j][extra:] += ways[j - 1][: excess + 1 - extra] / (span + 1)
        lengths = []
        for j in range(self.documents - 1, -1, -1):
            choices = np.array([ways[j][excess - e] if e <= excess else 0.0 for e in range(span + 1)])
            extra = int(np.searchsorted(np.cumsum(choices), rng.random() * choices.sum(), side="right"))
            lengths.append(low + extra)
            excess -= extra
        return lengths


@dataclass(frozen=True, kw_only=True)
class TwoGroupRag(RagShaped):
    """A reduced RAG shape on groups of workers, fast links inside and slow links between (source-dependent).

    The paper's source-dependent instances. It names the links (10 Gb/s inside, 1 to 3 between) but not the
    reduced shape; 12 documents of 1 to 3 chunks with 2 queries each (37 to 61 chunks) on 6 workers keep the
    pairwise MIP solvable.

    Parameters
    ----------
    groups : int
        Groups of equal size (to one worker), in worker order.
    goodput_gbps : float
        Inside a group.
    goodput_between_gbps : float
        Between groups; 0 = no link.
    """

    workers: int = 6
    goodput_gbps: float = 10.0
    documents: int = 12
    document_chunks: tuple[int, int] = (1, 3)
    queries: int = 2
    groups: int = 2
    goodput_between_gbps: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, 1 <= self.groups <= self.workers, "1 <= groups <= workers")
        require(self, 0 <= self.goodput_between_gbps < np.inf, "0 <= goodput_between_gbps < inf")

    def transfer(self, chunk_bytes: float) -> TransferModel:
        """Cost of fetching a chunk, by the groups of requester and holder."""
        group = np.arange(self.workers) * self.groups // self.workers
        inside = group[:, None] == group
        goodput = np.where(inside, self.goodput_gbps, self.goodput_between_gbps)
        return TransferModel(chunk_bytes, goodput * 1e9, self.overhead_ms)
