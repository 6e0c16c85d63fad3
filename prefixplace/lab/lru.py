"""What per-worker prefix caches with block-level LRU eviction end up holding: the vLLM-APC comparator."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from prefixplace._replay import requests_of_demand
from prefixplace.demand import Requests
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement

__all__ = ["drawn_requests", "lru_placement", "requests_of_demand"]


def lru_placement(instance: Instance, requests: Requests) -> Placement:
    """Serve `requests` in order, every worker with a cache of its own, and freeze the caches at the end.

    As in vLLM's automatic prefix caching: a request uses all blocks of its path, which are freed from the last to
    the first when it ends, so that among blocks used by the same request the deepest is evicted first. A block is
    therefore never older than its children, and what is held at the end is parent-closed: all of it is usable.
    Fetching from peers plays no part; the frozen state is what the objective then judges.

    O(total path length).

    Raises
    ------
    InputError
        When the requests are not routed over the workers of the instance.
    """
    if requests.worker is None or requests.num_workers != instance.num_workers:
        raise InputError(f"the requests must be routed over {instance.num_workers} workers")
    parent = instance.tree.parent.tolist()
    budgets = instance.budgets.tolist()
    caches: list[OrderedDict[int, None]] = [OrderedDict() for _ in budgets]  # oldest first
    for worker, leaf in zip(requests.worker.tolist(), requests.leaf.tolist(), strict=True):
        cache, node = caches[worker], leaf
        while node >= 0:
            cache[node] = None
            cache.move_to_end(node)
            node = parent[node]
        while len(cache) > budgets[worker]:
            cache.popitem(last=False)
    mask = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
    for worker, cache in enumerate(caches):
        mask[worker, list(cache)] = True
    return Placement(instance.tree, mask)


def drawn_requests(instance: Instance, count: int, seed: int) -> Requests:
    """`count` independent requests from the demand of `instance`, in random order, each at its worker.

    Raises
    ------
    InputError
        When no requests make that demand (see :func:`prefixplace._replay.requests_of_demand`).
    """
    kinds = requests_of_demand(instance)
    if not len(kinds):
        return kinds
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(kinds), count, p=kinds.weights / kinds.weights.sum())
    assert kinds.worker is not None
    return Requests(
        instance.tree, kinds.leaf[chosen], worker=kinds.worker[chosen], num_workers=instance.num_workers
    )
