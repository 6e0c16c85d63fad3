"""Coordinate refinement: one worker at a time answers all the others again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefixplace.objective import State
from prefixplace.planner.search import Search

__all__ = ["refine"]


def refine(
    search: Search,
    state: State,
    order: Sequence[int],
    tolerance: float,
    event: str,
    *,
    answered: bool = False,
) -> int:
    """Sweep over the workers in `order` until no best response improves the placement of `state`, in place.

    Each worker is removed, its exact marginals against all others are recomputed and the oracle is run again; the
    answer is accepted only when F rises by more than ``tolerance · F``. Ends at a coordinate-wise local optimum,
    never below the start, after finitely many sweeps (two or three in practice).

    Parameters
    ----------
    search, state, order
        The running search, the placement to improve, and the sequence of workers within a sweep.
    tolerance : float
        Relative ε of the acceptance test, which keeps float rounding from cycling.
    event : str
        How the trace calls this start.
    answered : bool
        Whether every worker's present set is already its answer to the marginals that `state` last gave it, as
        it is after a greedy pass. Such a worker is asked again only when its marginals have moved since.

    Returns
    -------
    int
        Number of sweeps, the last of which accepted nothing.
    """
    epsilon = tolerance * max(state.value, 0.0)
    settled = np.full(state.mask.shape[0], answered)
    sweeps = 0
    while True:
        improved = False
        for worker in order:
            if settled[worker] and not state.is_stale(worker):
                continue
            profit = state.marginals(worker)
            chosen = search.respond(worker, profit)
            settled[worker] = True
            if profit[chosen].sum() - profit[state.mask[worker]].sum() > epsilon:
                state.replace(worker, chosen)
                improved = True
        sweeps += 1
        search.offer(state.mask, f"{event}, sweep {sweeps}")
        if not improved:
            return sweeps
