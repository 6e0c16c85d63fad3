"""Better placements by answering groups of workers together, the others as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.primal import Primal
from prefixplace.instance import Instance

__all__ = ["GroupExchange"]

Mask = NDArray[np.bool_]

_SIZE = 6
"""Workers of a group: the search solves so few to optimality, or nearly, at its root."""


class GroupExchange:
    """Large-neighbourhood search over groups of workers (requester-side).

    With the other workers' sets fixed, a group faces an instance of its own, in which what others hold is covered. Its
    present sets are a placement of it, so that an answer is never worse. A placement that no group of p workers can
    improve is worth at least (M − 1)/(2M − 1 − p) of the optimum (Filmus and Ward 2012).

    Parameters
    ----------
    primal : Primal
        Offers the incumbent and takes what is better.
    solve : callable
        ``(instance, start)`` → a placement mask of the instance that is at least as good as `start`.
    seed : int
    """

    def __init__(self, primal: Primal, solve: Callable[[Instance, Mask], Mask], seed: int = 0) -> None:
        self.primal, self.solve = primal, solve
        self._rng = np.random.default_rng(seed)

    @property
    def useful(self) -> bool:
        """Whether there are more workers than one group."""
        return self.primal.problem.workers.size > _SIZE and self.primal.problem.local is not None

    def improve(self) -> bool:
        """Answer one random group; whether that improved the incumbent."""
        primal, problem = self.primal, self.primal.problem
        instance, before = problem.instance, primal.value
        group = np.sort(self._rng.choice(problem.workers, _SIZE, replace=False))
        others = primal.mask.copy()
        others[group] = False
        part = Instance.from_values(
            instance.tree,
            local=instance.local_value[group],
            coverage=np.where(others.any(axis=0), 0.0, instance.coverage_value),
            budgets=instance.budgets[group],
        )
        mask = others
        mask[group] = self.solve(part, primal.mask[group])
        primal.offer(mask)
        return primal.value > before

    def exhaust(self, worth_it: Callable[[], bool]) -> None:
        """Answer groups until several in a row that name every worker about three times improve nothing."""
        patience = 3 * -(-self.primal.problem.workers.size // _SIZE)
        idle = 0
        while idle < patience and worth_it():
            idle = 0 if self.improve() else idle + 1
