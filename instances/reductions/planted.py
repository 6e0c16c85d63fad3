"""Planted optima: an instance built around a placement and the multipliers that prove it optimal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.checks import require
from instances.construction import Construction, Drawn, from_values
from instances.families.recursive import recursive_parents
from instances.known import Known

__all__ = ["PlantedOptimum", "random_closed_set"]


@dataclass(frozen=True, kw_only=True)
class PlantedOptimum(Construction):
    """An optimum planted by complementary slackness, at any size: OPT = configuration LP = compact LP.

    On a uniform random recursive forest, each worker gets a random closed set T_m of k chunks, and profits p_m for
    which T_m is best at the price λ per chunk: every chunk of T_m passes what it earns above λ to its parent
    and none passes a loss; outside T_m chains pay at depth what their beginnings cost, and no branch pays in all.
    Multipliers μ ≤ p split p into a_m = p_m − μ and Δ: Δ = μ where nobody keeps the chunk, μ = 0 where two
    workers do. Then Σ(Δ − μ) + Σ p_m(T_m) bounds every placement and equals the value of this one. Whole numbers.

    Parameters
    ----------
    workers : int
        M ≥ 1.
    chunks : int
        n ≥ 1; a million takes seconds.
    budget : int
        k ≥ 0 of every worker; the optimum is planted for any, also above n.
    price : int
        λ ≥ 1: values are between 0 and 2λ.
    overlap : float
        In [0, 1]: 0 draws the sets independently, 1 makes them equal.
    """

    workers: int = 4
    chunks: int = 200
    budget: int = 20
    price: int = 100
    overlap: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("workers", 1), ("chunks", 1), ("budget", 0), ("price", 1)):
            require(self, getattr(self, name) >= least, f"{name} >= {least}")
        require(self, 0 <= self.overlap <= 1, "0 <= overlap <= 1")

    def draw(self, seed: int = 0) -> Drawn:
        """Forest, sets, profits and the split, in this order. O(M·n·log n)."""
        rng = np.random.default_rng(seed)
        n, price = self.chunks, self.price
        parents = recursive_parents(n, rng)
        common = rng.random(n)
        sets = np.empty((self.workers, n), np.bool_)
        for kept in sets:
            key = self.overlap * common + (1 - self.overlap) * rng.random(n)
            kept[:] = random_closed_set(parents, key, self.budget)
        profit = np.stack([_profits(parents, kept, price, rng) for kept in sets])
        copies = sets.sum(axis=0)
        multiplier = np.where(copies <= 1, rng.integers(profit.min(axis=0), endpoint=True), 0)
        spread = np.where(copies >= 1, rng.integers(price, size=n, endpoint=True), 0)
        optimum = int(spread.sum() + profit[sets].sum())
        bound = "Σ(Δ − μ) + Σ_m p_m(T_m) for the planted multipliers"
        known = Known(
            opt=optimum,
            configuration_lp=optimum,
            compact_lp=optimum,
            reasons={
                "opt": "the planted placement is worth it, and the configuration LP is not above it",
                "configuration_lp": bound,
                "compact_lp": f"{bound}, where the price per chunk proves each T_m best",
            },
        )
        instance = from_values(
            parents,
            local=profit - multiplier,
            coverage=multiplier + spread,
            budgets=[self.budget] * self.workers,
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [np.flatnonzero(kept).tolist() for kept in sets])


def random_closed_set(parents: NDArray[np.int64], key: NDArray[np.float64], budget: int) -> NDArray[np.bool_]:
    """Mask of the `budget` chunks with the least largest key on their path: parent-closed, min(budget, n) chunks.

    Path maxima and depths by pointer doubling, O(n·log depth).
    """
    n = parents.size
    worst, depth = np.append(key, -np.inf), np.append(np.ones(n, np.int64), 0)
    above = np.append(np.where(parents < 0, n, parents), n)
    while (above < n).any():
        worst = np.maximum(worst, worst[above])
        depth = depth + depth[above]
        above = above[above]
    mask = np.zeros(n, np.bool_)
    mask[np.lexsort((depth[:n], worst[:n]))[:budget]] = True  # ties lie on one path: the upper one first
    return mask


def _profits(
    parents: NDArray[np.int64], kept: NDArray[np.bool_], price: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Whole p ≥ 0 such that `kept` is a best closure for p − `price`, every top part of it paying ≥ 0."""
    n = parents.size
    slot = np.where(parents < 0, n, parents)
    same_side = (parents >= 0) & (kept[slot % n] == kept)
    # a chunk passes at most an equal share of the price to a parent on its own side of the border
    siblings = np.bincount(slot[same_side], minlength=n + 1)[slot]
    share = np.where(same_side, price // np.maximum(siblings, 1), np.where(kept, price, 0))
    passed = rng.integers(share, endpoint=True) * (kept | (rng.random(n) < 0.5))
    received = np.bincount(slot[same_side], weights=passed[same_side], minlength=n + 1)[:n].astype(np.int64)
    loss = np.where(kept | (passed > 0), 0, rng.integers(price - received, endpoint=True))
    return price + passed - loss - received
