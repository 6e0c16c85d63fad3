"""Prices for the budget dual by cutting planes within a trust region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exact.bounds.coverage import starting_multipliers
from exact.bounds.holders import HolderDual
from exact.bounds.lagrangian import CoverageDual
from exact.bounds.run import BoundRun
from prefixplace.errors import InputError

__all__ = ["BudgetDualParams", "budget_dual"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BudgetDualParams:
    """Parameters of ``budget-dual``.

    Parameters
    ----------
    radius : float in (0, 1], default 0.1
        First half-width of the trust region, as a share of each price's range.
    tolerance : float > 0, default 1e-9
        Relative distance of bound and cutting-plane model at which the dual counts as solved.
    """

    radius: float = 0.1
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if not 0 < self.radius <= 1:
            raise InputError(f"radius is {self.radius}, must be > 0 and ≤ 1")
        if not self.tolerance > 0:
            raise InputError(f"tolerance is {self.tolerance}, must be > 0")


def budget_dual(run: BoundRun, params: BudgetDualParams) -> None:
    """Minimise the holder-set dual over the prices; every evaluation is a valid bound.

    The model max_i L(λ_i) + g_i·(λ − λ_i) is minimised over a box around the best prices; the box grows after a
    step that keeps its promise and shrinks after one that does not (the box-step method of Marsten, Hogan,
    Blankenship 1975). Once it promises nothing inside the box, the model is minimised over the whole range, and
    ends the search when it promises nothing there either.
    """
    dual = HolderDual(run.instance)
    model = _CuttingPlanes(dual.highest)
    average = np.zeros((run.instance.num_workers, run.instance.num_chunks))
    evaluations = 0

    def evaluate(prices: Vector) -> float:
        nonlocal evaluations, average
        run.check_limits()
        here = dual.evaluate(prices)
        evaluations += 1
        shares = here.kept / np.array([[len(members)] for members in dual.classes])
        average = average + (dual.per_worker(shares) - average) * max(0.1, 1.0 / evaluations)
        run.improve(here.value, weights=average, budget=dual.per_worker(prices))
        model.cut(prices, here.value, here.gradient)
        return here.value

    try:
        centre = _starting_prices(run, dual)
        value, radius = evaluate(centre), params.radius
        while True:
            promised, point = model.minimise(centre, radius)
            if radius >= 1.0:
                run.improve(np.inf, master=promised)
            gain = value - promised
            if gain <= params.tolerance * abs(value):
                if radius >= 1.0:
                    return
                radius = 1.0
                continue
            here = evaluate(point)
            if value - here >= 0.5 * gain:
                radius = min(1.0, 2.0 * radius)
            elif value - here < 0.1 * gain:
                radius *= 0.5
            if here < value:
                value, centre = here, point
    finally:
        if evaluations:
            run.offer_rounding(average)
        run.count(evaluations=evaluations, states=dual.before.size, classes=len(dual.classes))


def _starting_prices(run: BoundRun, dual: HolderDual) -> Vector:
    """Prices that the workers' own budgets ask for when coverage is offered as it fits the incumbent."""
    coverage = CoverageDual(run.instance, "price")
    prices = coverage.evaluate(starting_multipliers(coverage, run.mask)).prices
    return np.clip([float(prices[members].mean()) for members in dual.classes], 0.0, dual.highest)


class _CuttingPlanes:
    """min r subject to r ≥ L_i + g_i·(λ − λ_i) over a box, in units of each price's range, kept warm in HiGHS."""

    def __init__(self, highest: Vector) -> None:
        from exact.backends.highs import new_highs, set_option

        self.highest = np.maximum(highest, 1e-300)
        self._size = highest.size
        self._solver = new_highs()
        set_option(self._solver, "threads", 1)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            set_option(self._solver, name, 1e-10)
        for _ in range(self._size):
            self._solver.addCol(0.0, 0.0, 1.0, 0, [], [])
        self._solver.addCol(1.0, -np.inf, np.inf, 0, [], [])
        self._unit = 0.0
        self._offset = 0.0

    def cut(self, prices: Vector, value: float, gradient: Vector) -> None:
        """Add the supporting plane of L at `prices`."""
        if self._unit == 0.0:  # values are counted from the first one, in units of it
            self._unit, self._offset = max(abs(value), 1e-300), value
        slope = gradient * self.highest / self._unit
        level = (value - self._offset) / self._unit - float(slope @ (prices / self.highest))
        index = np.arange(self._size + 1, dtype=np.int32)
        self._solver.addRow(level, np.inf, self._size + 1, index, np.append(-slope, 1.0))

    def minimise(self, centre: Vector, radius: float) -> tuple[float, Vector]:
        """Value and point of the least of the model within `radius` (a share of the range) of `centre`."""
        import highspy

        middle = centre / self.highest
        for j, at in enumerate(middle):
            self._solver.changeColBounds(j, max(0.0, at - radius), min(1.0, at + radius))
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(
                f"HiGHS left the cutting-plane model with status {self._solver.getModelStatus()}"
            )
        solution = np.asarray(self._solver.getSolution().col_value)
        point = np.clip(solution[: self._size], 0.0, 1.0) * self.highest
        return float(solution[self._size]) * self._unit + self._offset, point
