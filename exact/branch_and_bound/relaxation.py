"""The compact LP of what an optimistic fixing leaves open, by an interior point method: where a descent goes on from.

On many chunks the minimum of the coverage dual lies in a valley along which whole chains and the price of a budget move
together, and first-order steps take thousands of rounds through it. An interior point method sees the valley, but not
all pairs. So pairs are fixed as if the gap were a fraction of what it is, which leaves few, and the LP over these is
solved. Nothing is proved here: the duals of its coverage rows are multipliers like any others, which the coverage dual
evaluates on the whole problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from exact.branch_and_bound.coverage import Losses
from exact.branch_and_bound.problem import Problem
from exact.interruptible import Interruptible
from prefixplace.joint.states import FREE, INSIDE, OUTSIDE

__all__ = ["Relaxation", "optimistic", "relax"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHARES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
"""Of the gap that are tried as the room of a fixing, in this order."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Optimum of the LP over the pairs left open.

    Attributes
    ----------
    value : int
        In grid units, up to the tolerance of the solver; with what is inside.
    multipliers : int64 array (n,)
        μ in grid units: duals of y_b ≤ Σ_m x_{mb}, and what they were before on chunks that have no such row.
    prices : int64 array (M,)
        Duals of the budgets in grid units.
    weights : float array (M, n)
        x, with 1 for what is inside.
    """

    value: int
    multipliers: Ints
    prices: Ints
    weights: Floats


def optimistic(
    problem: Problem, losses: Losses, fix: NDArray[np.int8], room: int, most: int
) -> NDArray[np.int8]:
    """`fix` with what is the only way to lose less than a share of `room`, the largest of a few shares that leaves at
    most `most` pairs free; when all leave more, `fix` without all but the `most` pairs that lose least. O(M·n).

    So small a room may have no placement at all; then pairs are only left out, one by one.
    """
    nobody = np.zeros(fix.shape[1], np.bool_)
    free = fix == FREE
    for share in _SHARES:
        tightened = losses.tightened(problem, fix, nobody, max(int(share * room), 1))
        if tightened is None:
            left = np.where(free & (losses.entry > share * room), np.int8(OUTSIDE), fix)
        else:
            left = tightened[0]
        if np.count_nonzero(left == FREE) <= most:
            return left
    lost = losses.entry[free]  # what is below a pair loses at least as much, so that sets stay closed
    least = np.partition(lost, most)[most]
    return np.where(free & (losses.entry >= least), np.int8(OUTSIDE), fix)


def relax(
    problem: Problem,
    fix: NDArray[np.int8],
    multipliers: Ints,
    prices: Ints,
    seconds: float | None,
    expired: Callable[[], bool],
    meanwhile: Callable[[], bool],
) -> Relaxation | None:
    """Solve the LP over the free pairs of `fix`; None when it is not solved within `seconds`.

    `meanwhile` is called again and again beside the solver until it returns false.

    The LP: max Σ a_m(b)·x_{mb} + Σ Δ(b)·y_b with x_{mb} ≤ x_{m,parent(b)}, y_b ≤ Σ_m x_{mb}, Σ_b x_{mb} ≤ what is left
    of the budget, all between 0 and 1. Values are divided by the largest. Chunks that somebody keeps have no y.
    """
    import highspy

    from exact.backends.highs import new_highs, set_option

    assert problem.local is not None and problem.coverage is not None
    inside = fix == INSIDE
    model = _model(problem, fix, inside)
    highs = new_highs()
    for name, value in (("threads", 1), ("solver", "ipm"), ("run_crossover", "off")):
        set_option(highs, name, value)
    if seconds is not None:
        set_option(highs, "time_limit", seconds)
    if highs.passModel(*model.arguments) == highspy.HighsStatus.kError:
        raise RuntimeError("HiGHS refused the model")
    process = Interruptible()
    highs.cbIpmInterrupt += lambda event: (
        event.interrupt() if process.stopping.is_set() or expired() else None
    )
    process.call(highs.run, meanwhile)
    if process.interrupted:
        raise KeyboardInterrupt
    solution = highs.getSolution()
    # "unknown" is what HiGHS makes of an optimum without a basis; nothing here depends on what it claims
    ended = highs.getModelStatus() in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown)
    if not (ended and solution.dual_valid and solution.value_valid):
        return None
    rows = np.abs(np.asarray(solution.row_dual)) * model.unit
    duals = np.rint(rows).astype(np.int64)
    moved = duals[model.first_budget :] - prices
    shift = np.where(inside, moved[:, None], np.iinfo(np.int64).max).min(axis=0)
    found = multipliers + np.where(inside.any(axis=0), shift, moved.min())
    found[model.covered] = duals[model.first_cover : model.first_budget]
    found = np.clip(found, 0, problem.coverage)
    weights = inside.astype(np.float64)
    weights[model.workers, model.chunks] = np.clip(solution.col_value[: model.chunks.size], 0.0, 1.0)
    covered = np.minimum(weights.sum(axis=0), 1.0)
    value = int((problem.local * weights).sum() + (problem.coverage * covered).sum())
    return Relaxation(value, found, duals[model.first_budget :], weights)


@dataclass(frozen=True, eq=False)
class _Model:
    """The LP as HiGHS takes it. Columns are the free pairs (`workers`, `chunks`), then y of `covered`; rows are
    closure, coverage from `first_cover` and budgets from `first_budget`."""

    arguments: tuple[Any, ...]
    workers: Ints
    chunks: Ints
    covered: Ints
    first_cover: int
    first_budget: int
    unit: float


def _model(problem: Problem, fix: NDArray[np.int8], inside: NDArray[np.bool_]) -> _Model:
    import highspy

    local, coverage, budgets = problem.local, problem.coverage, problem.budgets
    assert local is not None and coverage is not None
    workers, chunks = np.nonzero(fix == FREE)
    pairs, (count, n) = chunks.size, fix.shape
    column = np.full((count, n), -1)
    column[workers, chunks] = np.arange(pairs)
    covered = np.flatnonzero((fix == FREE).any(axis=0) & ~inside.any(axis=0) & (coverage > 0))
    row = np.full(n, -1)
    row[covered] = np.arange(covered.size)

    parent = problem.instance.tree.parent[chunks]
    above = np.where(parent >= 0, column[workers, parent], -1)
    child = np.flatnonzero(above >= 0)  # where the parent is inside the child is free to come
    counting = np.flatnonzero(row[chunks] >= 0)
    blocks = [
        (np.arange(child.size), child, 1.0),
        (np.arange(child.size), above[child], -1.0),
        (child.size + np.arange(covered.size), pairs + np.arange(covered.size), 1.0),
        (child.size + row[chunks[counting]], counting, -1.0),
        (child.size + covered.size + workers, np.arange(pairs), 1.0),
    ]
    first_budget = child.size + covered.size
    shape = first_budget + count, pairs + covered.size
    entries = np.concatenate([np.full(at.size, value) for at, _, value in blocks])
    positions = np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])
    matrix = sp.csr_matrix((entries, positions), shape=shape)
    worth = np.concatenate((local[workers, chunks], coverage[covered])).astype(np.float64)
    unit = float(worth.max(initial=0.0)) or 1.0
    most = np.concatenate((np.zeros(first_budget), budgets - np.count_nonzero(inside, axis=1)))
    arguments = (
        shape[1],
        shape[0],
        matrix.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        worth / unit,
        np.zeros(shape[1]),
        np.ones(shape[1]),
        np.full(shape[0], -np.inf),
        most.astype(np.float64),
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        np.zeros(shape[1], np.int32),
    )
    return _Model(arguments, workers, chunks, covered, child.size, first_budget, unit)
