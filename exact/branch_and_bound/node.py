"""A node of the search tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.problem import Problem
from prefixplace.joint.states import StateSpace

__all__ = ["Node", "root_of"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Step = tuple[Any, ...]


@dataclass(eq=False)
class Node:
    """A part of the placements: those whose states lie in `space`, or obey `fix` and `must` while there is no space.

    Attributes
    ----------
    bound : int
        Nothing in here is worth more, in grid units.
    dual : int
        The same as far as the steps show it, that is without enumerations that were cut short. A node is closed by
        this one, so that the certificate holds what closed it.
    space : StateSpace or None
    fix : int8 array (M, n)
    must : bool array (n,)
        Chunks that somebody has to hold.
    twin : bool array (M,)
        Workers that are still interchangeable with their predecessor.
    prices, multipliers : int64 arrays
        Where the duals begin, inherited.
    covered : bool
        Whether `multipliers` come from a coverage dual here or above.
    steps : list
        What was proved here, for the certificate.
    joint : int64 array (M, n), or None
        Multipliers of the joint dual, inherited.
    weights : float array (M, n), or None
        Average answer of the last dual here, for branching.
    branch : (worker, chunk), or None
        The branching that ended this node, followed by the parts `children` (kept, not kept); worker −1 stands for
        whether anybody keeps the chunk.
    """

    bound: int
    dual: int
    space: StateSpace | None
    fix: NDArray[np.int8]
    must: Mask
    twin: Mask
    prices: Ints
    multipliers: Ints | None
    depth: int = 0
    covered: bool = False
    steps: list[Step] = field(default_factory=list)
    joint: Ints | None = None
    weights: NDArray[np.float64] | None = None
    branch: tuple[int, int] | None = None
    children: tuple[Node, Node] | None = None

    def lower(self, bound: int) -> None:
        """A dual bound has been found."""
        self.dual = min(self.dual, bound)
        self.bound = min(self.bound, bound)

    def twin_class(self, worker: int) -> range:
        """`worker`, the first of its class, and those interchangeable with it."""
        last = worker + 1
        while last < self.twin.size and self.twin[last]:
            last += 1
        return range(worker, last)

    def child(
        self,
        space: StateSpace | None,
        fix: NDArray[np.int8] | None = None,
        must: Mask | None = None,
        *,
        apart: int | None = None,
    ) -> Node:
        """A part of this node; worker `apart`, first of its class, leaves it because the part treats it specially."""
        twin = self.twin.copy()
        if apart is not None and apart + 1 < twin.size:
            twin[apart + 1] = False
        if fix is None:
            fix = self.fix if space is None else space.pairs()
        if must is None:
            must = self.must if space is None else space.held()
        return Node(
            self.bound,
            self.dual,
            space,
            fix,
            must,
            twin,
            self.prices,
            self.multipliers,
            self.depth + 1,
            covered=self.covered,
            joint=self.joint,
        )


def root_of(problem: Problem) -> Node:
    """The node of all placements, with prices to begin from."""
    shape = problem.workers.size, problem.instance.num_chunks
    if problem.table is not None:
        bound, space = int(problem.table.max(axis=1).sum()), problem.all_states()
        values = problem.table[:, -1]
    else:
        assert problem.local is not None and problem.coverage is not None
        bound, space = int(problem.local.sum() + problem.coverage.sum()), None
        values = problem.coverage
    prices = np.zeros(shape[0], np.int64)
    if values.size and problem.budgets.size:
        # a chunk of the budget is worth about what the best chunks that fill it are worth
        filled = np.minimum(problem.budgets, values.size) - 1
        prices = np.sort(values)[::-1][filled] // problem.budgets.size
    # with many workers so much less that their answers together stay inside an int64
    multipliers = None if problem.coverage is None else problem.coverage // max(2, shape[0] // 4)
    nothing = np.zeros(shape, np.int8), np.zeros(shape[1], np.bool_)
    return Node(bound, bound, space, *nothing, problem.twin, prices, multipliers)
