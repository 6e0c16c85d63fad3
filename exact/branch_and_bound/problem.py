"""An instance on its integer grid, as the prover sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.joint.grid import Grid, grid_for
from prefixplace.joint.states import StateSpace, all_states
from prefixplace.objective import Pairwise

__all__ = ["Problem", "problem_of"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance in grid units, over the workers that can hold something.

    Attributes
    ----------
    instance : Instance
    grid : Grid
    error : float
        Largest difference in ms between the objective of a placement and its grid value.
    workers : int64 array, shape (M,)
        Numbers in the instance of the workers with a positive budget, interchangeable ones side by side.
    twin : bool array, shape (M,)
        ``twin[i]``: workers i − 1 and i of `workers` are interchangeable.
    budgets : int64 array, shape (M,)
        At most n.
    local, coverage : int64 arrays (M, n), (n,), or None
        a and Δ; None for the pairwise objective.
    table : int64 array (n, 2^M), or None
        The term of every chunk for every set of holders (bit i = worker i); None when it would be too large.
    """

    instance: Instance
    grid: Grid
    error: float
    workers: Ints
    twin: Mask
    budgets: Ints
    local: Ints | None
    coverage: Ints | None
    table: Ints | None

    def to_mask(self, holders: Ints) -> Mask:
        """Placement mask (all workers of the instance, n) of one set of holders per chunk."""
        mask = np.zeros((self.instance.num_workers, holders.size), np.bool_)
        for i, m in enumerate(self.workers):
            mask[m] = (holders >> i) & 1
        return mask

    def value(self, mask: Mask) -> int:
        """Grid value of a placement mask (all workers of the instance, n)."""
        own = mask[self.workers]
        if self.local is not None and self.coverage is not None:
            return int(self.local[own].sum() + self.coverage[own.any(axis=0)].sum())
        assert self.table is not None
        holders = (own << np.arange(self.workers.size)[:, None]).sum(axis=0)
        return int(self.table[np.arange(holders.size), holders].sum())

    def all_states(self) -> StateSpace:
        """The space in which nothing is decided; needs the table."""
        assert self.table is not None
        return all_states(self.instance.tree.parent, self.table, self.budgets)


def problem_of(instance: Instance, most_states: int) -> Problem:
    """`instance` on its grid, with its table where n·2^M ≤ `most_states`. O(n·2^M) with, O(n·M) without."""
    n = instance.num_chunks
    workers = np.flatnonzero(instance.budgets > 0)
    if n == 0:
        workers = workers[:0]
    workers = workers[_neighbouring_twins(instance, workers)]
    budgets = np.minimum(instance.budgets[workers], n)
    small = workers.size < 24 and n << workers.size <= most_states
    objective = instance.objective
    copies = float(budgets.sum())
    # what a worker cannot hold, because its path alone exceeds the budget, is worth nothing
    able = instance.tree.depth < budgets[:, None]
    if isinstance(objective, Pairwise):
        grid, table = _pairwise_table(instance, objective, workers, able, small)
        terms = float(instance.num_workers * min(n, copies))
        return Problem(
            instance, grid, terms * grid.error, workers, _twins(table, budgets), budgets, None, None, table
        )
    local, coverage = objective.local[workers] * able, objective.coverage * able.any(axis=0)
    grid = grid_for([local, coverage], float(local.sum() + coverage.sum()))
    a, delta = grid.to_units(local).reshape(local.shape), grid.to_units(coverage)
    table = None
    if small:
        table = np.zeros((n, 1 << workers.size), np.int64)
        for m, own in enumerate(a):
            table[:, 1 << m : 2 << m] = table[:, : 1 << m] + own[:, None]
        table[:, 1:] += delta[:, None]
    twin = np.zeros(workers.size, np.bool_)
    for m in range(1, workers.size):
        twin[m] = budgets[m] == budgets[m - 1] and np.array_equal(a[m], a[m - 1])
    error = (copies + min(n, copies)) * grid.error
    return Problem(instance, grid, error, workers, twin, budgets, a, delta, table)


def _neighbouring_twins(instance: Instance, workers: Ints) -> Ints:
    """Order of `workers` in which those with equal data stand side by side."""
    first: dict[bytes, int] = {}
    everywhere = np.arange(instance.num_chunks)
    objective = instance.objective
    keys = []
    for m in workers:
        if isinstance(objective, Pairwise):
            # what a holder gives to all requesters, whoever they are: equal for interchangeable workers
            own = np.sort(objective.saving(int(m), everywhere), axis=0)
        else:
            own = objective.local[m]
        key = instance.budgets[m : m + 1].tobytes() + (own + 0.0).tobytes()
        keys.append(first.setdefault(key, len(first)))
    return np.argsort(np.array(keys, np.int64), kind="stable")


def _pairwise_table(
    instance: Instance, objective: Pairwise, workers: Ints, able: Mask, small: bool
) -> tuple[Grid, Ints | None]:
    n = instance.num_chunks
    everywhere = np.arange(n)
    saving = [
        objective.saving(int(h), everywhere) * reached for h, reached in zip(workers, able, strict=True)
    ]
    total = float(np.max(saving, axis=0).sum()) if saving else 0.0
    grid = grid_for(saving, total)
    if not small:
        return grid, None
    units = [grid.to_units(s) for s in saving]
    table = np.zeros((n, 1 << workers.size), np.int64)
    for requester in range(instance.num_workers):
        best = np.zeros((n, 1), np.int64)
        for given in units:
            best = np.concatenate((best, np.maximum(best, given[requester][:, None])), axis=1)
        table += best
    return grid, table


def _twins(table: Ints | None, budgets: Ints) -> Mask:
    """Which neighbours i − 1, i are interchangeable: swapping them changes no budget and no value."""
    workers = budgets.size
    twin = np.zeros(workers, np.bool_)
    if table is None:
        return twin
    states = np.arange(1 << workers)
    for i in range(1, workers):
        if budgets[i] == budgets[i - 1]:
            low, high = (states >> (i - 1)) & 1, (states >> i) & 1
            swapped = np.where(low != high, states ^ (3 << (i - 1)), states)
            twin[i] = np.array_equal(table, table[:, swapped])
    return twin
