"""Placements that do not coordinate, or only half: the paper's comparators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.planner.search import Mask, Search
from prefixplace.transfer import TransferModel

__all__ = ["FETCH_SUMMARIES", "independent", "local_dedup", "popularity", "with_summary"]


def independent(search: Search) -> Mask:
    """Every worker alone, with profits Λ_m·w_m: it believes that nobody else holds anything. M oracle calls."""
    instance = search.instance
    return _one_by_one(search, lambda m, covered: instance.demand[m] * instance.recompute[m])


def popularity(search: Search) -> Mask:
    """Every worker alone, with its local demand Λ_m as profit. M oracle calls."""
    return _one_by_one(search, lambda m, covered: search.instance.demand[m])


def local_dedup(search: Search) -> Mask:
    """Workers in index order with profits Λ_m·w_m, but a_m on chunks that an earlier worker holds. M oracle calls.

    It discounts what is covered, and never sees what a first copy saves other requesters. Requester-side only.
    """
    instance = search.instance

    def profit(m: int, covered: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.where(covered, instance.local_value[m], instance.demand[m] * instance.recompute[m])

    return _one_by_one(search, profit)


def _one_by_one(search: Search, profit: Callable[[int, NDArray[np.bool_]], NDArray[np.float64]]) -> Mask:
    state = search.working(search.empty())
    covered = np.zeros(search.instance.num_chunks, np.bool_)
    for m in range(search.instance.num_workers):
        state.replace(m, search.respond(m, profit(m, covered)))
        covered |= state.mask[m]
    return state.mask


def _mean_rate(instance: Instance) -> NDArray[np.float64]:
    """Fetch at the mean goodput of the links to all peers.

    With a cost table instead of links the rate of a chunk is taken as the inverse of its cost, so that the mean
    rate gives the harmonic mean of the costs; a fetch that cannot happen has rate 0.
    """
    if isinstance(instance.fetch, TransferModel):
        model, peers = instance.fetch, ~np.eye(instance.num_workers, dtype=np.bool_)
        links = [
            (array * peers).sum(axis=1) / max(instance.num_workers - 1, 1)
            for array in (model.goodput_bps, model.overhead_ms)
        ]
        return TransferModel(model.chunk_bytes, *links).requester_costs(
            instance.num_workers, instance.num_chunks
        )

    def harmonic(costs: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", over="ignore"):
            result: NDArray[np.float64] = 1.0 / np.mean(1.0 / costs, axis=0)
        return result

    return _over_peers(instance, harmonic)


def _mean_transfer_cost(instance: Instance) -> NDArray[np.float64]:
    """The mean cost over those peers from which the chunk can be fetched at all."""

    def mean(costs: NDArray[np.float64]) -> NDArray[np.float64]:
        finite = np.isfinite(costs)
        count = np.count_nonzero(finite, axis=0)
        total = np.sum(costs, axis=0, where=finite)
        return np.where(count > 0, total / np.maximum(count, 1), np.inf)

    return _over_peers(instance, mean)


def _best_source_cost(instance: Instance) -> NDArray[np.float64]:
    """The cost from the cheapest peer."""
    return _over_peers(instance, lambda costs: costs.min(axis=0))


def _over_peers(
    instance: Instance, summary: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """`summary` of f_{m←h}(b) over the peers h ≠ m of every requester, shape (M, n); inf without peers."""
    workers, chunks = instance.num_workers, instance.num_chunks
    result = np.full((workers, chunks), np.inf)
    if workers == 1:
        return result
    fetch = instance.fetch
    for m in range(workers):
        peers = [h for h in range(workers) if h != m]
        if isinstance(fetch, TransferModel):
            model = TransferModel(fetch.chunk_bytes, fetch.goodput_bps[m, peers], fetch.overhead_ms[m, peers])
            result[m] = summary(model.requester_costs(len(peers), chunks))
        else:
            result[m] = summary(fetch[m, peers])
    return result


FETCH_SUMMARIES: dict[str, Callable[[Instance], NDArray[np.float64]]] = {
    "mean-rate": _mean_rate,
    "mean-transfer-cost": _mean_transfer_cost,
    "best-source-cost": _best_source_cost,
}
"""Ways to forget the source: each gives f_m(b), shape (M, n), from the source-dependent costs."""


def with_summary(instance: Instance, summary: str) -> Instance:
    """The requester-side instance whose fetch costs are a `summary` (see :data:`FETCH_SUMMARIES`) of `instance`'s."""
    return Instance(
        instance.tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=FETCH_SUMMARIES[summary](instance),
        budgets=instance.budgets,
        name=f"{instance.name} with {summary}",
    )
