"""The certificate of a search that has not ended: the bound of its root before anything was fixed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exact.bounds.result import Bound
from exact.branch_and_bound.node import root_of
from exact.branch_and_bound.problem import Problem
from exact.branch_and_bound.search import Search
from exact.certificates.certificate import Certificate
from exact.certificates.issuing import certify
from prefixplace.joint.prices import Pricing
from prefixplace.placement import Placement

__all__ = ["partial_certificate"]

Ints = NDArray[np.int64]


def partial_certificate(search: Search) -> Certificate:
    """The incumbent with the best bound of a dual of the whole instance, for :func:`exact.verify`.

    A ``coverage-dual`` or ``budget-dual`` certificate of multipliers of the root, ``trivial`` before there are any:
    those that bound the whole instance best, of all points where one of its duals ended. What was fixed and branched
    makes the bound of the search itself better than this one: it excludes plans up to the incumbent's value, which no
    single dual function shows.
    """
    problem, instance = search.bounding.problem, search.bounding.problem.instance
    kind, multipliers = "trivial", {}
    least = None
    points, prices = search.bounding.points, search.bounding.prices
    if points:
        least, best = _coverage(search, points)
        kind, multipliers = "coverage-dual", {"coverage": _in_ms(problem, best)}
    written = (
        prices is not None and problem.table is not None
    )  # else the dual of the whole has too many states
    if (
        prices is not None
        and written
        and (least is None or Pricing(problem.all_states()).bound(prices) < least)
    ):
        every = np.zeros(instance.num_workers)
        every[problem.workers] = _in_ms(problem, prices)
        kind, multipliers = "budget-dual", {"budget": every}
    bound = Bound(
        kind=kind,
        bound=problem.grid.to_ms(max(search.root.bound, 0)),
        proof="float",
        seconds=0.0,
        stop_reason="finished",
        multipliers=multipliers,
        instance_digest=instance.digest,
    )
    return certify(instance, Placement(instance.tree, search.bounding.primal.mask), bound)


def _coverage(search: Search, points: list[Ints]) -> tuple[int, Ints]:
    """The least value of the coverage dual of the whole instance at some multipliers, and which they are.

    Not always at the first ones: a good part of the descent may come after pairs have been fixed.
    """
    bounding, prices = search.bounding, search.root.prices
    assert bounding.problem.coverage is not None
    whole = root_of(bounding.problem)
    dual = bounding.coverage_dual(whole)
    answers = np.zeros(whole.fix.shape)
    allowed = [np.minimum(point, bounding.problem.coverage) for point in points]
    values = [dual.bound(point, prices[dual.first].copy(), answers) for point in allowed]
    best = int(np.argmin(values))
    return values[best], allowed[best]


def _in_ms(problem: Problem, units: Ints) -> NDArray[np.float64]:
    return np.array([problem.grid.to_ms(int(u)) for u in units])
