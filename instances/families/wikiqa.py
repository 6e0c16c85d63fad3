"""Question answering over a document collection, in the numbers of the paper's WikiQA workload."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.families.base import ServedFamily, Workload

__all__ = ["WikiQaLike"]


@dataclass(frozen=True, kw_only=True)
class WikiQaLike(ServedFamily):
    """WikiQA-like: documents without a common prefix, the questions on each as leaves; 9,917 chunks.

    The paper (arXiv 2608.01655, section V) gives 9,917 chunks of 128 units, 227 chunks (1 GiB) per worker, and
    six workers that each ask every question once. A chunk is then 4.7 MB, so 36,864 bytes per unit: the 3B model.
    *Chosen*, from the published size of that collection: 2,811 documents and 3,047 questions, each a leaf of one
    chunk, at least one for each document and the rest at random; the other 6,870 chunks are split among the
    documents uniformly over all ways that give each at least one, which makes their lengths geometric. With
    `sharing` = 1 and the default requests every worker asks each question once.

    Parameters
    ----------
    documents, questions : int
        1 ≤ documents ≤ questions.
    total_chunks : int
        n ≥ documents + questions.
    """

    workers: int = 6
    model: str = "qwen2.5-3b"
    chunk_tokens: int = 128
    goodput_gbps: float = 1.5
    budget_chunks: tuple[int, ...] = (227,)
    requests: float = 18_282.0
    documents: int = 2_811
    questions: int = 3_047
    total_chunks: int = 9_917

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, 1 <= self.documents <= self.questions, "1 <= documents <= questions")
        require(
            self,
            self.total_chunks >= self.documents + self.questions,
            "total_chunks >= documents + questions",
        )

    def workload(self, rng: np.random.Generator) -> Workload:
        """Every question is wanted equally often."""
        long = self.total_chunks - self.questions
        cuts = np.sort(rng.permutation(long - 1)[: self.documents - 1]) + 1
        lengths = np.diff(np.concatenate(([0], cuts, [long])))
        extra = rng.integers(self.documents, size=self.questions - self.documents)
        questions = 1 + np.bincount(extra, minlength=self.documents)
        size = lengths + questions
        start = np.concatenate(([0], np.cumsum(size)[:-1]))
        document = np.repeat(np.arange(self.documents), size)
        offset = np.arange(self.total_chunks) - start[document]
        leaf = offset >= lengths[document]
        parents = np.where(leaf, (start + lengths - 1)[document], np.arange(-1, self.total_chunks - 1))
        parents[start] = -1
        ending = np.where(leaf, self.requests / self.questions, 0.0)
        return Workload(parents, ending, document, self.documents)
