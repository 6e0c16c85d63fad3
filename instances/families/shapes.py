"""Extreme shapes: caterpillar, star, deep chains. A million chunks take seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.families.base import Workload, chain_blocks
from instances.families.popularity import PopularFamily

__all__ = ["Caterpillar", "DeepChain", "Star"]


@dataclass(frozen=True, kw_only=True)
class Caterpillar(PopularFamily):
    """A caterpillar: one long spine with leaves all along it, where requests end.

    A shared document that users leave at every point: each leaf needs the spine down to its own place. Fleet,
    `sharing`, `requests`, `chunk_tokens`, `popularity` and `skew` are inherited; popularity is over the leaves in
    random order.

    Parameters
    ----------
    spine : int
        Length of the spine ≥ 1.
    legs : int
        Leaves under each chunk of the spine ≥ 1; n = spine·(1 + legs).
    """

    spine: int = 50
    legs: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.spine >= 1, "spine >= 1")
        require(self, self.legs >= 1, "legs >= 1")

    def workload(self, rng: np.random.Generator) -> Workload:
        """Requests end at the leaves."""
        step = 1 + self.legs
        parents = np.repeat(np.arange(self.spine) * step, step)
        parents[::step] = np.arange(-step, (self.spine - 1) * step, step)
        parents[0] = -1
        leaves = np.flatnonzero(np.arange(parents.size) % step)
        ending = np.zeros(parents.size)
        ending[leaves] = self.shares(leaves.size, rng)[rng.permutation(leaves.size)]
        return Workload(parents, ending, np.arange(parents.size), parents.size)


@dataclass(frozen=True, kw_only=True)
class Star(PopularFamily):
    """A star: chunks without a common prefix, so that placement is assignment without precedence.

    The requester-side problem is then a min-cost flow and its compact LP has no gap. Fleet, `sharing`, `requests`,
    `chunk_tokens`, `popularity` and `skew` are inherited.

    Parameters
    ----------
    chunks : int
        n ≥ 1 roots; which of them are popular is random.
    """

    chunks: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.chunks >= 1, "chunks >= 1")

    def workload(self, rng: np.random.Generator) -> Workload:
        """Every chunk is a request of its own."""
        n = self.chunks
        ending = self.shares(n, rng)[rng.permutation(n)]
        return Workload(np.full(n, -1), ending, np.arange(n), n)


@dataclass(frozen=True, kw_only=True)
class DeepChain(PopularFamily):
    """Deep chains: few prefixes of great depth, left at random depths.

    Long agent sessions in the extreme; one chain of n chunks is the deepest forest there is. Fleet, `sharing`,
    `requests`, `chunk_tokens`, `popularity` and `skew` are inherited; popularity is over the chains.

    Parameters
    ----------
    chains : int
        ≥ 1.
    length : int
        Chunks of each chain ≥ 1; n = chains·length.
    exits : int
        Depths at which the requests of a chain end, drawn uniformly (with repetition), besides its end; ≥ 0.
    """

    chains: int = 4
    length: int = 50
    exits: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.chains >= 1, "chains >= 1")
        require(self, self.length >= 1, "length >= 1")
        require(self, self.exits >= 0, "exits >= 0")

    def workload(self, rng: np.random.Generator) -> Workload:
        """The requests of a chain are shared evenly by its end and its exits."""
        parents, start, chain = chain_blocks(np.full(self.chains, self.length), 0, 0)
        depth = rng.integers(self.length, size=(self.chains, self.exits))
        ends = np.concatenate((start[:, None] + depth, (start + self.length - 1)[:, None]), axis=1)
        share = self.shares(self.chains, rng) / (self.exits + 1)
        ending = np.zeros(parents.size)
        np.add.at(ending, ends.ravel(), np.repeat(share, self.exits + 1))
        return Workload(parents, ending, chain, self.chains)
