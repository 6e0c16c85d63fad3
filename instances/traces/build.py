"""From a trace to an instance: requests, routing, window, threshold, fleet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from instances.fleet import Fleet
from instances.traces.mooncake import Tail, TraceRecords, read_assignment, read_mooncake
from instances.traces.report import (
    TraceReport,
    constant_demand_segments,
    id_violations,
    shared_access_fraction,
)
from prefixplace import Instance, PrefixTree
from prefixplace.costs import RecomputeProfile
from prefixplace.demand import GivenAssignment, Requests, RoundRobin, Routing, route
from prefixplace.errors import InputError

__all__ = ["TraceInstance", "trace_instance"]


@dataclass(frozen=True)
class TraceInstance:
    """An instance from a trace, with the requests that made its demand and the report of the conversion.

    ``requests.tree is instance.tree``, and every request has its worker: replay them to check the objective.
    """

    instance: Instance
    requests: Requests
    report: TraceReport


def trace_instance(
    path: str | Path,
    *,
    fleet: Fleet | None = None,
    block_tokens: int = 512,
    blocks_per_chunk: int = 1,
    tail: Tail = "drop",
    routing: Routing | None = None,
    assignment: str | Path | None = None,
    window_s: float | None = None,
    window_index: int = 0,
    min_demand: float = 1.0,
    profiles: Sequence[RecomputeProfile] | None = None,
) -> TraceInstance:
    """Read a Mooncake trace and build the planning problem of one of its epochs.

    Requests are routed over the whole trace first, as a router would, then the window is cut, then chunks
    below `min_demand` go.

    Parameters
    ----------
    path : path
        See :func:`instances.traces.read_mooncake`.
    fleet : Fleet, optional
        Workers, costs and budgets; by default four, T4, L4, A100 and T4 again, with 2 % of the chunks each.
    block_tokens : int
        Tokens per block of the trace.
    blocks_per_chunk : int
        Consecutive blocks that make one placement chunk, named by the last of them; 4 turns 128-token blocks into
        512-token chunks. The rest of a request that fills no chunk is left out.
    tail : "drop" or "keep"
    routing : Routing, optional
        Rule from :mod:`prefixplace.demand`; round robin by default. Not together with `assignment`.
    assignment : path, optional
        JSON file with the worker of every line, see :func:`instances.traces.read_assignment`.
    window_s : float, optional
        Length of an epoch in seconds, counted from the first request; the whole trace when left out.
    window_index : int
        Which epoch, from 0.
    min_demand : float
        Chunks wanted by fewer requests in the window, over all workers, are left out.
    profiles : sequence of M profiles, optional
        Measured recompute costs per worker instead of the named ones of the fleet.

    Raises
    ------
    InputError
        For a broken line, a window without requests, or a fleet that does not fit.
    """
    fleet = fleet or Fleet(workers=4, budget_fraction=0.02)
    if routing is not None and assignment is not None:
        raise InputError("give a routing rule or an assignment file, not both")
    if window_s is None and window_index:
        raise InputError(f"window_index = {window_index} needs a window length")
    records = read_mooncake(path, block_tokens=block_tokens, tail=tail)
    chunk_tokens = block_tokens * blocks_per_chunk
    whole = _requests(records, blocks_per_chunk)
    rule = GivenAssignment(read_assignment(assignment)) if assignment is not None else routing or RoundRobin()
    routed = route(whole, rule, fleet.workers)
    epoch = routed if window_s is None else _epoch(routed, window_s, window_index)
    violations = id_violations(records.paths)
    requests = _labelled(epoch.pruned(min_demand))
    if not len(requests):
        raise InputError(f"{path}: no chunk is wanted by {min_demand:g} requests in the window")
    window = "" if window_s is None else f" [{window_index}×{window_s:g} s]"
    demand, budgets = requests.demand(), fleet.budgets(requests.tree.n)
    report = TraceReport(
        requests_read=len(records),
        requests_used=len(requests),
        without_full_chunk=len(records) - len(whole),
        outside_window=len(routed) - len(epoch),
        below_min_demand=len(epoch) - len(requests),
        partial_tails_dropped=records.tails_dropped,
        trace_chunks=whole.tree.n,
        ids_on_several_paths=violations[0],
        ids_with_several_predecessors=violations[1],
        chunks=requests.tree.n,
        repeated_chunks=int((demand.sum(0) >= 2).sum()),
        shared_accesses=shared_access_fraction(demand),
        segments=constant_demand_segments(requests.tree, demand.sum(0)),
        budgets=tuple(budgets.tolist()),
        cells=requests.tree.n * int(budgets.sum()),
    )
    instance = fleet.instance(
        requests.tree,
        demand,
        chunk_tokens=chunk_tokens,
        name=Path(path).name.split(".")[0] + window,
        meta={"chunk_tokens": chunk_tokens, "tail": tail, "trace": report.to_dict()},
        profiles=profiles,
    )
    return TraceInstance(instance, requests, report)


def _requests(records: TraceRecords, blocks_per_chunk: int) -> Requests:
    """All requests of the trace on the tree of its chunks, each chunk named by the id of its last block."""
    requests = Requests.from_paths(
        records.chunked(blocks_per_chunk), timestamp=records.timestamp, session=records.session
    )
    blocks = cast("Iterable[tuple[int | str, ...]]", requests.chunk_ids)
    return replace(requests, chunk_ids=tuple(block[-1] for block in blocks))


def _epoch(requests: Requests, window_s: float, index: int) -> Requests:
    number = requests.epoch_numbers(window_s)
    count = int(number.max(initial=-1)) + 1
    if not 0 <= index < count:
        raise InputError(f"window_index = {index} violates 0 <= window_index < {count}")
    return requests.select(number == index)


def _labelled(requests: Requests) -> Requests:
    """The requests with the ids of the trace as chunk labels, where those are distinct."""
    ids = requests.chunk_ids
    if ids is None or len(set(ids)) < len(ids):
        return requests
    # A pruned tree is given in preorder already, so positions stay what they are.
    return replace(requests, tree=PrefixTree.from_parents(requests.tree.parent, ids))
