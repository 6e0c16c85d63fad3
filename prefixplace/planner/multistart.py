"""Algorithm 1: refined greedy starts in many orders, and safeguards."""

from __future__ import annotations

from prefixplace.planner.baselines import independent, local_dedup, popularity
from prefixplace.planner.greedy import greedy_starts
from prefixplace.planner.orders import start_orders
from prefixplace.planner.refine import refine
from prefixplace.planner.search import Mask, Search

__all__ = ["multi_start"]


def multi_start(search: Search, tolerance: float, *, safeguards: bool, start: Mask | None = None) -> None:
    """Offer the refinement of every greedy start, of `start` if given, and the baselines as they are.

    The best of all offers is at least ½ of the optimum, and never below any of the candidates. The baselines
    (Independent, Popularity, LocalDedup) are added for the requester-side objective when `safeguards` is set.
    """
    if safeguards and not search.instance.pairwise:
        for baseline in (independent, popularity, local_dedup):
            search.offer(baseline(search), baseline.__name__.replace("_", "-"))
    if start is not None:
        search.offer(start, "given start")
        refine(search, search.working(start), range(start.shape[0]), tolerance, "given start")
    for order, state in greedy_starts(search, start_orders(search)):
        event = f"order {','.join(map(str, order))}"
        search.offer(state.mask, f"{event}, greedy")
        refine(search, state, order, tolerance, event, answered=True)
