"""The requester-side (separable) objective."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixplace.objective.state import Nodes, State

__all__ = ["RequesterSide"]


class RequesterSide:
    """F(T) = Σ_m Σ_{b ∈ T_m} a_m(b) + Σ_{b ∈ ∪ T_m} Δ(b): every copy earns a_m(b), the first one Δ(b) as well.

    Parameters
    ----------
    local : float array, shape (M, n)
        Local value a_m(b) in ms per epoch.
    coverage : float array, shape (n,)
        Coverage value Δ(b) in ms per epoch.
    """

    def __init__(self, local: NDArray[np.float64], coverage: NDArray[np.float64]) -> None:
        self.local, self.coverage = local, coverage

    def value(self, mask: NDArray[np.bool_]) -> float:
        """F of a placement mask (shape (M, n)) in ms per epoch. O(M·n)."""
        return float(np.sum(self.local, where=mask) + np.sum(self.coverage, where=mask.any(axis=0)))

    def state(self, mask: NDArray[np.bool_]) -> State:
        """Marginals that follow changes of `mask`, which is copied. O(n) a worker for the first query."""
        return _RequesterState(self, mask)


class _RequesterState(State):
    """p_m(b) = a_m(b) + Δ(b)·[no other worker keeps b]."""

    def __init__(self, objective: RequesterSide, mask: NDArray[np.bool_]) -> None:
        super().__init__(mask)
        self._objective = objective
        self._holders = np.count_nonzero(mask, axis=0)

    @property
    def value(self) -> float:
        return self._objective.value(self.mask)

    def _marginal(self, worker: int, nodes: Nodes) -> NDArray[np.float64]:
        others = self._holders[nodes] - self.mask[worker, nodes]
        first_copy = np.where(others == 0, self._objective.coverage[nodes], 0.0)
        result: NDArray[np.float64] = self._objective.local[worker, nodes] + first_copy
        return result

    def _move(self, worker: int, changed: NDArray[np.int64]) -> NDArray[np.int64]:
        before = self._holders[changed]
        after = before + np.where(self.mask[worker, changed], 1, -1)
        self._holders[changed] = after
        return changed[np.minimum(before, after) <= 1]  # above one other holder nothing depends on the number
