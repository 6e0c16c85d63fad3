"""Instances whose relaxations lie far above the optimum.

The upper bounds are Lagrangian: multipliers 0 ≤ μ ≤ Δ give Σ(Δ − μ) + Σ_m W_m(a_m + μ) ≥ the configuration LP, W_m
being the best closed set of m; prices λ_m per chunk besides, Σ(Δ − μ) + Σ_m (λ_m·k_m + best closure of
a_m + μ − λ_m) ≥ the compact LP.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from instances.checks import require
from instances.construction import Construction, Drawn, chain_forest, from_costs, from_values
from instances.known import Known

__all__ = [
    "CompactGap",
    "ConfigurationGapFourFifths",
    "ConfigurationGapSixSevenths",
    "ConfigurationGapTenElevenths",
    "Hypercliques",
]


@dataclass(frozen=True, kw_only=True)
class ConfigurationGapFourFifths(Construction):
    """The worst known requester-side gap of the configuration LP: optimum 2, relaxation 5/2.

    Worker 0 (two chunks) either keeps its private chain worth 1 or covers both shared chunks worth 1 each;
    worker 1 covers one of the shared chunks. The relaxation does half of everything. No parameters, nothing is
    drawn.
    """

    def draw(self, seed: int = 0) -> Drawn:
        """Chain 0-1, lone chunks 2 and 3; the same for every seed."""
        known = Known(
            opt=2,
            configuration_lp=Fraction(5, 2),
            compact_lp=Fraction(5, 2),
            reasons={
                "opt": "three chunks can be kept: the chain and one shared chunk, or both shared chunks",
                "configuration_lp": "half of each set; μ = ½ on the shared chunks gives 1 + 1 + ½",
                "compact_lp": "the same solution; μ = ½ on the shared chunks with prices ½ gives 1 + 1 + ½",
            },
        )
        instance = from_values(
            [-1, 0, -1, -1],
            local=[[0, 1, 0, 0], [0, 0, 0, 0]],
            coverage=[0, 0, 1, 1],
            budgets=[2, 1],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[0, 1], [2]])


@dataclass(frozen=True, kw_only=True)
class ConfigurationGapSixSevenths(Construction):
    """A gap of the configuration LP with two identical workers and no local value: optimum 3, relaxation 7/2.

    Three lone chunks and a chain of two, each worth 1; four chunks can be kept, five would be needed. No
    parameters, nothing is drawn.
    """

    def draw(self, seed: int = 0) -> Drawn:
        """Lone chunks 0, 1, 2, chain 3-4; the same for every seed."""
        known = Known(
            opt=3,
            configuration_lp=Fraction(7, 2),
            compact_lp=Fraction(7, 2),
            reasons={
                "opt": "covering all four values takes five chunks, the workers keep four",
                "configuration_lp": "a quarter of the chain each; μ = (½, ½, ½, 0, 1) gives 3/2 + 1 + 1",
                "compact_lp": "the same solution; the same μ with prices ½ gives 3/2 + 1 + 1",
            },
        )
        instance = from_values(
            [-1, -1, -1, -1, 3],
            local=np.zeros((2, 5)),
            coverage=[1, 1, 1, 0, 1],
            budgets=[2, 2],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[0, 1], [3, 4]])


@dataclass(frozen=True, kw_only=True)
class ConfigurationGapTenElevenths(Construction):
    """The four-fifths gap in many copies that cannot help each other: optimum 5t, relaxation 11t/2.

    Plain copies would close the gap, a worker of one copy covering a chunk of another. Here each shared chunk is
    also worth 1 to either worker of its own copy, and the private chain 3: a chunk kept for another copy earns at
    most 1, and one of the own copy never less.

    Parameters
    ----------
    copies : int
        t ≥ 1. Nothing is drawn: every seed gives the same instance.
    """

    copies: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.copies >= 1, "copies >= 1")

    def draw(self, seed: int = 0) -> Drawn:
        """Per copy a chain of two and two lone chunks; the same for every seed."""
        t = self.copies
        parents, start = chain_forest([2, 1, 1] * t)
        chain, first, second = start[0::3], start[1::3], start[2::3]
        local, coverage = np.zeros((2 * t, parents.size)), np.zeros(parents.size)
        large, small = np.arange(0, 2 * t, 2), np.arange(1, 2 * t, 2)
        local[large, chain + 1] = 3
        for shared in (first, second):
            local[large, shared] = local[small, shared] = coverage[shared] = 1
        known = Known(
            opt=5 * t,
            configuration_lp=Fraction(11 * t, 2),
            compact_lp=Fraction(11 * t, 2),
            reasons={
                "opt": "a chunk kept for another copy earns ≤ 1 and can be exchanged for one of the own copy that "
                "earns ≥ 1; a copy by itself reaches 5",
                "configuration_lp": "half of each set; μ = ½ on shared chunks gives 1 + 3 + 3/2 for each copy",
                "compact_lp": "the same solution; the same μ with prices 3/2 gives 1 + 3 + 3/2 for each copy",
            },
        )
        instance = from_values(
            parents,
            local=local,
            coverage=coverage,
            budgets=[2, 1] * t,
            known=known,
            **self._header(seed),
        )
        sets: list[list[int]] = []
        for c, s in zip(chain.tolist(), first.tolist(), strict=True):
            sets += [[c, c + 1], [s]]
        return Drawn(instance, sets)


@dataclass(frozen=True, kw_only=True)
class CompactGap(Construction):
    """The compact LP at its worst: one worker of k chunks, optimum 1, compact LP k.

    A chain of k + 1 chunks pays k + 1 at its end only, out of reach by one chunk; beside it a chunk worth 1. The
    compact LP keeps the fraction k/(k + 1) of the whole chain; the configuration LP of one worker has no gap.

    Parameters
    ----------
    budget : int
        k ≥ 1. Nothing is drawn: every seed gives the same instance.
    """

    budget: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.budget >= 1, "budget >= 1")

    def draw(self, seed: int = 0) -> Drawn:
        """The chain first, the lone chunk last; the same for every seed."""
        length = self.budget + 1
        parents, _ = chain_forest([length, 1])
        coverage = np.zeros(length + 1)
        coverage[-2:] = length, 1
        known = Known(
            opt=1,
            configuration_lp=1,
            compact_lp=self.budget,
            reasons={
                "opt": "the end of the chain is out of reach",
                "configuration_lp": "with one worker it is the optimum",
                "compact_lp": "k/(k+1) of the chain; μ = Δ with price 1 leaves no closure worth more than 0",
            },
        )
        instance = from_values(
            parents,
            local=np.zeros((1, length + 1)),
            coverage=coverage,
            budgets=[self.budget],
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[length]])


@dataclass(frozen=True, kw_only=True)
class Hypercliques(Construction):
    """The pairwise configuration LP at its worst: its gap tends to 1 − (1 − 1/q)^q, so to 1 − 1/e.

    `holders` workers keep one of q = `chunks` root chunks each. For every q of them there is a requester that
    keeps nothing, wants every chunk once, and reaches just these q at no cost.

    Parameters
    ----------
    holders : int
        n ≥ chunks.
    chunks : int
        q ≥ 1. Nothing is drawn: every seed gives the same instance. There are n + C(n, q) workers.
    """

    holders: int = 5
    chunks: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.chunks >= 1, "chunks >= 1")
        require(self, self.holders >= self.chunks, "holders >= chunks")

    def draw(self, seed: int = 0) -> Drawn:
        """Holders first, then requesters; the same for every seed."""
        n, q = self.holders, self.chunks
        groups = np.array(list(combinations(range(n), q)))
        requesters = np.arange(n, n + len(groups))
        workers = n + len(groups)
        demand = np.zeros((workers, q))
        demand[n:] = 1
        fetch = np.full((workers, workers, q), np.inf)
        fetch[np.repeat(requesters, q), groups.ravel()] = 0
        held = [n // q + (j < n % q) for j in range(q)]
        known = Known(
            opt=q * comb(n, q) - sum(comb(n - x, q) for x in held),
            configuration_lp=q * comb(n, q),
            reasons={
                "opt": "a requester misses chunk j when none of its q holders keeps it, C(n − n_j, q) times for "
                "n_j copies; this is convex in n_j, so equal shares are best",
                "configuration_lp": "each holder keeps 1/q of each chunk, and every request is met",
            },
        )
        instance = from_costs(
            [-1] * q,
            demand=demand,
            recompute=np.ones((workers, q)),
            fetch=fetch,
            budgets=[1] * n + [0] * len(groups),
            known=known,
            **self._header(seed),
        )
        return Drawn(instance, [[h % q] for h in range(n)] + [[] for _ in groups])
