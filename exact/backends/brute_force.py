"""Enumeration of all placements: slow, obvious, and what everything else is compared to."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from exact.backend import Backend, Outcome, Run
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise
from prefixplace.tree import PrefixTree

__all__ = ["BruteForce", "BruteForceParams", "closed_sets", "count_closed_sets"]

Words = NDArray[np.uint64]
LARGEST_TREE = 62
"""Chunks that fit in the bits of one machine word, one bit per chunk."""


@dataclass(frozen=True)
class BruteForceParams:
    """Parameters of ``brute-force``.

    Parameters
    ----------
    largest : int, default 5,000,000
        Number of placements above which an instance is refused; the default takes about a minute.
    """

    largest: int = 5_000_000


class BruteForce(Backend):
    """Every combination of one parent-closed set per worker, valued from the definition of the objective."""

    name = "brute-force"
    summary = "enumeration of all placements, for tiny instances"
    bound_proof = "float"
    takes_start = False
    counts_nodes = False
    params = BruteForceParams

    def refuses(self, instance: Instance, params: BruteForceParams) -> str | None:
        """Refuse more placements than ``params.largest``, or more chunks than a word has bits."""
        if instance.num_chunks > LARGEST_TREE:
            return f"it has {instance.num_chunks} chunks, and enumeration stops at {LARGEST_TREE}"
        placements = prod(count_closed_sets(instance.tree, int(k)) for k in instance.budgets)
        if placements > params.largest:
            return f"it has {placements:.1e} placements, and enumeration stops at {params.largest:.1e}"
        return None

    def run(self, run: Run, params: BruteForceParams) -> Outcome:
        """Enumerate in slabs, one for every set of the worker with the most; a limit is checked between slabs."""
        instance = run.instance
        sets = [closed_sets(instance.tree, int(k)) for k in instance.budgets]
        first, *rest = sorted(range(len(sets)), key=lambda m: -sets[m].size)
        tables = [_chunk_values(instance, b, [first, *rest]) for b in range(instance.num_chunks)]
        counters = {"placements": 0.0}
        best = 0.0
        for own in sets[first]:
            if run.clock.expired() is not None:
                return Outcome("time", counters=counters)
            value = np.zeros(prod(sets[m].size for m in rest))
            for b, table in enumerate(tables):
                holders = _bit(np.array([own], np.uint64), b)
                for position, m in enumerate(rest, 1):
                    holders = (holders[:, None] | _bit(sets[m], b)[None] << position).ravel()
                value += table[holders]
            top = int(value.argmax())
            counters["placements"] += value.size
            if value[top] >= best:
                best = float(value[top])
                run.offer(_mask(instance, [first, *rest], own, [sets[m] for m in rest], top), "enumeration")
        run.tighten(best)
        return Outcome("finished", counters=counters)


def count_closed_sets(tree: PrefixTree, budget: int) -> int:
    """Number of parent-closed sets of at most `budget` chunks, the empty one included. O(n·k)."""
    size = min(budget, tree.n)
    ways = np.full((tree.n + 1, size + 1), 1, dtype=object)  # Python's integers do not overflow
    for i in range(tree.n - 1, -1, -1):
        ways[i, 1:] = ways[tree.end[i], 1:] + ways[i + 1, :-1]
    return int(ways[0, size])


def closed_sets(tree: PrefixTree, budget: int) -> Words:
    """All parent-closed sets of at most `budget` chunks, bit b standing for chunk b."""
    found = np.zeros(1, np.uint64)
    for b in range(tree.n):  # in preorder, so that the parent is already decided
        bit, above = np.uint64(1 << b), tree.parent[b]
        may = found if above < 0 else found[_bit(found, int(above)) == 1]
        may = may[np.bitwise_count(may) < budget]
        found = np.concatenate((found, may | bit))
    return found


def _bit(words: Words, b: int) -> NDArray[np.int64]:
    return ((words >> np.uint64(b)) & np.uint64(1)).astype(np.int64)


def _chunk_values(instance: Instance, chunk: int, workers: list[int]) -> NDArray[np.float64]:
    """What chunk adds to the objective for every set H of holders, bit i of H standing for ``workers[i]``."""
    objective = instance.objective
    if not isinstance(objective, Pairwise):
        value = np.zeros(1)
        for m in workers:
            value = np.concatenate((value, value + objective.local[m, chunk]))
        value[1:] += objective.coverage[chunk]
        return value
    at = np.array([chunk])
    saving = {h: objective.saving(h, at)[:, 0] for h in workers}
    value = np.zeros(2 ** len(workers))
    for requester in range(instance.num_workers):
        best = np.zeros(1)
        for h in workers:
            best = np.concatenate((best, np.maximum(best, saving[h][requester])))
        value += best
    return value


def _mask(
    instance: Instance, workers: list[int], own: np.uint64, sets: list[Words], index: int
) -> NDArray[np.bool_]:
    chosen = [own]
    if sets:
        chosen += [s[i] for s, i in zip(sets, np.unravel_index(index, [s.size for s in sets]), strict=True)]
    mask = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
    for m, word in zip(workers, chosen, strict=True):
        mask[m] = [bool(int(word) >> b & 1) for b in range(instance.num_chunks)]
    return mask
