"""The incumbent, and how answers of the duals become placements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.problem import Problem
from exact.rounding import oracle_rounding
from prefixplace.planner.exchange import PairExchange
from prefixplace.planner.refine import refine as refine_by_oracle
from prefixplace.planner.search import Search as PlannerSearch
from prefixplace.stopping import Budget, Clock

__all__ = ["Primal"]

Mask = NDArray[np.bool_]

_TABLE_CELLS = 10_000_000
_PAIR_WIDTH = 200


class Primal:
    """The best placement known.

    Parameters
    ----------
    problem : Problem
    better : callable
        Told the mask of every new incumbent.

    Attributes
    ----------
    value : int
        In grid units.
    mask : bool array (all workers of the instance, n)
    """

    def __init__(self, problem: Problem, better: Callable[[Mask], None]) -> None:
        self.problem = problem
        self._better = better
        instance = problem.instance
        self.mask = np.zeros((instance.num_workers, instance.num_chunks), np.bool_)
        self.value = 0
        most = int(problem.budgets.max(initial=0))
        self._by_table = problem.local is not None and instance.num_chunks * most <= _TABLE_CELLS
        self._planner: PlannerSearch | None = None

    def offer(self, mask: Mask) -> int:
        """Take a feasible placement when it is better; its value."""
        value = self.problem.value(mask)
        if value > self.value:
            self.value, self.mask = value, mask.copy()
            self._better(mask)
        return value

    def improve(self, mask: Mask, sweeps: int = 8) -> int:
        """Refine a feasible placement by best responses and offer the outcome; its value."""
        problem = self.problem
        instance = problem.instance
        if self._by_table:
            from exact.branch_and_bound._pairs import refine

            own = np.ascontiguousarray(mask[problem.workers])
            refine(instance.tree.end, problem.local, problem.coverage, problem.budgets, own, sweeps)
            mask = mask.copy()
            mask[problem.workers] = own
            return self.offer(mask)
        if self._planner is None:
            self._planner = PlannerSearch(instance, Clock(Budget()))
        state = self._planner.working(mask)
        refine_by_oracle(self._planner, state, problem.workers.tolist(), 1e-9, "answers of the dual")
        return self.offer(state.mask)

    def improve_answers(self, answers: NDArray[np.float64]) -> int:
        """:meth:`improve` the sets that workers take for certain in the coverage dual's answers (M, n)."""
        mask = np.zeros_like(self.mask)
        mask[self.problem.workers] = answers > 1.0 - 1e-9
        return self.improve(mask)

    def round(self, weights: NDArray[np.float64], patience: int, expired: Callable[[], bool]) -> None:
        """Fix the workers one by one at the best set in expectation of the dual's average answer (M, n), and improve.

        Then again in other orders and from mixtures of the answer with the incumbent, until `patience` attempts in a
        row found nothing better. See :func:`exact.rounding.oracle_rounding`; an attempt costs M oracle calls and the
        refinement of what comes out.
        """
        instance = self.problem.instance
        answer = np.zeros(self.mask.shape)
        answer[self.problem.workers] = weights
        rng = np.random.default_rng(0)
        order, share, idle = np.arange(instance.num_workers), 0.0, 0
        while idle <= patience and not expired():
            before = self.value
            keeps = (1.0 - share) * answer + share * self.mask
            self.improve(np.array(oracle_rounding(instance, keeps, order.tolist()).mask))
            idle = 0 if self.value > before else idle + 1
            order, share = rng.permutation(instance.num_workers), rng.uniform(0.2, 0.8)

    def exchange(self, expired: Callable[[], bool]) -> None:
        """Re-optimise pairs of workers of the incumbent until none improves."""
        pairs = PairExchange(self.problem.instance, _PAIR_WIDTH)
        everyone = list(combinations(self.problem.workers.tolist(), 2))
        waiting = list(everyone)
        while waiting:
            first, second = waiting.pop(0)
            if expired():
                return
            better = pairs.improve(self.mask, first, second, expired)
            if better is not None:
                self.improve(better)
                # pairs that found nothing are asked again, since somebody has moved
                waiting += [pair for pair in everyone if pair not in waiting]
