"""The problem as holder states: which workers hold each chunk, exact in the coverage, budgets to be priced."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.grid import Grid, grid_for
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise

__all__ = ["StateSpace", "Whole", "whole_problem"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Chunks that are still undecided, and the sets of workers that may hold each of them.

    Attributes
    ----------
    chunks : int64 array, shape (c,)
        Preorder positions in the tree of the instance.
    parent : int64 array, shape (c,)
        Numbers within `chunks`; -1 when the parent is decided or there is none.
    offset : int64 array, shape (c + 1,)
        The states of chunk i are ``offset[i] : offset[i + 1]``.
    holders, value : int64 arrays, shape (states,)
        A state as a bit mask of workers, and its term of the objective in grid units.
    base : int64 array, shape (c + 1,)
        Offsets of tables with one entry per state of the parent.
    decided : int64 array, shape (n,)
        Holders of every chunk that is decided, -1 for the others.
    worth : int
        Value of the decided chunks.
    slack : int64 array, shape (M,)
        Budgets less what the decided chunks use; negative when nothing feasible is left.
    """

    chunks: Ints
    parent: Ints
    offset: Ints
    holders: Ints
    value: Ints
    base: Ints
    decided: Ints
    worth: int
    slack: Ints

    @property
    def size(self) -> int:
        """Number of undecided chunks."""
        return int(self.chunks.size)

    @property
    def states(self) -> int:
        """Number of states of undecided chunks."""
        return int(self.holders.size)

    @property
    def workers(self) -> int:
        """Number of workers that can hold something."""
        return int(self.slack.size)

    def reduced(self, keep: NDArray[np.bool_]) -> StateSpace | None:
        """The space without the states where `keep` is false; None when a chunk has none left."""
        from exact.branch_and_bound._states import contract, table_offsets

        alive = np.add.reduceat(keep, self.offset[:-1]) if self.size else np.zeros(0, np.int64)
        if self.size and not alive.all():
            return None
        chunks, parent, offset, holders, value, only = contract(
            self.parent, self.offset, self.holders, self.value, keep
        )
        now = only >= 0
        taken = self.holders[only[now]]
        decided = self.decided.copy()
        decided[self.chunks[now]] = taken
        used = ((taken[:, None] >> np.arange(self.workers)) & 1).sum(axis=0)
        return StateSpace(
            chunks=self.chunks[chunks],
            parent=parent,
            offset=offset,
            holders=holders,
            value=value,
            base=table_offsets(parent, offset),
            decided=decided,
            worth=self.worth + int(self.value[only[now]].sum()),
            slack=self.slack - used,
        )

    def rearranged(self, order: Ints) -> StateSpace:
        """The same space with its chunks in another preorder."""
        from exact.branch_and_bound._states import table_offsets

        number = np.empty(self.size, np.int64)
        number[order] = np.arange(self.size)
        above = self.parent[order]
        parent = np.where(above >= 0, number[above], -1) if self.size else above
        counts = np.diff(self.offset)[order]
        offset = np.concatenate(([0], np.cumsum(counts)))
        source = np.repeat(self.offset[order] - offset[:-1], counts) + np.arange(offset[-1])
        return StateSpace(
            self.chunks[order],
            parent,
            offset,
            self.holders[source],
            self.value[source],
            table_offsets(parent, offset),
            self.decided,
            self.worth,
            self.slack,
        )


@dataclass(frozen=True, eq=False)
class Whole:
    """The whole problem on its grid.

    Attributes
    ----------
    instance : Instance
    grid : Grid
    error : float
        Largest difference in ms between the objective of a placement and its grid value.
    workers : int64 array
        Numbers in the instance of the workers with a positive budget, interchangeable ones side by side.
    twin : bool array
        ``twin[i]``: workers i − 1 and i of `workers` are interchangeable (one class).
    budgets : int64 array
        Of those workers, at most n.
    space : StateSpace
        All chunks with all 2^M states.
    """

    instance: Instance
    grid: Grid
    error: float
    workers: Ints
    twin: NDArray[np.bool_]
    budgets: Ints
    space: StateSpace

    def to_mask(self, holders: Ints) -> NDArray[np.bool_]:
        """Placement mask (M, n) of one state per chunk."""
        mask = np.zeros((self.instance.num_workers, holders.size), np.bool_)
        for i, m in enumerate(self.workers):
            mask[m] = (holders >> i) & 1
        return mask

    def from_mask(self, mask: NDArray[np.bool_]) -> Ints:
        """The state of every chunk in a placement mask (M, n)."""
        holders = np.zeros(mask.shape[1], np.int64)
        for i, m in enumerate(self.workers):
            holders |= mask[m].astype(np.int64) << i
        return holders

    def grid_value(self, mask: NDArray[np.bool_]) -> int:
        """Value of a placement in grid units; exact."""
        full = 1 << self.workers.size
        at = np.arange(mask.shape[1]) * full + self.from_mask(mask)
        return int(self.space.value[at].sum())


