"""In which orders the workers of a multi-start choose."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations

import numpy as np

from prefixplace.planner.search import Search

__all__ = ["ALL_ORDERS_UP_TO", "start_orders"]

ALL_ORDERS_UP_TO = 5
"""Number of workers up to which every order is a start."""

_PERMUTATIONS, _SEED = 6, 2608_01655


def start_orders(search: Search) -> Iterator[tuple[int, ...]]:
    """Orders of Algorithm 1: all M! for M ≤ 5 (lexicographic), else eight.

    The eight are the standalone-score order (workers by the value that each alone would reach, largest first, ties
    by number), its reverse, and six fixed pseudorandom permutations, the same on every machine and in every run.
    """
    workers = range(search.instance.num_workers)
    if len(workers) <= ALL_ORDERS_UP_TO:
        yield from permutations(workers)
        return
    scores = _standalone_scores(search)
    by_score = tuple(sorted(workers, key=lambda m: (-scores[m], m)))
    yield by_score
    yield by_score[::-1]
    source = random.Random(_SEED)  # random.random() of a seed is the same in every version of Python
    for _ in range(_PERMUTATIONS):
        key = [source.random() for _ in workers]
        yield tuple(sorted(workers, key=key.__getitem__))


def _standalone_scores(search: Search) -> list[float]:
    alone = search.objective.state(search.empty())
    scores = []
    for worker in range(search.instance.num_workers):
        profit = alone.marginals(worker)
        scores.append(float(np.sum(profit, where=search.respond(worker, profit))))
    return scores
