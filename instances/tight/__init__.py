"""Smallest known instances on which a method or a relaxation is as bad as its guarantee allows."""

from instances.tight.greedy import AllOrdersTwoThirds, IdenticalThreeQuarters, OneOrderHalf, XyPool
from instances.tight.relaxations import (
    CompactGap,
    ConfigurationGapFourFifths,
    ConfigurationGapSixSevenths,
    ConfigurationGapTenElevenths,
    Hypercliques,
)

__all__ = [
    "AllOrdersTwoThirds",
    "CompactGap",
    "ConfigurationGapFourFifths",
    "ConfigurationGapSixSevenths",
    "ConfigurationGapTenElevenths",
    "Hypercliques",
    "IdenticalThreeQuarters",
    "OneOrderHalf",
    "XyPool",
]
