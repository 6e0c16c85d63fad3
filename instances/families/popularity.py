"""How requests are spread over the prefixes of a workload: Zipf, uniform or bursty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.checks import require
from instances.families.base import ServedFamily, zipf

__all__ = ["BURST_FACTOR", "BURST_SHARE", "POPULARITIES", "PopularFamily"]

POPULARITIES = ("zipf", "uniform", "bursty")

BURST_SHARE, BURST_FACTOR = 0.1, 10.0
"""In a bursty epoch each prefix is in a burst with this probability, and is then wanted this many times as often."""


@dataclass(frozen=True, kw_only=True)
class PopularFamily(ServedFamily):
    """A served family whose prefixes differ in popularity.

    Parameters
    ----------
    popularity : str
        ``zipf``: prefix number j gets a share proportional to (j + 1)^−skew. ``uniform``: all the same. ``bursty``:
        Zipf shares, of which a random tenth is in a burst and counts tenfold.
    skew : float
        Zipf exponent ≥ 0 of ``zipf`` and ``bursty``; ``uniform`` does without.
    """

    popularity: str = "zipf"
    skew: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.popularity in POPULARITIES, f"popularity in {POPULARITIES}")
        require(self, 0 <= self.skew < np.inf, "0 <= skew < inf")

    def shares(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Requests per epoch of each of `count` prefixes, summing to `requests`."""
        weight = zipf(count, 0.0 if self.popularity == "uniform" else self.skew)
        if self.popularity == "bursty":
            weight = np.where(rng.random(count) < BURST_SHARE, BURST_FACTOR, 1.0) * weight
        share: NDArray[np.float64] = self.requests * (weight / weight.sum())
        return share
