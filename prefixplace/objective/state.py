"""Leave-one-out marginals that follow a placement as it changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Nodes", "State", "blocks"]

Nodes = slice | NDArray[np.int64]
"""Some chunks: a range, which NumPy reads without copying, or their positions."""

BLOCK = 65_536
"""Chunks handled at once, so that temporary arrays stay at M × 65,536 numbers."""


def blocks(mask: NDArray[np.bool_]) -> Iterator[Nodes]:
    """The chunks of a mask (shape (n,)) in pieces of at most :data:`BLOCK`: ranges when it holds all of them."""
    nodes = np.flatnonzero(mask)
    for start in range(0, nodes.size, BLOCK):
        stop = min(start + BLOCK, nodes.size)
        yield slice(start, stop) if nodes.size == mask.size else nodes[start:stop]


class State(ABC):
    """A changing placement with the exact marginal of every (worker, chunk) pair.

    ``marginals(m)[b]`` is what F gains when worker m keeps chunk b and all *other* workers keep what they keep
    now. The best response of m is therefore the one-worker oracle with these profits, and replacing T_m by T'_m
    changes F by exactly ``Σ_{T'_m} p − Σ_{T_m} p``. Marginals are recomputed only for chunks whose holders among
    the other workers have changed since they were last asked for.
    """

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self.mask = mask.copy()
        self._profit = np.zeros(mask.shape)
        self._stale = np.ones(mask.shape, np.bool_)

    def marginals(self, worker: int) -> NDArray[np.float64]:
        """p_m(b) in ms, shape (n,). The array belongs to the state: read it, do not keep or change it."""
        profit, stale = self._profit[worker], self._stale[worker]
        for part in blocks(stale):
            profit[part] = self._marginal(worker, part)
        stale[:] = False
        return profit

    def replace(self, worker: int, chosen: NDArray[np.bool_]) -> None:
        """Let `worker` keep `chosen` (shape (n,)) instead of what it keeps now."""
        changed = np.flatnonzero(self.mask[worker] != chosen)
        self.mask[worker, changed] = chosen[changed]
        touched = self._move(worker, changed)
        own = self._stale[worker].copy()
        self._stale[:, touched] = True
        self._stale[worker] = own  # the marginals of a worker do not depend on its own set

    def is_stale(self, worker: int) -> bool:
        """Whether marginals of `worker` may have changed since :meth:`marginals` was last asked for them."""
        return bool(self._stale[worker].any())

    @property
    @abstractmethod
    def value(self) -> float:
        """F of the present placement, computed afresh."""

    @abstractmethod
    def _marginal(self, worker: int, nodes: Nodes) -> NDArray[np.float64]:
        """Marginals of `worker` at `nodes`."""

    @abstractmethod
    def _move(self, worker: int, changed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Account for `changed` nodes of `worker` (mask is already new); return the nodes whose marginals moved."""
