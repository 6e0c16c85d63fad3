"""Small forests with budgets: drawing, changing, and tables of their closed sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prefixplace import PrefixTree

__all__ = ["MOST_CHUNKS", "Shape", "mutated", "random_shape"]

MOST_CHUNKS = 12
"""Chunks up to which all closed sets are tabulated."""


@dataclass(frozen=True)
class Shape:
    """A forest in preorder and the budgets of its workers; values are what a search varies on it.

    Parameters
    ----------
    parents : tuple of n ints
        In preorder, -1 for a root; n ≤ :data:`MOST_CHUNKS`.
    budgets : tuple of M ints
        Each in 1 … n.
    """

    parents: tuple[int, ...]
    budgets: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of chunks."""
        return len(self.parents)

    @property
    def workers(self) -> int:
        """Number of workers."""
        return len(self.budgets)

    @cached_property
    def tree(self) -> PrefixTree:
        """The forest."""
        return PrefixTree.from_parents(self.parents)

    @cached_property
    def paths(self) -> NDArray[np.float64]:
        """Ancestor matrix, shape (n, n): 1 where chunk b is v or an ancestor of v, at [b, v]."""
        matrix = np.eye(self.n)
        for v, above in enumerate(self.parents):
            if above >= 0:
                matrix[:, v] += matrix[:, above]
        return matrix

    @cached_property
    def closed(self) -> NDArray[np.bool_]:
        """All parent-closed sets as rows, smallest first."""
        rows = [np.zeros(self.n, np.bool_)]
        for v, above in enumerate(self.parents):
            for row in [r for r in rows if above < 0 or r[above]]:
                grown = row.copy()
                grown[v] = True
                rows.append(grown)
        table = np.array(rows)
        return table[np.argsort(table.sum(axis=1), kind="stable")]

    def within(self, worker: int) -> NDArray[np.bool_]:
        """The closed sets that `worker` can keep, smallest first."""
        return self.closed[
            : int(np.searchsorted(self.closed.sum(axis=1), self.budgets[worker], side="right"))
        ]

    def sets(self, worker: int) -> NDArray[np.bool_]:
        """The largest closed sets of `worker`: no chunk can be added. With values ≥ 0 one of them is best."""
        return self._maximal[self.budgets[worker]]

    @cached_property
    def _maximal(self) -> dict[int, NDArray[np.bool_]]:
        tables = {}
        for budget in set(self.budgets):
            # below the budget a set can always grow, unless it is everything
            tables[budget] = self.closed[self.closed.sum(axis=1) == min(budget, self.n)]
        return tables

    @cached_property
    def placements(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """All combinations of largest sets: rows into :meth:`sets` per worker, shape (P, M), and the unions (P, n)."""
        sizes = [len(self.sets(m)) for m in range(self.workers)]
        rows = np.indices(sizes).reshape(self.workers, -1).T
        union = np.zeros((len(rows), self.n), np.bool_)
        for m in range(self.workers):
            union |= self.sets(m)[rows[:, m]]
        return rows, union

    def best_placement(
        self, local: NDArray[np.float64], coverage: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.bool_]]:
        """Optimum for a (M, n) and Δ (n,), with a placement (M, n) that attains it, by enumeration."""
        rows, union = self.placements
        value = union @ coverage
        for m in range(self.workers):
            value = value + (self.sets(m) @ local[m])[rows[:, m]]
        best = int(value.argmax())
        return float(value[best]), np.array([self.sets(m)[rows[best, m]] for m in range(self.workers)])


def random_shape(rng: np.random.Generator, workers: int, largest: int, identical: bool) -> Shape:
    """A random forest of 2 … `largest` chunks, each a root with chance ½, and budgets below its size."""
    n = int(rng.integers(2, largest, endpoint=True))
    parents = [-1] + [-1 if rng.random() < 0.5 else int(rng.integers(v)) for v in range(1, n)]
    budgets = rng.integers(1, max(1, n - 1), size=workers, endpoint=True)
    return _shape(parents, [int(budgets[0])] * workers if identical else budgets.tolist())


def mutated(shape: Shape, rng: np.random.Generator, largest: int, identical: bool) -> Shape:
    """`shape` with a chunk added, removed or moved, or a budget changed by one."""
    parents, budgets = list(shape.parents), list(shape.budgets)
    move = int(rng.integers(4))
    if move == 0 and shape.n < largest:
        parents.append(int(rng.integers(-1, shape.n)))
    elif move == 1 and shape.n > 2:
        gone = int(rng.integers(shape.n))
        above = parents.pop(gone)
        parents = [above if p == gone else p for p in parents]
        parents = [p - (p > gone) for p in parents]
    elif move == 2:
        v = int(rng.integers(shape.n))
        parents[v] = int(rng.integers(-1, v)) if v else -1  # below an earlier chunk: no cycle
    else:
        m = int(rng.integers(len(budgets)))
        budgets[m] += 1 if rng.random() < 0.5 else -1
    budgets = [min(max(1, k), len(parents)) for k in budgets]
    return _shape(parents, [budgets[0]] * len(budgets) if identical else budgets)


def _shape(parents: list[int], budgets: list[int]) -> Shape:
    tree = PrefixTree.from_parents(parents)
    return Shape(tuple(tree.parent.tolist()), tuple(budgets))
