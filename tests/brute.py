"""Independent truths for tiny instances, written from the definitions and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

import prefixplace as pp

Mask = NDArray[np.bool_]


def closed_sets(tree: pp.PrefixTree, budget: int) -> list[Mask]:
    """All parent-closed sets of at most `budget` chunks."""
    found = []
    for bits in product((False, True), repeat=tree.n):
        mask = np.array(bits, np.bool_)
        closed = all(not mask[b] or tree.parent[b] < 0 or mask[tree.parent[b]] for b in range(tree.n))
        if closed and mask.sum() <= budget:
            found.append(mask)
    return found


def placements(instance: pp.Instance) -> Iterator[Mask]:
    """All feasible placements as masks of shape (M, n)."""
    per_worker = [closed_sets(instance.tree, int(k)) for k in instance.budgets]
    for choice in product(*per_worker):
        yield np.array(choice, np.bool_).reshape(instance.num_workers, instance.num_chunks)


def saving(instance: pp.Instance, mask: Mask) -> float:
    """Saved ms per epoch by the rule of the model: 0 at home, else the cheaper of recompute and best fetch."""
    total = 0.0
    for m in range(instance.num_workers):
        for b in range(instance.num_chunks):
            recompute = instance.recompute[m, b]
            paid = recompute
            if mask[m, b]:
                paid = 0.0
            else:
                for h in range(instance.num_workers):
                    if mask[h, b]:
                        paid = min(paid, fetch_cost(instance, m, h, b))
            total += instance.demand[m, b] * (recompute - paid)
    return total


def fetch_cost(instance: pp.Instance, requester: int, holder: int, chunk: int) -> float:
    """f_{m←h}(b) of any kind of instance."""
    fetch = instance.fetch
    if isinstance(fetch, pp.TransferModel):
        rate = fetch.goodput_bps[requester, holder]
        if rate == 0:
            return float("inf")
        return float(fetch.overhead_ms[requester, holder] + fetch.chunk_bytes[chunk] * 8 / rate * 1000)
    return float(fetch[requester, holder, chunk] if fetch.ndim == 3 else fetch[requester, chunk])


def optimum(instance: pp.Instance) -> float:
    """Best objective value over all placements, by enumeration."""
    return max(instance.objective.value(mask) for mask in placements(instance))


def random_parents(rng: np.random.Generator, n: int, root_share: float = 0.3) -> list[int]:
    """A random forest of n nodes with shuffled numbers."""
    parents = [-1 if i == 0 or rng.random() < root_share else int(rng.integers(i)) for i in range(n)]
    names = rng.permutation(n)
    shuffled = np.empty(n, np.int64)
    for i, p in enumerate(parents):
        shuffled[names[i]] = -1 if p < 0 else names[p]
    return shuffled.tolist()


def random_instance(
    rng: np.random.Generator, *, n: int, workers: int, pairwise: bool = False, whole: bool = False
) -> pp.Instance:
    """A random tiny instance with ties, zeros, unreachable fetches, zero and generous budgets."""
    tree = pp.PrefixTree.from_parents(random_parents(rng, n))
    shape = (workers, n)
    demand = rng.integers(0, 4, shape).astype(float)
    recompute = rng.integers(0, 6, shape).astype(float)
    fetch = rng.integers(0, 8, (workers, *shape) if pairwise else shape).astype(float)
    if not whole:
        recompute += rng.random(shape)
        fetch += rng.random(fetch.shape)
    fetch[rng.random(fetch.shape) < 0.1] = np.inf
    budgets = rng.integers(0, n + 2, workers)
    return pp.Instance(tree, demand=demand, recompute=recompute, fetch=fetch, budgets=budgets)
