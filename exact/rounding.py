"""From fractional weights to a placement: independent rounding, and its derandomisation by the oracle.

Let every worker keep, independently, one of its sets with the probability that a solution of the configuration LP
gives it. The local part of the LP is kept in expectation; a chunk that the LP covers with total weight y ≤ 1 is
covered with probability at least (1 − (1 − 1/M)^M)·y (at most M workers hold it, and the product of the 1 − z is
largest when they are equal). The same argument over the layers of a maximum covers the pairwise objective.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise
from prefixplace.oracle import best_closed_set
from prefixplace.placement import Placement

__all__ = ["independent_rounding", "oracle_rounding", "rounding_factor"]

Weights = NDArray[np.float64]


def independent_rounding(
    instance: Instance, columns: Sequence[Sequence[tuple[float, NDArray[np.int64]]]], rng: np.random.Generator
) -> Placement:
    """Draw one set per worker.

    Parameters
    ----------
    columns : for each worker its (weight, nodes) pairs
        A solution of the configuration LP; weights sum to at most 1 and what is missing is the empty set.
    rng : numpy.random.Generator

    Returns
    -------
    Placement
        Worth at least ``1 − (1 − 1/M)^M`` of the LP in expectation. O(Σ sizes).
    """
    mask = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
    for worker, choices in enumerate(columns):
        draw = rng.random()
        for weight, nodes in choices:
            draw -= weight
            if draw < 0:
                mask[worker, nodes] = True
                break
    return Placement(instance.tree, mask)


def oracle_rounding(instance: Instance, weights: Weights, order: Sequence[int] | None = None) -> Placement:
    """Fix the workers one by one, each at the set that is best for the expectation of the rest.

    Parameters
    ----------
    weights : float array, shape (M, n)
        z_{mb} in [0, 1]: how much of chunk b worker m keeps in the fractional solution.
    order : sequence of workers, optional
        0 … M − 1 when left out.

    Returns
    -------
    Placement
        With weights of a solution of the configuration LP (or any convex combination of sets per worker) its value
        is at least the expectation of :func:`independent_rounding`, since every worker's distribution is replaced
        by a set that is at least as good; the profits are exact conditional expectations: requester-side
        a_m(b) + Δ(b)·[no fixed worker keeps b]·Π_{h ≠ m not yet fixed} (1 − z_hb). M oracle calls; the pairwise
        expectation costs O(M² log M · n) a worker.
    """
    workers = range(instance.num_workers)
    sequence = list(workers if order is None else order)
    if sorted(sequence) != list(workers):
        raise InputError(f"order {sequence} does not name each of {len(workers)} workers once")
    if weights.shape != (instance.num_workers, instance.num_chunks):
        raise InputError(
            f"weights have shape {weights.shape}, not {(instance.num_workers, instance.num_chunks)}"
        )
    keeps = np.clip(weights, 0.0, 1.0)
    mask = np.zeros(keeps.shape, np.bool_)
    expected = _expected_pairwise if isinstance(instance.objective, Pairwise) else _expected_requester
    for worker in sequence:
        best = best_closed_set(
            instance.tree, expected(instance, worker, keeps), int(instance.budgets[worker])
        )
        mask[worker] = best.mask
        keeps[worker] = mask[worker]
    return Placement(instance.tree, mask)


def _expected_requester(instance: Instance, worker: int, keeps: Weights) -> NDArray[np.float64]:
    """a_m(b) + Δ(b) · probability that nobody else keeps b."""
    missed = np.ones(instance.num_chunks)
    for other, kept in enumerate(keeps):
        if other != worker:
            missed *= 1.0 - kept
    profit: NDArray[np.float64] = instance.local_value[worker] + instance.coverage_value * missed
    return profit


def _expected_pairwise(instance: Instance, worker: int, keeps: Weights) -> NDArray[np.float64]:
    """Σ_r E (s_{r←m}(b) − best saving of r from another holder)₊, the others keeping b independently.

    For one requester let the other holders be sorted by saving, largest first: holder j is the best one with
    probability z_j·Π_{i<j} (1 − z_i).
    """
    saving = instance.objective.saving  # type: ignore[union-attr]
    everywhere = np.arange(instance.num_chunks)
    others = [h for h in range(instance.num_workers) if h != worker]
    own = saving(worker, everywhere)
    if not others:
        return np.asarray(own.sum(axis=0))
    table = np.stack([saving(h, everywhere) for h in others])  # (M − 1, requesters, n)
    rank = np.argsort(-table, axis=0, kind="stable")
    table = np.take_along_axis(table, rank, axis=0)
    kept = np.take_along_axis(np.broadcast_to(keeps[others][:, None, :], table.shape), rank, axis=0)
    none_better = np.ones(own.shape)
    profit = np.zeros(own.shape)
    for values, weight in zip(table, kept, strict=True):
        profit += none_better * weight * np.maximum(own - values, 0.0)
        none_better *= 1.0 - weight
    result: NDArray[np.float64] = (profit + none_better * own).sum(axis=0)
    return result


def rounding_factor(instance: Instance, weights: Weights) -> float:
    """The a-priori factor of rounding for this instance and this fractional solution.

    (A + ρ·C)/(A + C) with ρ = 1 − (1 − 1/M)^M, A the local and C the coverage part of the LP: the local part loses
    nothing. For the pairwise objective every term is a maximum over holders, and the factor is ρ.
    """
    workers = instance.num_workers
    rho = 1.0 - (1.0 - 1.0 / workers) ** workers
    if instance.pairwise:
        return rho
    local = float((instance.local_value * weights).sum())
    coverage = float((instance.coverage_value * np.minimum(weights.sum(axis=0), 1.0)).sum())
    return 1.0 if local + coverage == 0 else (local + rho * coverage) / (local + coverage)
