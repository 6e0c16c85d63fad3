"""`best`: everything the planner knows, one after the other, until nothing helps or time is up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prefixplace.errors import InputError
from prefixplace.planner.exchange import ExchangeParams, exchange
from prefixplace.planner.multistart import multi_start
from prefixplace.planner.nonoblivious import NonObliviousParams, nonoblivious
from prefixplace.planner.search import Mask, Search

__all__ = ["BestParams", "best"]


@dataclass(frozen=True)
class BestParams:
    """Parameters of ``best``.

    Parameters
    ----------
    rounds : int ≥ 1
        Most rounds of non-oblivious refinement and pair exchange after the first.
    tolerance : float ≥ 0
        Relative ε of the order starts.
    exchange : ExchangeParams
    nonoblivious : NonObliviousParams
    """

    rounds: int = 3
    tolerance: float = 1e-9
    exchange: ExchangeParams = field(default_factory=ExchangeParams)
    nonoblivious: NonObliviousParams = field(default_factory=NonObliviousParams)

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}, must be ≥ 1")
        if not self.tolerance >= 0:
            raise InputError(f"tolerance is {self.tolerance}, must be ≥ 0")


def best(search: Search, params: BestParams, start: Mask | None) -> None:
    """Algorithm 1, non-oblivious refinement from nothing, then pair exchange from the best of all.

    As long as a round improves, non-oblivious refinement, which may walk through worse placements, goes on from the
    best one and pair exchange from where that ends. Never worse than ``prefixplace`` (it begins with it), nor than
    non-oblivious refinement, so worth at least (1 − 1/e)·OPT when it is not stopped before; with two workers the
    pair exchange is exact.
    """
    multi_start(search, params.tolerance, safeguards=True, start=start)
    nonoblivious(search, search.empty(), params.nonoblivious)
    exchange(search, search.best_mask, params.exchange)
    for _ in range(params.rounds):
        before, value = search.best_mask, search.best_value
        moved = nonoblivious(search, before, params.nonoblivious)
        if np.array_equal(moved, before):
            break
        exchange(search, moved, params.exchange)
        if search.best_value <= value:
            break
