"""What a method does on an instance, as linear facts: its decisions and its outcomes.

A decision says that one set was best for one linear form of profits. On all instances on which the same decisions
are best, the method does the same and ends at the same placements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from instances.search.realism import Matrix, Values
from instances.search.shapes import Shape

__all__ = ["METHODS", "Decision", "Run", "SearchedMethod"]

Mask = NDArray[np.bool_]

_TIE = 1e-9  # relative to the largest value; sets that differ by less are taken as equally good


@dataclass(frozen=True, eq=False)
class Decision:
    """`worker` took `chosen` (n,) for the profits ``form @ z`` (form: (n, d)).

    Where it is `forced`, another set as good would have led elsewhere; a worker in refinement keeps what it has unless
    another set is better.
    """

    worker: int
    form: Matrix
    chosen: Mask
    forced: bool = True


class Run:
    """A method running on the values z of a shape: the exact oracle by table, and a record of what it answered.

    Attributes
    ----------
    decisions : list of Decision
    outcomes : list of masks (M, n)
        The candidates of which the method returns the best.
    """

    def __init__(self, shape: Shape, values: Values, z: NDArray[np.float64]) -> None:
        self.shape, self.values, self.z = shape, values, z
        self.decisions: list[Decision] = []
        self.outcomes: list[Mask] = []
        self._tolerance = _TIE * max(1.0, float(np.abs(z).max(initial=0.0)))

    def empty(self) -> Mask:
        """The placement that keeps nothing."""
        return np.zeros((self.shape.workers, self.shape.n), np.bool_)

    def marginal(self, worker: int, others: Mask) -> Matrix:
        """a_m(b) + Δ(b)·[b not kept by `others`] as a form (n, d)."""
        return self.values.local[worker] + self.values.coverage * ~others[:, None]

    def answer(self, worker: int, form: Matrix) -> Mask:
        """The best set for ``form @ z``, the smallest of equally good ones, recorded as a decision."""
        sets = self.shape.within(worker)
        profit = sets @ (form @ self.z)
        chosen = sets[int(np.argmax(profit >= profit.max() - self._tolerance))]
        self.decisions.append(Decision(worker, form, chosen))
        return chosen

    def greedy(self, order: tuple[int, ...]) -> Mask:
        """WorkerGreedy in `order`."""
        mask = self.empty()
        for m in order:
            mask[m] = self.answer(m, self.marginal(m, _union(mask)))
        return mask

    def refine(self, mask: Mask, order: tuple[int, ...]) -> Mask:
        """Best responses in `order` until a sweep improves nothing."""
        mask = mask.copy()
        while True:
            improved = False
            for m in order:
                form = self.marginal(m, _union(np.delete(mask, m, axis=0)))
                chosen = self.answer(m, form)
                profit = form @ self.z
                if profit[chosen].sum() > profit[mask[m]].sum() + self._tolerance:
                    mask[m] = chosen
                    improved = True
                else:  # what m keeps is as good: the fact to hold on to is that
                    self.decisions[-1] = Decision(m, form, mask[m].copy(), forced=False)
            if not improved:
                return mask

    def baselines(self) -> None:
        """Independent, Popularity and LocalDedup as outcomes."""
        values, workers = self.values, range(self.shape.workers)
        self.outcomes.append(np.array([self.answer(m, values.recompute[m]) for m in workers]))
        if values.demand is not None:
            self.outcomes.append(np.array([self.answer(m, values.demand[m]) for m in workers]))
        else:  # demand is 1 everywhere: any set that fills the budget, the oracle's own choice
            from prefixplace import best_closed_set

            ones, budgets = np.ones(self.shape.n, np.int64), self.shape.budgets
            self.outcomes.append(np.array([best_closed_set(self.shape.tree, ones, k).mask for k in budgets]))
        mask = self.empty()
        for m in workers:
            covered = _union(mask)[:, None]
            mask[m] = self.answer(m, np.where(covered, values.local[m], values.recompute[m]))
        self.outcomes.append(mask)


def _union(mask: Mask) -> Mask:
    covered: Mask = np.logical_or.reduce(mask, axis=0)
    return covered


@dataclass(frozen=True)
class SearchedMethod:
    """A method whose worst case is searched.

    Attributes
    ----------
    name, summary : str
    method : str
        What :func:`prefixplace.solve` runs; with `orders`, in all orders, of which the best counts.
    orders : bool
    known : str
        What is known of its factor.
    run : callable
        Records decisions and outcomes in a :class:`Run`.
    """

    name: str
    summary: str
    method: str
    orders: bool
    known: str
    run: Callable[[Run], None]


def _one_order(run: Run) -> None:
    run.outcomes.append(run.greedy(tuple(range(run.shape.workers))))


def _refined(run: Run) -> None:
    order = tuple(range(run.shape.workers))
    run.outcomes.append(run.refine(run.greedy(order), order))


def _all_orders(run: Run) -> None:
    for order in permutations(range(run.shape.workers)):
        run.outcomes.append(run.greedy(order))


def _order_starts(run: Run) -> None:
    for order in permutations(range(run.shape.workers)):
        run.outcomes.append(run.refine(run.greedy(order), order))


def _multi_start(run: Run) -> None:
    run.baselines()
    _order_starts(run)


METHODS: Mapping[str, SearchedMethod] = {
    m.name: m
    for m in (
        SearchedMethod("greedy", "greedy in one order", "greedy", False, "½", _one_order),
        SearchedMethod("refined", "greedy in one order, refined", "refined", False, "½", _refined),
        SearchedMethod("all-orders", "greedy, best of all orders", "greedy", True, "⅔ at M = 2", _all_orders),
        SearchedMethod(
            "order-starts", "all orders, refined", "order-starts", False, "⅔ at M = 2", _order_starts
        ),
        SearchedMethod(
            "multi-start", "Algorithm 1 with its safeguards", "prefixplace", False, "⅔ at M = 2", _multi_start
        ),
    )
}
"""Heuristic targets of the search by name; all orders mean M ≤ 5."""
