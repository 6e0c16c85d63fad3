"""WorkerGreedy: one pass over the workers, each answered exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prefixplace.objective import State
from prefixplace.planner.search import Mask, Search

__all__ = ["greedy_starts", "worker_greedy"]


def worker_greedy(search: Search, order: Sequence[int], known: Sequence[Mask] = ()) -> State:
    """Let the workers choose in `order`, each the best set given what the earlier ones keep.

    Parameters
    ----------
    search : Search
    order : sequence of worker numbers
        Each worker once.
    known : sequence of masks
        Sets of the first ``len(known)`` workers of `order`, when they have been computed before.

    Returns
    -------
    State
        The objective at the placement reached, worth at least ½ of the optimum for every order, and at least
        1/(1 + κ) with κ = max Δ/(a + Δ) (Fisher, Nemhauser, Wolsey 1978 for submodular functions over a partition
        matroid; the paper's Theorem 3). One oracle call per worker.
    """
    state = search.working(search.empty())
    for worker, mask in zip(order, known, strict=False):
        state.replace(worker, mask)
    for worker in order[len(known) :]:
        state.replace(worker, search.respond(worker, state.marginals(worker)))
    return state


def greedy_starts(search: Search, orders: Iterable[Sequence[int]]) -> Iterator[tuple[Sequence[int], State]]:
    """WorkerGreedy in every one of `orders`, sharing the choices of common beginnings.

    A worker's choice depends only on the workers before it. With orders in lexicographic sequence all M! of them
    cost Σ_j M!/j! oracle calls instead of M·M!, and only M masks are remembered.
    """
    previous: Sequence[int] = ()
    path: list[Mask] = []
    for order in orders:
        common = 0
        while common < len(previous) and previous[common] == order[common]:
            common += 1
        state = worker_greedy(search, order, path[:common])
        path = path[:common] + [state.mask[worker].copy() for worker in order[common:]]
        previous = order
        yield order, state
