"""Parity-blocked spiders: a covering that misses half a chunk a worker, which branch and bound cannot see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.construction import Construction, Drawn, chain_forest, from_values
from instances.known import Known
from instances.reductions.packing import draw_triple

__all__ = ["ParityBlocked"]


@dataclass(frozen=True, kw_only=True)
class ParityBlocked(Construction):
    """Legs of even length against odd budgets: optimum and configuration LP mB − m/2, compact LP mB.

    m/2 triples of legs sum to B − 1 and m/2 to B + 1, Δ = 1 on every chunk, no local value. The bound of the
    compact MIP stays at mB however far it branches, which takes HiGHS and CP-SAT a long time to improve at a few
    hundred chunks; column generation proves the optimum at its root.

    Parameters
    ----------
    workers : int
        m ≥ 2, even.
    budget : int
        B ≥ 7, odd.
    """

    workers: int = 4
    budget: int = 21

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.workers >= 2 and self.workers % 2 == 0, "even workers >= 2")
        require(self, self.budget >= 7 and self.budget % 2 == 1, "odd budget >= 7")

    def draw(self, seed: int = 0) -> Drawn:
        """Even leg lengths between about B/4 and B/2, in random order."""
        rng = np.random.default_rng(seed)
        m, budget = self.workers, self.budget
        low, high = max(2, 2 * (budget // 8)), 2 * ((budget + 2) // 4)
        triples = [draw_triple(rng, budget - 1 + 2 * (j % 2), low, high, 2) for j in range(m)]
        shuffle = rng.permutation(3 * m)
        lengths = np.array(triples).ravel()[shuffle]
        parents, start = chain_forest(lengths)
        optimum = m * budget - m // 2
        known = Known(
            opt=optimum,
            configuration_lp=optimum,
            compact_lp=m * budget,
            reasons={
                "opt": "the short triples fit whole, the long ones without their last chunk; the configuration LP "
                "meets it",
                "configuration_lp": "μ = 1 at every second chunk of each leg, else 0: Σ(Δ − μ) = mB/2, and a budget of "
                "B holds (B − 1)/2 of those",
                "compact_lp": "1/m of every chunk for every worker covers all mB chunks",
            },
        )
        instance = from_values(
            parents,
            local=np.zeros((m, parents.size)),
            coverage=np.ones(parents.size),
            budgets=[budget] * m,
            known=known,
            **self._header(seed),
        )
        place = np.argsort(shuffle)
        sets = []
        for j in range(m):
            legs = place[3 * j : 3 * j + 3]
            kept = [int(start[leg]) + d for leg in legs for d in range(int(lengths[leg]))]
            sets.append(kept[:budget])
        return Drawn(instance, sets)
