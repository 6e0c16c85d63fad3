"""From a finished search to a certificate that replays it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.node import Node
from exact.branch_and_bound.problem import Problem
from exact.branch_and_bound.search import Search
from exact.branch_and_bound.strong import ANYBODY
from exact.certificates.certificate import Certificate
from exact.certificates.issuing import issue
from exact.certificates.states import LARGEST
from exact.certificates.verification import Rejected
from prefixplace.errors import InputError
from prefixplace.placement import Placement

__all__ = ["certificate_of"]

Ints = NDArray[np.int64]


def certificate_of(search: Search) -> Certificate:
    """A ``state-search`` certificate of a search that has ended with a proof, for :func:`exact.verify`.

    It holds the multipliers of every bound and the branchings, not what followed from them; that the replay ends
    with the proof is checked here. The stated bound lies above the incumbent's value by the closing distance of the
    search and the rounding of the data to machine integers, about 10⁻¹² of the value, and by nothing on whole
    numbers.

    Raises
    ------
    InputError
        When the search has not ended.
    exact.certificates.verification.Rejected
        When the replay fails.
    """
    problem, primal = search.bounding.problem, search.bounding.primal
    if search.bound > search.bounding.floor:
        raise InputError("a search that has not ended proves nothing: let it finish first")
    placement = Placement(problem.instance.tree, primal.mask)
    rejected: Exception = InputError("the values are too large for a certificate in machine integers")
    for writer in _writers(problem):
        fields = {
            "denominator": writer.denominator,
            "quantum": writer.quantum,
            "floor": writer.floor(search),
            "search": writer.steps(search.root),
        }
        try:
            return issue(problem.instance, placement, "state-search", fields)
        except (
            Rejected
        ) as reason:  # rounding of multipliers took a bound across the floor: try the coarser claim
            rejected = reason
    raise rejected


def _writers(problem: Problem) -> list[_Writer]:
    """The units in which to write: first the grid of the search, on which values are exact decimals, then binary."""
    instance = problem.instance
    workers = instance.num_workers
    if problem.local is not None and problem.coverage is not None:
        total = int(problem.local.sum()) + int(problem.coverage.sum())
    else:
        assert problem.table is not None
        total = workers * int(problem.table.max(axis=1, initial=0).sum())
    largest = Fraction(total) / problem.grid.scale if total else Fraction(1)
    room = Fraction(LARGEST // 4, workers + 2) / largest  # most units per ms
    step = Fraction(problem.grid.step) / problem.grid.scale
    writers = []
    if problem.grid.step > 1 and step.denominator <= room:
        doublings = min(int(room / step.denominator).bit_length() - 1, 40)
        writers.append(_Writer(problem, step.denominator << doublings, step.numerator << doublings))
    if room >= 1:
        writers.append(_Writer(problem, 1 << (int(room).bit_length() - 1), 1))
    return writers


class _Writer:
    """Grid units of the search as whole units of 1/denominator ms, worker and chunk numbers of the file."""

    def __init__(self, problem: Problem, denominator: int, quantum: int) -> None:
        self.problem, self.denominator, self.quantum = problem, denominator, quantum
        self._ratio = Fraction(denominator) / problem.grid.scale

    def floor(self, search: Search) -> int:
        """What the search has excluded: anything above the incumbent, up to its closing distance."""
        instance = self.problem.instance
        value = self.units(search.bounding.primal.value)
        # values and multipliers moved by at most one unit each, and a plan meets each of them once
        if value == 0:
            return self.quantum - 1
        moved = 8 * (instance.num_chunks + 1) * (instance.num_workers + 2)
        closing = self.units(search.bounding.floor) + moved
        below_next = value - value % self.quantum + self.quantum - 1
        # the distance is a step less one on decimals; the rounding of multipliers must not push it across the step
        return below_next if self.quantum > 4 * moved and closing < value + 2 * self.quantum else closing

    def units(self, value: int) -> int:
        """Grid units as units of 1/denominator, rounded down."""
        return int(Fraction(int(value)) * self._ratio)

    def per_worker(self, values: Ints) -> list[int]:
        """One number per worker of the instance; workers that hold nothing get 0."""
        row = [0] * self.problem.instance.num_workers
        for i, m in enumerate(self.problem.workers.tolist()):
            row[m] = self.units(values[i])
        return row

    def per_chunk(self, values: Ints) -> list[int]:
        """One number per chunk in the order of the file."""
        return [self.units(x) for x in self.problem.instance.tree.to_given(values).tolist()]

    def rows(self, values: Ints) -> list[list[int]]:
        """Chunk rows for all workers of the instance."""
        n = self.problem.instance.num_chunks
        result = [[0] * n for _ in range(self.problem.instance.num_workers)]
        for i, m in enumerate(self.problem.workers.tolist()):
            result[m] = self.per_chunk(values[i])
        return result

    def steps(self, root: Node) -> list[list[Any]]:
        """All steps in preorder."""
        written: list[list[Any]] = []
        waiting = [root]
        tree = self.problem.instance.tree
        if not root.steps:  # nothing was needed, not even a multiplier: say so by multipliers 0
            workers, n = self.problem.instance.num_workers, self.problem.instance.num_chunks
            zero = [0] * workers
            written.append(
                ["prices", zero] if self.problem.table is not None else ["coverage", [0] * n, zero]
            )
        while waiting:
            node = waiting.pop()
            for kind, *arguments in node.steps:
                if kind == "prices":
                    written.append(["prices", self.per_worker(arguments[0])])
                elif kind == "joint":
                    written.append(["joint", self.rows(arguments[0])])
                elif kind == "coverage":
                    multipliers, prices = arguments
                    given = None if prices is None else self.per_worker(prices)
                    written.append(["coverage", self.per_chunk(multipliers), given])
                else:
                    order, vectors, multipliers = arguments
                    chunks = tree.origin[self.full_order(order)].tolist()
                    payments = None if multipliers is None else self.rows(multipliers)
                    written.append(["enumerate", chunks, [self.per_worker(v) for v in vectors], payments])
            if node.branch is None:
                written.append(["closed"])
                continue
            worker, chunk = node.branch
            if worker == ANYBODY:
                written.append(["cover", int(tree.origin[chunk])])
            else:
                written.append(["split", int(self.problem.workers[worker]), int(tree.origin[chunk])])
            assert node.children is not None
            waiting += [node.children[1], node.children[0]]
        return written

    def full_order(self, order: Ints) -> Ints:
        """A preorder of all chunks in which subtrees come as their first chunk does in `order`; decided ones first."""
        from prefixplace.joint._labels import arrange

        tree = self.problem.instance.tree
        rank = np.full(tree.n, -1, np.int64)
        rank[order] = np.arange(order.size)
        first = rank.copy()
        for b in range(tree.n - 1, -1, -1):
            p = tree.parent[b]
            if p >= 0 and first[b] >= 0 and (first[p] < 0 or first[b] < first[p]):
                first[p] = first[b]
        result: Ints = arrange(np.array(tree.parent), first, -first.astype(np.float64))
        return result
