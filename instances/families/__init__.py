"""Random families of instances; :data:`instances.FAMILIES` lists them by name."""

from instances.families.agents import AgentTraces
from instances.families.base import ServedFamily, Workload
from instances.families.popularity import PopularFamily
from instances.families.rag import MismatchedRag, RagShaped, TwoGroupRag
from instances.families.recursive import RandomValues, UniformRecursive
from instances.families.sessions import MultiTurn
from instances.families.shapes import Caterpillar, DeepChain, Star
from instances.families.tenants import TenantPrompts
from instances.families.twin import TraceTwin
from instances.families.wikiqa import WikiQaLike

__all__ = [
    "AgentTraces",
    "Caterpillar",
    "DeepChain",
    "MismatchedRag",
    "MultiTurn",
    "PopularFamily",
    "RagShaped",
    "RandomValues",
    "ServedFamily",
    "Star",
    "TenantPrompts",
    "TraceTwin",
    "TwoGroupRag",
    "UniformRecursive",
    "WikiQaLike",
    "Workload",
]
