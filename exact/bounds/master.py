"""The restricted master problem of the configuration LP, kept warm inside HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from exact.bounds.lagrangian import CoverageDual
from exact.bounds.result import Column

__all__ = ["Master", "MasterSolution"]

Vector = NDArray[np.float64]
Nodes = NDArray[np.int64]

INFINITY = highspy.kHighsInf
IDLE_ROUNDS = 20
"""Solves that a column may pass at a negative reduced cost before it can be dropped."""


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """Optimum of the restricted master.

    Attributes
    ----------
    value : float
        At most the configuration LP.
    multipliers : array of the shape of the coverage dual's multipliers
        Duals of the coverage rows (requester-side) or of the assignment rows (pairwise), in range.
    convexity : float array, one per class of workers
        Duals of Σ_S x_{c,S} ≤ size of the class.
    """

    value: float
    multipliers: Vector
    convexity: Vector


class Master:
    """max Σ value of sets + coverage over the columns generated so far.

    Requester-side: y_b ≤ Σ_c Σ_{S∋b} x_{c,S}, y_b ≤ 1, a set earns its local value and y_b earns Δ(b).
    Pairwise: y_{mhb} ≤ Σ_{S∋b} x_{h,S}, Σ_h y_{mhb} ≤ 1 and y_{mhb} earns s_{m←h}(b).
    Identical workers share one convexity row whose right-hand side is their number.

    Values are divided by the largest one, so that the solver's absolute tolerances mean the same on every instance.
    """

    def __init__(self, dual: CoverageDual) -> None:
        self.dual, self.classes = dual, dual.classes
        instance = dual.instance
        self._links: list[Nodes]
        self._duals: Nodes
        self._columns: list[tuple[int, Nodes]] = []
        self._known: set[tuple[int, bytes]] = set()
        self._idle = np.zeros(0, np.int64)
        count, n = len(self.classes), instance.num_chunks
        if dual.saving is None:
            self.unit = (
                max(float(dual.upper.max(initial=0.0)), float(instance.local_value.max(initial=0.0))) or 1.0
            )
            covered = np.flatnonzero(dual.upper > 0)
            links: Nodes = np.full(n, -1, np.int64)
            links[covered] = count + np.arange(covered.size)
            self._links, self._duals = [links] * count, links
            cost, second = dual.upper[covered], None
            limits = np.concatenate([[len(c) for c in self.classes], np.zeros(covered.size)])
            first = links[covered]
        else:
            self.unit = float(dual.upper.max(initial=0.0)) or 1.0
            usable = (dual.saving > 0) & (instance.budgets > 0)[:, None, None]
            holder, requester, chunk = np.nonzero(usable)
            wanted = usable.any(axis=0)
            assigned: Nodes = np.full(wanted.shape, -1, np.int64)
            assigned[wanted] = count + np.arange(int(wanted.sum()))
            table = np.full(usable.shape, -1, np.int64)
            table[usable] = count + int(wanted.sum()) + np.arange(holder.size)
            self._links, self._duals = list(table), assigned
            cost, second = dual.saving[usable], assigned[requester, chunk]
            limits = np.concatenate([np.ones(count + int(wanted.sum())), np.zeros(holder.size)])
            first = table[usable]
        self._covers = cost.size
        self._solver = _solver(-cost / self.unit, first, second, limits)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def add(self, kind: int, nodes: Nodes) -> bool:
        """Add the set `nodes` for class `kind`; False when it is there already."""
        key = (kind, nodes.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        self._columns.append((kind, nodes))
        self._idle = np.append(self._idle, 0)
        rows = self._links[kind][..., nodes].ravel()
        rows = np.concatenate([[kind], rows[rows >= 0]]).astype(np.int32)
        entries = np.concatenate([[1.0], np.full(rows.size - 1, -1.0)])
        earned = 0.0 if self.dual.saving is not None else self._local(kind, nodes)
        self._solver.addCol(-earned / self.unit, 0.0, INFINITY, rows.size, rows, entries)
        return True

    def _local(self, kind: int, nodes: Nodes) -> float:
        return float(self.dual.instance.local_value[self.classes[kind][0], nodes].sum())

    def solve(self) -> MasterSolution:
        """Optimise from the last basis."""
        status = self._solver.run()
        if (
            status == highspy.HighsStatus.kError
            or self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal
        ):
            raise RuntimeError(
                f"HiGHS left the restricted master with status {self._solver.getModelStatus()}"
            )
        solution = self._solver.getSolution()
        rows = np.asarray(solution.row_dual)
        if self.size:
            away = np.asarray(solution.col_dual)[self._covers :] > 1e-7
            self._idle = np.where(away, self._idle + 1, 0)
        multipliers = np.zeros(self.dual.shape)
        known = self._duals >= 0
        multipliers[known] = -rows[self._duals[known]] * self.unit
        return MasterSolution(
            -self._solver.getInfo().objective_function_value * self.unit,
            self.dual.clip(multipliers),
            np.maximum(-rows[: len(self.classes)] * self.unit, 0.0),
        )

    def prune(self) -> None:
        """Drop columns that have priced out for :data:`IDLE_ROUNDS` solves in a row."""
        idle = self._idle >= IDLE_ROUNDS
        if not idle.any():
            return
        where = np.flatnonzero(idle)
        self._solver.deleteCols(where.size, (self._covers + where).astype(np.int32))
        for j in where:
            kind, nodes = self._columns[j]
            self._known.discard((kind, nodes.tobytes()))
        self._columns = [column for column, gone in zip(self._columns, idle, strict=True) if not gone]
        self._idle = self._idle[~idle]

    def solution(self) -> tuple[tuple[Column, ...], Vector]:
        """Columns of positive weight in the last optimum, and the weights z_{mb} of every worker, shape (M, n).

        The weight of a class is shared equally by its members.
        """
        values = np.asarray(self._solver.getSolution().col_value)[self._covers :]
        instance = self.dual.instance
        weights = np.zeros((instance.num_workers, instance.num_chunks))
        columns = []
        for (kind, nodes), weight in zip(self._columns, values, strict=True):
            if weight > 1e-12:
                members = self.classes[kind]
                columns.append(Column(tuple(members), nodes, float(weight)))
                weights[np.array(members)[:, None], nodes] += weight / len(members)
        return tuple(columns), weights


def _solver(cost: Vector, first: Nodes, second: Nodes | None, limits: Vector) -> highspy.Highs:
    """HiGHS with the rows (≤ `limits`) and the coverage variables, each with an entry 1 in one or two rows.

    With one row a variable is bounded by 1, with two its assignment row does that.
    """
    from exact.backends.highs import new_highs, set_option

    solver: highspy.Highs = new_highs()
    set_option(solver, "threads", 1)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        set_option(solver, name, 1e-9)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = cost.size, limits.size
    model.col_cost_, model.col_lower_ = cost, np.zeros(cost.size)
    model.col_upper_ = np.ones(cost.size) if second is None else np.full(cost.size, INFINITY)
    model.row_lower_, model.row_upper_ = np.full(limits.size, -INFINITY), limits
    rows = first[:, None] if second is None else np.stack([second, first], axis=1)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
    model.a_matrix_.index_ = rows.ravel().astype(np.int32)
    model.a_matrix_.value_ = np.ones(rows.size)
    solver.passModel(model)
    return solver
