"""The coverage dual: one convex function whose every value is an upper bound.

Requester-side, for multipliers 0 ≤ μ ≤ Δ:      L(μ) = Σ_b (Δ(b) − μ_b) + Σ_m W_m(a_m + μ).
Pairwise, for assignment multipliers σ_{mb} ≥ 0: L(σ) = Σ_{m,b} σ_{mb} + Σ_h W_h(Σ_m [s_{m←h} − σ_m]₊).

W_m(p) is the best closed set within the budget of m. With the exact oracle the minimum of L is the configuration
LP. With the budget priced, W_m(p) = min_{λ ≥ 0} λ·k_m + (best closed set of any size for p − λ), one call costs a
few passes over the tree and the minimum of L is the compact LP (closed sets are an integral polytope, so pricing
the budget convexifies nothing else).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from exact.bounds.workers import worker_classes
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise
from prefixplace.oracle import ClosedSetOracle

__all__ = ["CoverageDual", "Evaluation", "OracleKind"]

Vector = NDArray[np.float64]
OracleKind = Literal["exact", "price"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """L at one point.

    Attributes
    ----------
    value : float
        An upper bound on the optimum.
    gradient : array of the shape of the multipliers
        A subgradient of L.
    weights : float array (M, n)
        How much of each chunk each worker's answer takes: 0/1 with the exact oracle, a convex combination of two
        closed sets that together meet the budget with the priced one.
    worth : float array (M,)
        W_m of each worker.
    prices : float array (M,)
        The price of a chunk found for each worker; NaN with the exact oracle.
    """

    value: float
    gradient: Vector
    weights: Vector
    worth: Vector
    prices: Vector


class CoverageDual:
    """Evaluates L for one instance; remembers budget prices, so that the next call starts near the answer.

    Parameters
    ----------
    instance : Instance
    oracle : {"exact", "price"}
        How W_m is computed. One :meth:`evaluate` costs one oracle call per class of identical workers; pairwise
        one per worker, and the M²·n savings are kept in memory.

    Attributes
    ----------
    shape : tuple
        Of the multipliers: (n,), or (M, n) for the pairwise objective.
    upper : array of that shape
        Multipliers are kept between 0 and `upper`; beyond it L only grows.
    """

    def __init__(self, instance: Instance, oracle: OracleKind) -> None:
        self.instance, self.oracle, self._solver = instance, oracle, ClosedSetOracle(instance.tree)
        workers, n = instance.num_workers, instance.num_chunks
        self.saving: Vector | None = None
        if isinstance(instance.objective, Pairwise):
            everywhere = np.arange(n)
            saving = np.stack([instance.objective.saving(h, everywhere) for h in range(workers)])
            self.saving, self.upper = saving, saving.max(axis=0)
            self.classes = [[m] for m in range(workers)]
        else:
            self.upper = np.array(instance.coverage_value)
            self.classes = worker_classes(instance, same_budget=True)
        self.shape = self.upper.shape
        self.calls = 0
        self._prices = np.zeros(workers)

    def clip(self, multipliers: Vector) -> Vector:
        """The nearest multipliers that are in range."""
        return np.clip(multipliers, 0.0, self.upper)

    def constant(self, multipliers: Vector) -> float:
        """The part of L without workers."""
        return float((self.upper - multipliers).sum() if self.saving is None else multipliers.sum())

    def profit(self, worker: int, multipliers: Vector) -> Vector:
        """Profits of `worker` at `multipliers`, shape (n,)."""
        if self.saving is None:
            result: Vector = self.instance.local_value[worker] + multipliers
        else:
            result = np.maximum(self.saving[worker] - multipliers, 0.0).sum(axis=0)
        return result

    def gradient(self, multipliers: Vector, weights: Vector) -> Vector:
        """The subgradient of L that the answers `weights` (shape (M, n)) give."""
        if self.saving is None:
            result: Vector = weights.sum(axis=0) - 1.0
            return result
        slope = np.ones(self.shape)
        for holder, kept in enumerate(weights):
            slope -= np.where(self.saving[holder] > multipliers, kept, 0.0)
        return slope

    def evaluate(self, multipliers: Vector) -> Evaluation:
        """L at `multipliers`, which must be in range."""
        workers, n = self.instance.num_workers, self.instance.num_chunks
        weights, worth, prices = np.zeros((workers, n)), np.zeros(workers), np.full(workers, np.nan)
        answer = self._exact if self.oracle == "exact" else self._priced
        for members in self.classes:
            m = members[0]
            worth[members], prices[members] = answer(m, self.profit(m, multipliers), weights[m])
            weights[members[1:]] = weights[m]
            self.calls += 1
        value = self.constant(multipliers) + float(worth.sum())
        return Evaluation(value, self.gradient(multipliers, weights), weights, worth, prices)

    def _priced(self, worker: int, profit: Vector, into: Vector) -> tuple[float, float]:
        from exact.bounds._kernels import best_price

        scratch = np.empty(profit.size), np.empty(profit.size, np.int64)
        budget = int(self.instance.budgets[worker])
        value, price, _ = best_price(
            self.instance.tree.parent, profit, budget, self._prices[worker], into, *scratch
        )
        self._prices[worker] = price
        return value, price

    def _exact(self, worker: int, profit: Vector, into: Vector) -> tuple[float, float]:
        warm = self._prices[worker]
        best = self._solver.solve(profit, int(self.instance.budgets[worker]), warm=warm)
        into[best.mask] = 1.0
        if best.multiplier is not None:
            self._prices[worker] = best.multiplier
        return best.value + best.rounding, np.nan
