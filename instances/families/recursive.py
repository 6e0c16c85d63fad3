"""Uniform random recursive forests: shapes that no workload suggests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.checks import check_types, require
from instances.families.base import ServedFamily, Workload, zipf
from prefixplace import Instance, PrefixTree

__all__ = ["RandomValues", "UniformRecursive", "recursive_parents"]


def recursive_parents(chunks: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Parents of a uniform random recursive forest: node i hangs on an earlier node or on the dummy root.

    All i + 1 choices are equally likely, so the forest is a random recursive tree around the dummy root:
    about ln n roots, depth O(log n).
    """
    return np.floor(rng.random(chunks) * np.arange(1, chunks + 1)).astype(np.int64) - 1


@dataclass(frozen=True, kw_only=True)
class UniformRecursive(ServedFamily):
    """A uniform random recursive forest with requests that may end at any chunk.

    Fleet, `sharing`, `requests` and `chunk_tokens` are inherited. Every chunk has a home worker of its own
    for the requests that end there.

    Parameters
    ----------
    chunks : int
        n ≥ 1.
    skew : float
        Zipf exponent of the chunks at which requests end, in random order.
    """

    chunks: int = 200
    skew: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.chunks >= 1, "chunks >= 1")
        require(self, 0 <= self.skew < np.inf, "0 <= skew < inf")

    def workload(self, rng: np.random.Generator) -> Workload:
        """Requests end at chunks in a random order of popularity."""
        parents = recursive_parents(self.chunks, rng)
        ending = self.requests * zipf(self.chunks, self.skew)[rng.permutation(self.chunks)]
        return Workload(parents, ending, np.arange(self.chunks), self.chunks)


@dataclass(frozen=True, kw_only=True)
class RandomValues:
    """A uniform random recursive forest with independent whole numbers as local and coverage values.

    No requests and no costs stand behind these instances; they exercise solvers where realistic ones are
    easy (profits that jump along paths, many ties, zeros).

    Parameters
    ----------
    workers : int
        M ≥ 1.
    chunks : int
        n ≥ 0.
    budget : int
        k of every worker.
    largest : int
        a_m(b) and Δ(b) are uniform in 0 … `largest`.
    """

    workers: int = 3
    chunks: int = 40
    budget: int = 6
    largest: int = 9

    def __post_init__(self) -> None:
        check_types(self)
        for name, least in (("workers", 1), ("chunks", 0), ("budget", 0), ("largest", 0)):
            require(self, getattr(self, name) >= least, f"{name} >= {least}")

    def sample(self, seed: int = 0) -> Instance:
        """The instance of this seed."""
        rng = np.random.default_rng(seed)
        tree = PrefixTree.from_parents(recursive_parents(self.chunks, rng))
        return Instance.from_values(
            tree,
            local=rng.integers(self.largest, size=(self.workers, self.chunks), endpoint=True),
            coverage=rng.integers(self.largest, size=self.chunks, endpoint=True),
            budgets=np.full(self.workers, self.budget),
            name=f"random-values-{seed}",
            meta={"family": "random-values", "seed": seed, "parameters": dict(vars(self))},
        )
