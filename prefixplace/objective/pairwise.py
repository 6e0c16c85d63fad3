"""The source-dependent (pairwise) objective."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixplace.objective.state import BLOCK, Nodes, State, blocks
from prefixplace.transfer import TransferModel

__all__ = ["Pairwise"]


class Pairwise:
    """F_pair(T) = Σ_m Σ_b max_{h : b ∈ T_h} s_{m←h}(b): every requester takes its best holder.

    s_{m←h}(b) = Λ_m(b)·[w_m(b) − f_{m←h}(b)]₊ for a peer h and Λ_m(b)·w_m(b) when m holds b itself.

    Parameters
    ----------
    demand, recompute : float arrays, shape (M, n)
        Λ_m(b) in requests per epoch and w_m(b) in ms.
    fetch : float array of shape (M, M, n) as ``[requester, holder, chunk]``, or an expanded TransferModel
        f_{m←h}(b) in ms; the diagonal is 0.
    """

    def __init__(
        self,
        demand: NDArray[np.float64],
        recompute: NDArray[np.float64],
        fetch: NDArray[np.float64] | TransferModel,
    ) -> None:
        self.demand, self.recompute, self.fetch = demand, recompute, fetch
        self.num_workers, self.num_chunks = demand.shape

    def saving(self, holder: int, nodes: Nodes) -> NDArray[np.float64]:
        """s_{m←h}(b) in ms per epoch for every requester m at `nodes`, shape (M, len(nodes)).

        The row of the holder itself is Λ_h·w_h. Computed from the costs each time; O(M·len(nodes)).
        """
        if isinstance(self.fetch, TransferModel):
            cost = self.fetch.holder_costs(holder, nodes)
            cost[holder] = 0.0
        else:
            cost = self.fetch[:, holder, nodes]
        result: NDArray[np.float64] = self.demand[:, nodes] * np.maximum(self.recompute[:, nodes] - cost, 0.0)
        return result

    def value(self, mask: NDArray[np.bool_]) -> float:
        """F_pair of a placement mask (shape (M, n)) in ms per epoch. O(M·Σ|T_m|)."""
        best = np.zeros(self.demand.shape)
        for holder in range(self.num_workers):
            for nodes in blocks(mask[holder]):
                best[:, nodes] = np.maximum(best[:, nodes], self.saving(holder, nodes))
        return float(best.sum())

    def state(self, mask: NDArray[np.bool_]) -> State:
        """Marginals that follow changes of `mask`, which is copied. O(M²·n) a sweep over the workers."""
        return _PairwiseState(self, mask)


class _PairwiseState(State):
    """p_m(b) = Σ_r (s_{r←m}(b) − best saving of r from another holder)₊.

    For every (requester, chunk) the best holder value, who gives it, and the second-best value are kept, which
    is all that leaving one worker out needs.
    """

    def __init__(self, objective: Pairwise, mask: NDArray[np.bool_]) -> None:
        super().__init__(mask)
        self._objective = objective
        self._best = np.zeros(mask.shape)
        self._second = np.zeros(mask.shape)
        self._giver = np.full(mask.shape, -1, np.int32)
        for holder in range(objective.num_workers):
            for nodes in blocks(mask[holder]):
                self._insert(holder, nodes)

    @property
    def value(self) -> float:
        return float(self._best.sum())

    def _marginal(self, worker: int, nodes: Nodes) -> NDArray[np.float64]:
        other = np.where(self._giver[:, nodes] == worker, self._second[:, nodes], self._best[:, nodes])
        gain = np.maximum(self._objective.saving(worker, nodes) - other, 0.0)
        result: NDArray[np.float64] = gain.sum(axis=0)
        return result

    def _move(self, worker: int, changed: NDArray[np.int64]) -> NDArray[np.int64]:
        for start in range(0, changed.size, BLOCK):
            part = changed[start : start + BLOCK]
            added = self.mask[worker, part]
            self._insert(worker, part[added])
            self._rank(part[~added])  # who comes second after a holder has left is known only by asking all
        return changed

    def _rank(self, nodes: NDArray[np.int64]) -> None:
        """Find best and second-best holder at `nodes` from nothing."""
        self._best[:, nodes] = 0.0
        self._second[:, nodes] = 0.0
        self._giver[:, nodes] = -1
        for holder in range(self._objective.num_workers):
            self._insert(holder, nodes[self.mask[holder, nodes]])

    def _insert(self, holder: int, nodes: Nodes) -> None:
        """Let `holder`, new at `nodes`, take its place among the two best."""
        saving = self._objective.saving(holder, nodes)
        best, second, giver = self._best[:, nodes], self._second[:, nodes], self._giver[:, nodes]
        wins = saving > best
        self._second[:, nodes] = np.where(wins, best, np.maximum(second, saving))
        self._best[:, nodes] = np.where(wins, saving, best)
        self._giver[:, nodes] = np.where(wins, holder, giver)
