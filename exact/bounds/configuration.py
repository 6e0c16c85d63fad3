"""The configuration LP by stabilised column generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exact.bounds.coverage import CoverageDualParams, descend, starting_multipliers
from exact.bounds.lagrangian import CoverageDual, Evaluation
from exact.bounds.run import BoundRun
from prefixplace.errors import InputError

if TYPE_CHECKING:
    from exact.bounds.master import Master, MasterSolution

__all__ = ["ConfigurationParams", "configuration_lp"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ConfigurationParams:
    """Parameters of ``configuration-lp``.

    Parameters
    ----------
    warm_iterations : int ≥ 0, default 30
        Subgradient steps before the first master; their answers are the first columns.
    smoothing : float in [0, 1), default 0.5
        Initial weight α of the best multipliers in the point that is priced; adapted after every round.
    column_limit : int ≥ 1, default 20,000
        Columns beyond which idle ones are dropped.
    tolerance : float > 0, default 1e-9
        Relative distance of bound and master at which the LP counts as solved.
    """

    warm_iterations: int = 30
    smoothing: float = 0.5
    column_limit: int = 20_000
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if self.warm_iterations < 0:
            raise InputError(f"warm_iterations is {self.warm_iterations}, must be ≥ 0")
        if not 0 <= self.smoothing < 1:
            raise InputError(f"smoothing is {self.smoothing}, must be ≥ 0 and < 1")
        if self.column_limit < 1:
            raise InputError(f"column_limit is {self.column_limit}, must be ≥ 1")
        if not self.tolerance > 0:
            raise InputError(f"tolerance is {self.tolerance}, must be > 0")


def configuration_lp(run: BoundRun, params: ConfigurationParams) -> None:
    """Solve the configuration LP of either objective; every round gives a valid bound, so it can stop at any time.

    The multipliers that are priced are α·(best so far) + (1 − α)·(duals of the master) (Wentges 1997), with α
    raised when the subgradient there points away from the master's duals and lowered otherwise (Pessoa, Sadykov,
    Uchoa, Vanderbeck 2018). A round that finds no column for the master's duals is repeated with less smoothing.
    """
    from exact.bounds.master import Master

    dual = CoverageDual(run.instance, "exact")
    master = Master(dual)
    for kind, members in enumerate(dual.classes):
        for m in members:
            master.add(kind, np.flatnonzero(run.mask[m]))
    rounds = 0

    def keep(here: Evaluation) -> None:
        for kind, members in enumerate(dual.classes):
            master.add(kind, np.flatnonzero(here.weights[members[0]]))

    try:
        best_at = starting_multipliers(dual, run.mask)
        if params.warm_iterations:
            best_at = descend(run, dual, best_at, CoverageDualParams(), params.warm_iterations, keep)
        alpha = params.smoothing
        while True:
            solution = master.solve()
            rounds += 1
            run.improve(np.inf, master=solution.value)
            if np.isfinite(run.bound) and run.bound - solution.value <= params.tolerance * abs(run.bound):
                return
            alpha, best_at, grown = _price(run, dual, master, solution, alpha, best_at)
            if not grown:
                return
            if master.size > params.column_limit:
                master.prune()
    finally:
        if rounds:
            run.columns, run.weights = master.solution()
            run.offer_rounding(run.weights)
        run.count(oracle_calls=dual.calls, rounds=rounds, columns=master.size)


def _price(
    run: BoundRun, dual: CoverageDual, master: Master, solution: MasterSolution, alpha: float, best_at: Vector
) -> tuple[float, Vector, bool]:
    """One round of pricing: the new α, the best multipliers, and whether the master has new columns."""
    out = solution.multipliers
    smallest = 1e-9 * master.unit
    misses = 0
    while True:
        misses += 1
        weight = max(0.0, 1.0 - misses * (1.0 - alpha))
        point = dual.clip(weight * best_at + (1.0 - weight) * out)
        run.check_limits()
        here = dual.evaluate(point)
        grown = False
        for kind, members in enumerate(dual.classes):
            nodes = np.flatnonzero(here.weights[members[0]])
            reduced = float(dual.profit(members[0], out)[nodes].sum()) - solution.convexity[kind]
            if reduced > smallest:
                grown |= master.add(kind, nodes)
        away = float((here.gradient * (out - best_at)).sum())
        if here.value <= run.bound:
            best_at = point
        run.improve(here.value, coverage=point)
        if grown or weight == 0.0:
            alpha = alpha + 0.1 * (1.0 - alpha) if away > 0 else max(0.0, alpha - 0.1)
            return alpha, best_at, grown
