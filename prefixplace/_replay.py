"""Replay: serve requests one by one under a fixed placement. The ground truth of both objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.demand import Requests
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.transfer import TransferModel

__all__ = ["Replay", "best_peer_fetch", "replay", "requests_of_demand"]

BLOCK = 65_536
"""Requests that climb their paths together."""

LOCAL, FETCHED, RECOMPUTED = 0, 1, 2
_ACTIONS = ("local", "fetched", "recomputed")


@dataclass(frozen=True, eq=False)
class Replay:
    """What serving the requests cost.

    Attributes
    ----------
    requests : float
        Requests served (the sum of their weights).
    paid : float
        Cost under the placement, ms.
    recompute_all : float
        Cost of recomputing every chunk of every request, ms.
    paid_by_worker : float array, shape (M,)
        `paid`, by the worker that served the request.
    local, fetched, recomputed : float arrays, shape (M,)
        Chunks served on each worker from its own cache, from a peer's cache, and by recomputing.
    """

    requests: float
    paid: float
    recompute_all: float
    paid_by_worker: NDArray[np.float64]
    local: NDArray[np.float64]
    fetched: NDArray[np.float64]
    recomputed: NDArray[np.float64]

    @property
    def saved(self) -> float:
        """ms saved against recomputing everything: F or F_pair under the demand of these requests."""
        return self.recompute_all - self.paid

    @property
    def hit_rate(self) -> float:
        """Share of the chunks asked for that were not recomputed; 0 without requests."""
        hits, missed = float(self.local.sum() + self.fetched.sum()), float(self.recomputed.sum())
        return hits / (hits + missed) if hits + missed else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able data."""
        return {
            "requests": self.requests,
            "saved": self.saved,
            "paid": self.paid,
            "recompute_all": self.recompute_all,
            "hit_rate": self.hit_rate,
            "paid_by_worker": self.paid_by_worker.tolist(),
            **{name: getattr(self, name).tolist() for name in _ACTIONS},
        }

    def __repr__(self) -> str:
        return (
            f"Replay(requests={self.requests:g}, saved={self.saved:.10g} ms of {self.recompute_all:.10g}, "
            f"hit_rate={self.hit_rate:.4f})"
        )


def replay(instance: Instance, placement: Placement, requests: Requests) -> Replay:
    """Serve `requests` under a fixed `placement`, chunk by chunk along every path.

    A chunk that the serving worker keeps costs 0; otherwise it costs the cheaper of recomputing it and
    fetching it from the best peer that keeps it; without such a peer it is recomputed. The demand of the
    instance is not looked at. When it is the demand of these requests, :attr:`Replay.saved` equals
    ``instance.value(placement)`` to rounding, for both objectives.

    Parameters
    ----------
    instance : Instance
        Gives costs and budgets.
    placement : Placement
    requests : Requests
        Routed requests on a tree with the same nodes.

    Raises
    ------
    InputError
        When the placement does not fit the instance, the requests are on another tree, are not routed, or are
        routed over another number of workers.

    Notes
    -----
    O(M²·n) for the charges and O(total path length) for serving; temporary arrays hold one entry per
    request of a block of 65,536.
    """
    instance.check(placement)
    _check_requests(instance, requests)
    worker, weights = requests.worker, requests.weights
    assert worker is not None
    charge, action = _charges(instance, placement)
    workers = instance.num_workers
    paid, full = np.zeros(workers), np.zeros(workers)
    counts = np.zeros(3 * workers)
    parent, recompute = instance.tree.parent, instance.recompute
    for start in range(0, len(requests), BLOCK):
        chunk = requests.leaf[start : start + BLOCK]
        at, weight = worker[start : start + BLOCK], weights[start : start + BLOCK]
        while chunk.size:
            paid += np.bincount(at, weight * charge[at, chunk], workers)
            full += np.bincount(at, weight * recompute[at, chunk], workers)
            counts += np.bincount(3 * at + action[at, chunk], weight, 3 * workers)
            chunk = parent[chunk]
            if chunk.min() < 0:
                going = chunk >= 0
                chunk, at, weight = chunk[going], at[going], weight[going]
    by_action = counts.reshape(workers, 3)
    return Replay(
        requests=float(weights.sum()),
        paid=float(paid.sum()),
        recompute_all=float(full.sum()),
        paid_by_worker=paid,
        local=by_action[:, LOCAL].copy(),
        fetched=by_action[:, FETCHED].copy(),
        recomputed=by_action[:, RECOMPUTED].copy(),
    )


def requests_of_demand(instance: Instance) -> Requests:
    """Weighted requests whose demand is that of `instance`: one per (worker, chunk) at which requests end.

    The requests of worker m that end at chunk b are those that want b and none of its children,
    Λ_m(b) − Σ_children Λ_m(c).

    Raises
    ------
    InputError
        When the children of a chunk are wanted more often than the chunk: no requests make such a demand.
    """
    tree, demand = instance.tree, instance.demand
    if instance.has_values:
        raise InputError("an instance given by local and coverage values has no demand to make requests of")
    inner = np.flatnonzero(tree.parent >= 0)
    ending = demand.copy()
    for m in range(instance.num_workers):
        ending[m] -= np.bincount(tree.parent[inner], demand[m, inner], tree.n)
    slack = 1e-9 * demand  # children's demands are sums of floats
    bad = np.argwhere(ending < -slack)
    if bad.size:
        m, b = bad[0].tolist()
        raise InputError(
            f"worker {m} ({instance.workers[m]}) wants the children of chunk {tree.origin[b]} more often "
            "than the chunk itself: no requests make such a demand"
        )
    worker, leaf = np.nonzero(ending > slack)
    return Requests(tree, leaf, weight=ending[worker, leaf], worker=worker, num_workers=instance.num_workers)


def _check_requests(instance: Instance, requests: Requests) -> None:
    tree = instance.tree
    if requests.tree is not tree and not (
        np.array_equal(requests.tree.parent, tree.parent)
        and np.array_equal(requests.tree.origin, tree.origin)
    ):
        raise InputError("the requests are on another tree than the instance")
    if requests.worker is None:
        raise InputError("the requests have no workers yet: route them first")
    if requests.num_workers != instance.num_workers:
        raise InputError(
            f"the requests are routed over {requests.num_workers} workers, "
            f"the instance has {instance.num_workers}"
        )


def _charges(instance: Instance, placement: Placement) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """What one request on worker m pays for chunk b in ms, and by which action; both of shape (M, n)."""
    mask, recompute = placement.mask, instance.recompute
    fetch = best_peer_fetch(instance, mask)
    charge = np.minimum(recompute, fetch)
    action = np.where(fetch < recompute, FETCHED, RECOMPUTED).astype(np.int8)
    charge[mask] = 0.0
    action[mask] = LOCAL
    return charge, action


def best_peer_fetch(instance: Instance, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Cost in ms of fetching b to m from the best peer that keeps it; inf without one. Shape (M, n)."""
    best = np.full(mask.shape, np.inf)
    for holder, kept in enumerate(mask):
        nodes = np.flatnonzero(kept)
        if isinstance(instance.fetch, TransferModel):
            cost = instance.fetch.holder_costs(holder, nodes)
        elif instance.fetch.ndim == 3:
            cost = instance.fetch[:, holder, nodes]
        else:
            cost = instance.fetch[:, nodes]
        cost[holder] = np.inf  # a peer is another worker
        best[:, nodes] = np.minimum(best[:, nodes], cost)
    return best
