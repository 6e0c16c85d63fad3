"""The certificate of a search that has not ended: the bound of its root before anything was fixed."""

from __future__ import annotations

import numpy as np

from exact.bounds.result import Bound
from exact.branch_and_bound.search import Search
from exact.certificates.certificate import Certificate
from exact.certificates.issuing import certify
from prefixplace.placement import Placement

__all__ = ["partial_certificate"]


def partial_certificate(search: Search) -> Certificate:
    """The incumbent with the best bound of a dual of the whole instance, for :func:`exact.verify`.

    A ``coverage-dual`` or ``budget-dual`` certificate of the multipliers with which the root began, ``trivial`` before
    there are any. What was fixed and branched afterwards makes the bound of the search itself better than this one: it
    excludes plans up to the incumbent's value, which no single dual function shows.
    """
    problem, instance = search.bounding.problem, search.bounding.problem.instance
    kind, multipliers = "trivial", {}
    if search.bounding.first is not None:
        name, units = search.bounding.first
        values = np.array([problem.grid.to_ms(int(u)) for u in units])
        if name == "coverage":
            kind, multipliers = "coverage-dual", {"coverage": values}
        else:
            prices = np.zeros(instance.num_workers)
            prices[problem.workers] = values
            kind, multipliers = "budget-dual", {"budget": prices}
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
