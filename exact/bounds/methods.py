"""`bound` and the table of bounds behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from exact.bounds.budgets import BudgetDualParams, budget_dual
from exact.bounds.compact import CompactParams, compact_lp
from exact.bounds.configuration import ConfigurationParams, configuration_lp
from exact.bounds.coverage import CoverageDualParams, coverage_dual
from exact.bounds.result import Bound
from exact.bounds.run import BoundRun, LimitReached
from exact.bounds.trivial import TrivialParams, trivial
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.params import checked_params
from prefixplace.placement import Placement
from prefixplace.stopping import Budget, Clock, ProgressCallback, is_interrupt

__all__ = ["BOUNDS", "BoundMethod", "bound"]


@dataclass(frozen=True)
class BoundMethod:
    """A bound of :func:`bound`; every one is defined for both objectives.

    Attributes
    ----------
    name, summary : str
    params : type
        The dataclass of its parameters.
    packages : tuple of str
        Solvers whose versions belong into the record.
    """

    name: str
    summary: str
    run: Callable[[BoundRun, Any], None]
    params: type
    packages: tuple[str, ...] = ()


_ALL = (
    BoundMethod("trivial", "unlimited budgets, or coverage counted without holders", trivial, TrivialParams),
    BoundMethod(
        "compact-lp",
        "LP relaxation of the compact programme (HiGHS)",
        compact_lp,
        CompactParams,
        ("highspy",),
    ),
    BoundMethod(
        "configuration-lp",
        "one variable per closed set, by column generation (HiGHS and the oracle)",
        configuration_lp,
        ConfigurationParams,
        ("highspy",),
    ),
    BoundMethod(
        "coverage-dual",
        "multipliers on the coverage rows by subgradients, no LP; for large instances",
        coverage_dual,
        CoverageDualParams,
    ),
    BoundMethod(
        "budget-dual",
        "prices on the budgets, exact in the coverage; for few workers",
        budget_dual,
        BudgetDualParams,
        ("highspy",),
    ),
)

BOUNDS: Mapping[str, BoundMethod] = MappingProxyType({method.name: method for method in _ALL})
"""The upper bounds of :func:`bound` by name."""


def bound(
    instance: Instance,
    kind: str = "configuration-lp",
    *,
    budget: Budget | None = None,
    start: Placement | None = None,
    progress: ProgressCallback | None = None,
    params: Any = None,
) -> Bound:
    """An upper bound on the optimum of `instance`, with the multipliers that prove it.

    Parameters
    ----------
    instance : Instance
    kind : str, default "configuration-lp"
        A name of :data:`BOUNDS`.
    budget : Budget, optional
        Limits on seconds and iterations (evaluations of the dual function), and the relative gap to the best
        placement known at which to stop. At least one evaluation is made, so a bound always comes back.
    start : Placement, optional
        A good placement: it steers step lengths and gives first columns. Without it one refined greedy pass is made.
    progress : callable, optional
        Called with a :class:`Progress` after every evaluation.
    params : dataclass, optional
        Parameters of the bound (``BOUNDS[kind].params``).

    Returns
    -------
    Bound
        Its `placement` is the best one met: the start, or a rounding of the fractional solution.

    Raises
    ------
    InputError
        For an unknown kind, parameters of another bound, a start that does not fit, or an instance beyond the
        reach of the method (``budget-dual``: too many holder states).

    Notes
    -----
    optimum ≤ configuration LP ≤ compact LP. The coverage dual tends to the one or the other, depending on its
    oracle; the budget dual is comparable to neither.
    """
    method = BOUNDS.get(kind)
    if method is None:
        raise InputError(f"unknown bound {kind!r}; known are {', '.join(BOUNDS)}")
    params = checked_params(f"bound {kind!r}", params, method.params)
    clock = Clock(budget or Budget())
    if start is None:
        from prefixplace.planner import solve

        # the plan is a help, not the task: it gets a quarter of the time
        seconds = None if clock.remaining is None else clock.remaining / 4
        start = solve(instance, "refined", budget=Budget(seconds=seconds)).placement
        if start is None:
            start = Placement.empty(instance.tree, instance.num_workers)
    else:
        instance.check(start)
    run = BoundRun(instance, np.array(start.mask), clock, progress)
    stop_reason = "finished"
    try:
        method.run(run, params)
    except LimitReached as limit:
        stop_reason = limit.reason
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        if not np.isfinite(run.bound):
            raise
        stop_reason = "user"
    return run.result(kind, stop_reason, method.packages)
