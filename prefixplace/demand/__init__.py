"""Requests, the prefix tree that they span, the demand that they make, and how they are routed."""

from prefixplace.demand.requests import Requests, path_demand
from prefixplace.demand.routing import (
    ROUTINGS,
    FirstChunkHash,
    GivenAssignment,
    HomeSharing,
    RoundRobin,
    Routing,
    StickySession,
    route,
    sharing_split,
    stable_hash,
)

__all__ = [
    "ROUTINGS",
    "FirstChunkHash",
    "GivenAssignment",
    "HomeSharing",
    "Requests",
    "RoundRobin",
    "Routing",
    "StickySession",
    "path_demand",
    "route",
    "sharing_split",
    "stable_hash",
]