def whole_problem(instance: Instance) -> Whole:
    """All 2^M states of all chunks. O(n·2^M) memory, O(n·2^M·M) time for the pairwise objective."""
    from exact.branch_and_bound._states import table_offsets

    n = instance.num_chunks
    workers = np.flatnonzero(instance.budgets > 0)
    workers = workers[_neighbouring_twins(instance, workers)]
    budgets = np.minimum(instance.budgets[workers], n)
    grid, table, error = _state_values(instance, workers, budgets)
    full = 1 << workers.size
    parent = np.array(instance.tree.parent)
    offset = np.arange(n + 1) * full
    space = StateSpace(
        chunks=np.arange(n),
        parent=parent,
        offset=offset,
        holders=np.tile(np.arange(full), n),
        value=table.ravel(),
        base=table_offsets(parent, offset),
        decided=np.full(n, -1),
        worth=0,
        slack=budgets,
    )
    return Whole(instance, grid, error, workers, _twins(table, budgets), budgets, space)


def _neighbouring_twins(instance: Instance, workers: Ints) -> Ints:
    """Order of `workers` in which those with equal data stand side by side."""
    first: dict[bytes, int] = {}
    everywhere = np.arange(instance.num_chunks)
    keys = []
    for m in workers:
        objective = instance.objective
        if isinstance(objective, Pairwise):
            # what a holder gives to all requesters, whoever they are: equal for interchangeable workers
            own = np.sort(objective.saving(int(m), everywhere), axis=0)
        else:
            own = objective.local[m]
        key = bytes(instance.budgets[m : m + 1]) + (own + 0.0).tobytes()
        keys.append(first.setdefault(key, len(first)))
    return np.argsort(np.array(keys, np.int64), kind="stable")


def _state_values(instance: Instance, workers: Ints, budgets: Ints) -> tuple[Grid, Ints, float]:
    n, full = instance.num_chunks, 1 << workers.size
    objective = instance.objective
    table = np.zeros((n, full), np.int64)
    if isinstance(objective, Pairwise):
        everywhere = np.arange(n)
        saving = [objective.saving(int(h), everywhere) for h in workers]
        total = float(np.max(saving, axis=0).sum()) if saving else 0.0
        grid = grid_for(saving, total)
        units = [grid.to_units(s) for s in saving]
        for requester in range(instance.num_workers):
            best = np.zeros((n, 1), np.int64)
            for given in units:
                best = np.concatenate((best, np.maximum(best, given[requester][:, None])), axis=1)
            table += best
        terms = float(instance.num_workers * min(n, int(budgets.sum())))
    else:
        local, coverage = objective.local[workers], objective.coverage
        grid = grid_for([local, coverage], float(local.sum() + coverage.sum()))
        for m, own in enumerate(grid.to_units(local)):
            table[:, 1 << m : 2 << m] = table[:, : 1 << m] + own[:, None]
        table[:, 1:] += grid.to_units(coverage)[:, None]
        terms = float(budgets.sum() + min(n, int(budgets.sum())))
    return grid, table, terms * grid.error


def _twins(table: Ints, budgets: Ints) -> NDArray[np.bool_]:
    """Which neighbours i − 1, i are interchangeable: swapping them changes no budget and no value."""
    workers = budgets.size
    states = np.arange(1 << workers)
    twin = np.zeros(workers, np.bool_)
    for i in range(1, workers):
        if budgets[i] == budgets[i - 1]:
            low, high = (states >> (i - 1)) & 1, (states >> i) & 1
            swapped = np.where(low != high, states ^ (3 << (i - 1)), states)
            twin[i] = np.array_equal(table, table[:, swapped])
    return twin


def exact_ratio(units: int, grid: Grid) -> Fraction:
    """Grid units in ms, exactly."""
    return Fraction(int(units)) / grid.scale
