"""What the served families share: a fleet, a workload, and how requests are spread over the workers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.checks import require
from instances.fleet import Fleet
from prefixplace import Instance, PrefixTree
from prefixplace.demand import path_demand, sharing_split

__all__ = ["DEMAND_QUANTUM", "ServedFamily", "Workload", "chain_blocks", "zipf"]

DEMAND_QUANTUM = 2.0**-20
"""Demand is a multiple of this (about one millionth of a request): sums along paths are then exact in float64,
and a difference in the last bit of ``pow`` between machines does not reach the instance."""


@dataclass(frozen=True, eq=False)
class Workload:
    """A forest and where requests end in it, before they are spread over workers.

    Attributes
    ----------
    parents : int array, shape (n,)
        Parent of each node, -1 for a child of the dummy root; any order.
    ending : float array, shape (n,)
        Expected requests per epoch whose last chunk is each node.
    group : int array, shape (n,)
        The prefix (document, session) that each node belongs to; prefixes have home workers.
    groups : int
    facts : mapping
        What the drawing found out and is to be kept in the meta of the instance.
    """

    parents: NDArray[np.int64]
    ending: NDArray[np.float64]
    group: NDArray[np.int64]
    groups: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ServedFamily(Fleet, ABC):
    """A family of instances: a random workload served by a fleet.

    Parameters
    ----------
    sharing : float
        ρ in [0, 1]: this fraction of the requests of each prefix is spread evenly over the workers, the
        rest goes to one random home worker. 1 is the paper's "full request sharing".
    requests : float
        Requests per epoch over all workers.
    chunk_tokens : int
        Tokens per placement chunk.
    """

    sharing: float = 1.0
    requests: float = 10_000.0
    chunk_tokens: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, 0 <= self.sharing <= 1, "0 <= sharing <= 1")
        require(self, 0 < self.requests <= 1e9, "0 < requests <= 1e9")
        require(self, self.chunk_tokens >= 1, "chunk_tokens >= 1")

    @classmethod
    def family(cls) -> str:
        """Name of the family: the class name in kebab case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @abstractmethod
    def workload(self, rng: np.random.Generator) -> Workload:
        """Draw the forest and the requests."""

    def sample(self, seed: int = 0) -> Instance:
        """The instance of this seed, the same bytes in every run; the forest is drawn first, then the homes."""
        rng = np.random.default_rng(seed)
        workload = self.workload(rng)
        tree = PrefixTree.from_parents(workload.parents)
        home = rng.integers(self.workers, size=workload.groups)
        split = sharing_split(workload.ending, home[workload.group], self.workers, self.sharing)
        ending = np.rint(split / DEMAND_QUANTUM) * DEMAND_QUANTUM
        family = self.family()
        return self.instance(
            tree,
            path_demand(tree, tree.to_preorder(ending)),
            chunk_tokens=self.chunk_tokens,
            name=f"{family}-{seed}",
            meta={"family": family, "seed": seed, "parameters": _plain(asdict(self)), **workload.facts},
        )


def zipf(count: int, skew: float) -> NDArray[np.float64]:
    """Shares of ranks 1 … `count`, proportional to rank^−skew; they sum to 1."""
    weight = np.arange(1, count + 1, dtype=np.float64) ** -skew
    shares: NDArray[np.float64] = weight / weight.sum()
    return shares


def chain_blocks(
    lengths: NDArray[np.int64], leaves: int, trunk: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """A trunk chain, then a block per chain under its end: the chain, and `leaves` leaves under its last node.

    Returns ``(parents, start, block)`` in preorder: parents (n,), the first node of each chain (B,), and
    the block of each node (n,), with 0 for the trunk.
    """
    size = lengths + leaves
    start = trunk + np.concatenate(([0], np.cumsum(size)[:-1])).astype(np.int64)
    n = trunk + int(size.sum())
    parents = np.arange(-1, n - 1)
    parents[start] = trunk - 1
    last = start + lengths - 1
    parents[(last[:, None] + 1 + np.arange(leaves)).ravel()] = np.repeat(last, leaves)
    block = np.concatenate((np.zeros(trunk, np.int64), np.repeat(np.arange(lengths.size), size)))
    return parents, start, block


def _plain(parameters: dict[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
