"""Tight examples for WorkerGreedy, refinement and multi-start.

A factor is approached as a small ε > 0 goes to 0. Here ε = 1/`inverse_epsilon` and all values are multiplied by
a common whole number, so that every value is a whole number and every comparison is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from instances.checks import require
from instances.construction import Construction, Drawn, chain_forest, from_values
from instances.known import Known

__all__ = ["AllOrdersTwoThirds", "IdenticalThreeQuarters", "OneOrderHalf", "XyPool"]


@dataclass(frozen=True, kw_only=True)
class _Epsilon(Construction):
    """A construction whose factor is approached as ε goes to 0."""

    inverse_epsilon: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.inverse_epsilon >= 2, "inverse_epsilon >= 2")


@dataclass(frozen=True, kw_only=True)
class OneOrderHalf(_Epsilon):
    """Tight for greedy in one order, refined or not: a factor that tends to ½.

    Worker 0 (two chunks) takes the lone chunk worth 1 + ε that worker 1 (one chunk) could have kept, instead of
    the chain of two worth 1 that only it can keep. Worker 1 then keeps a chunk worth ε/10 to it. The order (0, 1)
    ends at (1 + 1.1ε)/(2 + ε), coordinate-optimal; the order (1, 0) finds the optimum. Values in units of ε/10.

    Parameters
    ----------
    inverse_epsilon : int
        1/ε ≥ 2. Nothing is drawn: every seed gives the same instance.
    """

    def draw(self, seed: int = 0) -> Drawn:
        """Chunk 0 alone, chunk 2 under chunk 1; the same for every seed."""
        one = 10 * self.inverse_epsilon
        optimum = 2 * one + 10
        known = Known(
            opt=optimum,
            configuration_lp=optimum,
            reasons={
                "opt": "both chunks with coverage value are covered; the bound below shows that ε/10 cannot be added",
                "configuration_lp": "the multipliers μ = (1, 0, 1) give Σ(Δ − μ) + 1 + 1 = Σ Δ",
            },
        )
        instance = from_values(
            [-1, -1, 1],
            local=[[0, 0, 0], [0, 1, 0]],
            coverage=[one + 10, 0, one],
            budgets=[2, 1],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[1, 2], [0]])

    @property
    def factor(self) -> Fraction:
        """What the order (0, 1) reaches, as a part of the optimum."""
        one = 10 * self.inverse_epsilon
        return Fraction(one + 11, 2 * one + 10)


@dataclass(frozen=True, kw_only=True)
class AllOrdersTwoThirds(_Epsilon):
    """Tight for the best over all orders of two workers, with refinement: a factor that tends to ⅔.

    A popular prefix (chunk 0) with one continuation (chunk 1), and an unrelated chunk 2. The optimum gives the
    chain to worker 0 and chunk 2 to worker 1. Both orders end with worker 0 on {0, 2} and worker 1 on {0}, at
    2 + 3ε + ε/10 of 3 + 3ε, coordinate-optimal. Values in units of ε/10.

    Parameters
    ----------
    inverse_epsilon : int
        1/ε ≥ 2. Nothing is drawn: every seed gives the same instance.
    """

    def draw(self, seed: int = 0) -> Drawn:
        """Chunk 1 under chunk 0, chunk 2 alone; the same for every seed."""
        one = 10 * self.inverse_epsilon
        optimum = 3 * one + 30
        known = Known(
            opt=optimum,
            configuration_lp=optimum,
            reasons={
                "opt": "everything with coverage value is covered; the bound below shows that ε/10 cannot be added",
                "configuration_lp": "the multipliers μ = (0, 1, 1) give Σ(Δ − μ) + 1 + 1 = Σ Δ",
            },
        )
        instance = from_values(
            [-1, 0, -1],
            local=[[0, 0, 0], [1, 0, 0]],
            coverage=[one + 20, one, one + 10],
            budgets=[2, 1],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[0, 1], [2]])

    @property
    def factor(self) -> Fraction:
        """What every order reaches, refined, as a part of the optimum."""
        one = 10 * self.inverse_epsilon
        return Fraction(2 * one + 31, 3 * one + 30)


@dataclass(frozen=True, kw_only=True)
class IdenticalThreeQuarters(_Epsilon):
    """Tight for identical workers: all orders with refinement tend to ¾.

    Two workers of three chunks, no local value. Greedy combines the two best ends, 1 + ε each, from different
    branches; the rest can then be covered only in part: 3 + 2ε of 4 + 2ε. Values in units of ε.

    Parameters
    ----------
    inverse_epsilon : int
        1/ε ≥ 2. Nothing is drawn: every seed gives the same instance.
    """

    def draw(self, seed: int = 0) -> Drawn:
        """Chains 0-1, a lone chunk 2, and 3 with the leaves 4 and 5; the same for every seed."""
        one = self.inverse_epsilon
        known = Known(
            opt=4 * one + 2,
            configuration_lp=4 * one + 2,
            reasons={
                "opt": "everything with coverage value is covered, and there is no local value",
                "configuration_lp": "Σ Δ bounds it (μ = 0, no local value)",
            },
        )
        instance = from_values(
            [-1, 0, -1, -1, 3, 3],
            local=np.zeros((2, 6)),
            coverage=[0, one, one + 1, 0, one + 1, one],
            budgets=[3, 3],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[0, 1, 2], [3, 4, 5]])

    @property
    def factor(self) -> Fraction:
        """What every order reaches, refined, as a part of the optimum."""
        return Fraction(3 * self.inverse_epsilon + 2, 4 * self.inverse_epsilon + 2)


@dataclass(frozen=True, kw_only=True)
class XyPool(Construction):
    """Against the eight starts for more than five workers: tends to ¾ as the pool grows.

    2·`pairs` workers with budgets 3, 2, 3, 2, …; `pairs` chains of two chunks paying 1 + ε at the end (X) and as
    many chains of three paying 1 (Y). A worker of budget 3 prefers an X while there is one, and then a Y has
    no worker left that can keep it. Greedy in an order ends at `pairs`·(2 + ε) less the number of budget-3
    workers among the first `pairs`; every outcome is coordinate-optimal, and exchanging two workers' sets
    repairs it. How near the best of the eight starts comes to ¾ depends on the six permutations that are fixed:
    .79 at 100 workers, .77 at 400. Values in units of ε.

    Parameters
    ----------
    pairs : int
        t ≥ 1: pairs of workers, chains of either kind.
    inverse_epsilon : int
        1/ε ≥ 2. Nothing is drawn: every seed gives the same instance.
    """

    pairs: int = 3
    inverse_epsilon: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.pairs >= 1, "pairs >= 1")
        require(self, self.inverse_epsilon >= 2, "inverse_epsilon >= 2")

    def draw(self, seed: int = 0) -> Drawn:
        """X chains first, then Y chains; the same for every seed."""
        t, one = self.pairs, self.inverse_epsilon
        lengths = np.array([2] * t + [3] * t)
        parents, start = chain_forest(lengths)
        coverage = np.zeros(parents.size)
        coverage[start + lengths - 1] = [one + 1] * t + [one] * t
        optimum = t * (2 * one + 1)
        known = Known(
            opt=optimum,
            configuration_lp=optimum,
            reasons={
                "opt": "every chain is covered, and there is no local value",
                "configuration_lp": "Σ Δ bounds it (μ = 0, no local value)",
            },
        )
        instance = from_values(
            parents,
            local=np.zeros((2 * t, parents.size)),
            coverage=coverage,
            budgets=[3, 2] * t,
            known=known,
            **self._header(seed),
        )
        chains = [list(range(s, s + k)) for s, k in zip(start.tolist(), lengths.tolist(), strict=True)]
        return Drawn(instance, [chains[(t if m % 2 == 0 else 0) + m // 2] for m in range(2 * t)])

    def greedy_value(self, order: tuple[int, ...]) -> int:
        """What greedy reaches in `order` (a permutation of the 2t workers), refined or not."""
        t, one = self.pairs, self.inverse_epsilon
        large_first = sum(m % 2 == 0 for m in order[:t])
        return t * (2 * one + 1) - large_first * one
