"""Random families of instances; :data:`instances.FAMILIES` lists them by name."""

from instances.families.base import ServedFamily, Workload
from instances.families.rag import MismatchedRag, RagShaped, TwoGroupRag
from instances.families.recursive import RandomValues, UniformRecursive
from instances.families.sessions import MultiTurn

__all__ = [
    "MismatchedRag",
    "MultiTurn",
    "RagShaped",
    "RandomValues",
    "ServedFamily",
    "TwoGroupRag",
    "UniformRecursive",
    "Workload",
]
