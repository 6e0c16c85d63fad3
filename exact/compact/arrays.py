"""The compact programme as sparse arrays, for solvers that take a whole matrix at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exact.compact.problem import CompactProblem

__all__ = ["CompactArrays", "compact_arrays"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Block = tuple[Ints, Ints, Floats, Floats]  # row, column and value of each entry; upper limit of each row


@dataclass(frozen=True, eq=False)
class CompactArrays:
    """max cost·v subject to matrix·v ≤ row_upper and 0 ≤ v ≤ 1, v binary where `integral`.

    The matrix is row-wise: row i has the columns ``index[start[i]:start[i+1]]`` with the values beside them.

    Attributes
    ----------
    cost : float array, shape (num_variables,)
    integral : bool array, shape (num_variables,)
    start : int64 array, shape (rows + 1,)
    index : int64 array, value : float array, shape (entries,)
    row_upper : float array, shape (rows,)
    row_family : list of (str, int)
        The families of rows in order, each with its number of rows: ``closure``, ``budget``, ``cover`` or
        ``link`` and ``once``, ``order``.
    """

    cost: Floats
    integral: NDArray[np.bool_]
    start: Ints
    index: Ints
    value: Floats
    row_upper: Floats
    row_family: list[tuple[str, int]]

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self.row_upper.size)

    def row_activity(self, solution: Floats) -> Floats:
        """matrix·solution, shape (rows,)."""
        products = self.value * solution[self.index]
        return np.add.reduceat(np.append(products, 0.0), self.start[:-1]) * (np.diff(self.start) > 0)


def compact_arrays(problem: CompactProblem) -> CompactArrays:
    """Write `problem` as arrays; a few array operations per family of rows, no loop over variables."""
    pairwise = problem.saving.size > 0
    families: dict[str, Block] = {"closure": _closure(problem), "budget": _budget(problem)}
    if pairwise:
        families |= {"link": _link(problem), "once": _once(problem)}
    else:
        families["cover"] = _cover(problem)
    if problem.ordered:
        families["order"] = _order(problem)
    offset, rows, columns, values, uppers = 0, [], [], [], []
    for row, column, value, upper in families.values():
        rows.append(row + offset)
        columns.append(column)
        values.append(value)
        uppers.append(upper)
        offset += upper.size
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    sequence = np.argsort(row, kind="stable")
    integral = np.zeros(problem.num_variables, np.bool_)
    integral[: problem.holder.size] = True
    return CompactArrays(
        cost=problem.cost,
        integral=integral,
        start=np.concatenate(([0], np.cumsum(np.bincount(row, minlength=offset)))),
        index=column[sequence],
        value=value[sequence],
        row_upper=np.concatenate(uppers),
        row_family=[(name, block[3].size) for name, block in families.items()],
    )


def _closure(problem: CompactProblem) -> Block:
    """x_{mc} − x_{mb} ≤ 0 for every child c of b, or Σ_c x_{mc} − |children|·x_{mb} ≤ 0."""
    above = problem.reduction.parent[problem.chunk]
    child = np.flatnonzero(above >= 0)
    parent = problem.x_of[problem.holder[child], above[child]]
    return _linked(child, parent, problem.formulation.linking == "aggregated")


def _link(problem: CompactProblem) -> Block:
    """z_{rhb} − x_{hb} ≤ 0 for every requester r, or Σ_r z_{rhb} − |requesters|·x_{hb} ≤ 0."""
    z = problem.holder.size + np.arange(problem.saving.size)
    x = problem.x_of[problem.link_holder, problem.link_chunk]
    return _linked(z, x, problem.formulation.linking == "aggregated")


def _linked(low: Ints, high: Ints, aggregated: bool) -> Block:
    """v_low ≤ v_high for every pair, or summed over the pairs with the same upper variable."""
    if not aggregated:
        row = np.arange(low.size)
        ones = np.ones(low.size)
        return (
            np.repeat(row, 2),
            np.stack((low, high), 1).ravel(),
            np.stack((ones, -ones), 1).ravel(),
            np.zeros(low.size),
        )
    tops, row, count = np.unique(high, return_inverse=True, return_counts=True)
    rows = np.concatenate((row, np.arange(tops.size)))
    values = np.concatenate((np.ones(low.size), -count.astype(np.float64)))
    return rows, np.concatenate((low, tops)), values, np.zeros(tops.size)


def _budget(problem: CompactProblem) -> Block:
    """Σ_b size_b·x_{mb} ≤ k_m."""
    size = problem.reduction.size[problem.chunk].astype(np.float64)
    return problem.holder, np.arange(problem.holder.size), size, problem.budgets.astype(np.float64)


def _cover(problem: CompactProblem) -> Block:
    """y_b − Σ_m x_{mb} ≤ 0."""
    row_of = np.full(problem.num_nodes, -1, np.int64)
    row_of[problem.covered] = np.arange(problem.covered.size)
    x = np.flatnonzero(row_of[problem.chunk] >= 0)
    y = problem.holder.size + np.arange(problem.covered.size)
    rows = np.concatenate((np.arange(y.size), row_of[problem.chunk[x]]))
    values = np.concatenate((np.ones(y.size), -np.ones(x.size)))
    return rows, np.concatenate((y, x)), values, np.zeros(y.size)


def _once(problem: CompactProblem) -> Block:
    """Σ_h z_{rhb} ≤ 1, where r has a choice of holders at all."""
    demand = problem.link_requester * max(problem.num_nodes, 1) + problem.link_chunk
    _, group, count = np.unique(demand, return_inverse=True, return_counts=True)
    z = np.flatnonzero(count[group] > 1)
    choices, row = np.unique(group[z], return_inverse=True)
    return row, problem.holder.size + z, np.ones(z.size), np.ones(choices.size)


def _order(problem: CompactProblem) -> Block:
    """Σ_b ω_b·x_{m'b} − Σ_b ω_b·x_{mb} ≤ 0 for neighbours m, m' in a class of identical workers."""
    parts: list[tuple[Ints, Ints, Floats]] = []
    for row, (first, second) in enumerate(problem.ordered):
        for worker, sign in ((second, 1.0), (first, -1.0)):
            x = np.flatnonzero(problem.holder == worker)
            weight = problem.rank[problem.chunk[x]].astype(np.float64)
            parts.append((np.full(x.size, row), x, sign * weight))
    rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, columns, values, np.zeros(len(problem.ordered))
