"""Non-oblivious refinement: local search on a potential that also counts second and third copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.objective import Pairwise, RequesterSide
from prefixplace.planner.refine import refine
from prefixplace.planner.search import Mask, Search

__all__ = ["NonObliviousParams", "nonoblivious", "potential_weights"]

Floats = NDArray[np.float64]
Marginal = Callable[[Mask, int], Floats]


@dataclass(frozen=True)
class NonObliviousParams:
    """Parameters of ``non-oblivious``.

    Parameters
    ----------
    tolerance : float ≥ 0
        A step is accepted only when the potential (or F, in the refinement at the end) rises by more than
        ``tolerance`` times itself.
    sweeps : int ≥ 1
        Most sweeps on the potential; a handful is usual.
    """

    tolerance: float = 1e-9
    sweeps: int = 100

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise InputError(f"tolerance is {self.tolerance}, must be ≥ 0")
        if self.sweeps < 1:
            raise InputError(f"sweeps is {self.sweeps}, must be ≥ 1")


def potential_weights(workers: int) -> Floats:
    """α_0 … α_M: what a chunk's coverage counts in the potential when it has that many holders.

    α_0 = 0, α_1 = 1 − 1/e, α_{i+1} = (i + 1)·α_i − i·α_{i−1} − 1/e. Increasing and concave.
    """
    # the recurrence for the differences d_i = α_{i+1} − α_i is d_i = i·d_{i−1} − 1/e, which loses a digit a step;
    # its solution is d_i = Σ_{j > i} i!/j! / e, without cancellation
    difference = np.zeros(workers)
    for i in range(workers):
        term, total = 1.0, 0.0
        for j in range(i + 1, i + 30):
            term /= j
            total += term
        difference[i] = total / e
    return np.concatenate(([0.0], np.cumsum(difference)))


def nonoblivious(search: Search, mask: Mask, params: NonObliviousParams) -> Mask:
    """Best responses on the potential from `mask`, then ordinary refinement; the best placement met is offered.

    The potential is Φ = α_1·Σ a + Σ_b Δ(b)·α_{#holders(b)}; pairwise, the maximum over holders of every (requester,
    chunk) is cut into layers s_(ℓ) − s_(ℓ+1), each counted by the number of holders that reach it. The best response
    of a worker to Φ is the one-worker oracle, with p(b) = α_1·a_m(b) + Δ(b)·(α_{c+1} − α_c) for c other holders.

    A local optimum of Φ has F ≥ (1 − 1/e)·OPT for both objectives (Filmus, Ward 2012, Monotone submodular
    maximization over a matroid via non-oblivious local search, here with all of a worker's chunks exchanged at
    once), and refinement keeps it. With a tolerance ε the factor loses O(M·ε).
    """
    workers = mask.shape[0]
    objective = search.objective
    weights = potential_weights(workers)
    if isinstance(objective, Pairwise):
        marginal = _pairwise_marginal(objective, weights)
    else:
        marginal = _requester_marginal(objective, weights)
    mask = mask.copy()
    for sweep in range(1, params.sweeps + 1):
        improved = False
        for worker in range(workers):
            profit = marginal(mask, worker)
            now = float(profit[mask[worker]].sum())
            chosen = search.respond(worker, profit)
            if float(profit[chosen].sum()) - now > params.tolerance * abs(now):
                mask[worker], improved = chosen, True
        search.offer(mask, f"non-oblivious, sweep {sweep}")
        if not improved:
            break
    state = search.working(mask)
    refine(search, state, range(workers), params.tolerance, "non-oblivious")
    return state.mask.copy()


def _requester_marginal(objective: RequesterSide, weights: Floats) -> Marginal:
    step = np.diff(weights)

    def marginal(mask: Mask, worker: int) -> Floats:
        others = np.count_nonzero(mask, axis=0) - mask[worker]
        result: Floats = weights[1] * objective.local[worker] + objective.coverage * step[others]
        return result

    return marginal


def _pairwise_marginal(objective: Pairwise, weights: Floats) -> Marginal:
    step = np.diff(weights)
    everywhere = np.arange(objective.num_chunks)
    saving = [objective.saving(h, everywhere) for h in range(objective.num_workers)]

    def marginal(mask: Mask, worker: int) -> Floats:
        # of each (requester, chunk), the other holders' savings in descending order: between the ℓ-th and the
        # (ℓ+1)-th there are ℓ holders above, and `worker` adds α_{ℓ+1} − α_ℓ on the part of that layer it reaches
        own = saving[worker]
        others = [np.where(mask[h], s, 0.0) for h, s in enumerate(saving) if h != worker]
        held = np.sort(np.stack(others or [np.zeros_like(own)]), axis=0)[::-1]
        result = np.maximum(own - held[0], 0.0) * step[0]
        for level in range(1, held.shape[0] + 1):
            floor = held[level] if level < held.shape[0] else np.zeros_like(own)
            top = np.minimum(own, held[level - 1])
            if level < step.size:
                result += np.maximum(top - floor, 0.0) * step[level]
        total: Floats = result.sum(axis=0)
        return total

    return marginal
