"""The factor-revealing LP: the worst values for fixed decisions and a fixed optimum."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.search.realism import Values
from instances.search.runs import Decision
from instances.search.shapes import Shape
from prefixplace import best_closed_set

__all__ = ["RowLP", "objective_row", "worst_values"]

Row = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TOLERANCE = 1e-7  # feasibility tolerance of the LP solver


def objective_row(values: Values, mask: Mask) -> Row:
    """F of a placement (M, n) as a linear form of z, shape (d,)."""
    row: Row = values.coverage[mask.any(axis=0)].sum(axis=0)
    for m, kept in enumerate(mask):
        row = row + values.local[m][kept].sum(axis=0)
    return row


@cache
def _swallow_banner() -> None:
    """The first HiGHS object of a process prints a banner; its resets are too slow for thousands of small LPs."""
    from exact.backends.highs import new_highs

    new_highs()


class RowLP:
    """min cost·x over x ≥ 0 with rows ``row·x ≤ right`` that are added as they are found violated."""

    def __init__(self, cost: Row) -> None:
        import highspy

        _swallow_banner()
        self._lp: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._lp.setOptionValue("log_to_console", False)
        for j, c in enumerate(cost.tolist()):
            self._lp.addVar(0.0, np.inf)
            self._lp.changeColCost(j, c)

    def add(self, row: Row, right: float, *, equal: bool = False) -> None:
        """Add ``row·x ≤ right``, or ``= right``."""
        support = np.flatnonzero(row).astype(np.int32)
        self._lp.addRow(right if equal else -np.inf, right, support.size, support, row[support])

    def solve(self) -> Row | None:
        """An optimal vertex; None when there is none."""
        import highspy

        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return np.maximum(np.array(self._lp.getSolution().col_value), 0.0)

    def duals(self) -> Row:
        """Dual values of the rows at the last optimum, in the order in which they were added."""
        return np.array(self._lp.getSolution().row_dual)


def worst_values(
    shape: Shape,
    values: Values,
    decisions: Sequence[Decision],
    outcomes: Sequence[Mask],
    optimum: Mask,
    margin: float = 0.0,
) -> tuple[float, Row] | None:
    """Values z ≥ 0 that make the best outcome as small a part of F(optimum) as possible.

    The LP min t s.t. F(optimum) = 1, F(outcome) ≤ t for each outcome, and for each decision and each closed set S
    within its budget: profit(chosen) ≥ profit(S) + margin·|chosen ∖ S|. These rows are separated by the one-worker
    oracle. With a positive margin the decisions have no other choice, up to adding chunks without profit, which the
    oracle leaves out. (The margin counts where the decision is forced.)

    Parameters
    ----------
    shape, values
        The forest with its budgets, and the linear forms of its values.
    decisions, outcomes
        What the method did (:class:`~instances.search.runs.Run`).
    optimum : bool array, shape (M, n)
        Any placement; the better it is, the more the LP says.
    margin : float
        In units of F(optimum).

    Returns
    -------
    (t, z), or None when no values follow the decisions with this margin.
    """
    d = values.variables
    lp = RowLP(np.append(np.zeros(d), 1.0))
    lp.add(np.append(objective_row(values, optimum), 0.0), 1.0, equal=True)
    for outcome in outcomes:
        lp.add(np.append(objective_row(values, outcome), -1.0), 0.0)
    known: set[tuple[int, bytes]] = set()
    while True:
        found = lp.solve()
        if found is None:
            return None
        z, violated = found[:d], False
        for i, decision in enumerate(decisions):
            force = margin * decision.forced
            profit = decision.form @ z - force * decision.chosen
            best = best_closed_set(shape.tree, profit, shape.budgets[decision.worker])
            if best.value <= profit[decision.chosen].sum() + _TOLERANCE or (i, best.mask.tobytes()) in known:
                continue
            known.add((i, best.mask.tobytes()))
            row = decision.form[best.mask].sum(axis=0) - decision.form[decision.chosen].sum(axis=0)
            lp.add(np.append(row, 0.0), -force * int((decision.chosen & ~best.mask).sum()))
            violated = True
        if not violated:
            return float(found[d]), z
