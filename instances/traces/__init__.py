"""Instances from real request traces."""

from instances.traces.build import TraceInstance, trace_instance
from instances.traces.mooncake import TraceRecords, read_assignment, read_mooncake
from instances.traces.report import (
    TraceReport,
    constant_demand_segments,
    id_violations,
    shared_access_fraction,
)

__all__ = [
    "TraceInstance",
    "TraceRecords",
    "TraceReport",
    "constant_demand_segments",
    "id_violations",
    "read_assignment",
    "read_mooncake",
    "shared_access_fraction",
    "trace_instance",
]
