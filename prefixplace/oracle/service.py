"""The oracle as a service: one tree, many profit vectors, budgets and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.oracle import _dense, _grid
from prefixplace.oracle.dense import dense_order
from prefixplace.oracle.door import checked_budget, checked_profit, reject_large, reject_not_finite
from prefixplace.oracle.fast import GridSolver
from prefixplace.oracle.parameters import OracleParameters
from prefixplace.oracle.result import ClosedSet, LagrangianBound
from prefixplace.oracle.workspace import Workspace, tree_shape
from prefixplace.tree import PrefixTree

__all__ = ["ClosedSetOracle", "shared_oracle"]


@dataclass(frozen=True)
class Grid:
    """How profits p became grid values q: ``p ≈ q·divisor / 2^shift``; values differ by multiples of `unit`."""

    divisor: int
    shift: int
    unit: int
    error: float  # largest rounding of one profit, in grid steps

    def value(self, q: int) -> float:
        """A grid value in units of profit."""
        return math.ldexp(float(q), -self.shift) * self.divisor

    def steps(self, price: float | None) -> int:
        """A price in grid steps, 0 when there is none or it is no number that fits."""
        if price is None or not 0 < price < math.inf:
            return 0
        mantissa, exponent = math.frexp(price / self.divisor)
        return int(math.ldexp(mantissa, exponent + self.shift)) if exponent + self.shift < 62 else 0

    def rounding(self, size: int) -> float:
        """The most that rounding can change the value of a set of `size` nodes."""
        return math.ldexp(size * self.error, -self.shift)


class ClosedSetOracle:
    """Exact best closed sets and Lagrangian bounds on one tree, for repeated use.

    Working memory is kept between calls (about 190 bytes a node for each thread that was used) and the kernels
    release the interpreter lock. Answers depend on tree, profits, budget and parameters alone: not on the number
    of threads, on earlier calls, or on `warm`.

    Parameters
    ----------
    tree : PrefixTree
        The forest.
    parameters : OracleParameters, optional
        Where to switch methods.
    """

    def __init__(self, tree: PrefixTree, parameters: OracleParameters | None = None) -> None:
        self.tree = tree
        self.parameters = OracleParameters() if parameters is None else parameters
        self._idle: list[GridSolver] = []  # append and pop are atomic: each thread takes one of its own

    def solve(self, profit: ArrayLike, budget: int, *, warm: float | None = None) -> ClosedSet:
        """A most profitable closed set of at most `budget` nodes; see :func:`best_closed_set`."""
        n = self.tree.n
        p = checked_profit(n, profit)
        k = min(checked_budget(budget), n)
        if k <= self.parameters.dense_budget or float(n) * k <= self.parameters.dense_cells:
            grid_values = np.empty(n, np.int64)
            return self._dense(p, k, self._grid(p, k, grid_values), grid_values)
        solver = self._borrow()
        try:
            grid = self._grid(p, k, solver.ws.grid)
            if grid.shift < 0 and p.dtype.kind == "i":
                return self._dense(p, k, grid, solver.ws.grid)
            answer = solver.solve(k, grid.unit, grid.steps(warm))
            mask = solver.ws.mask.copy()
        finally:
            self._idle.append(solver)
        return _closed_set(p, mask, answer.proof, grid.value(answer.price), grid, k)

    def solve_many(
        self,
        profits: ArrayLike,
        budgets: ArrayLike,
        *,
        warm: Sequence[float | None] | None = None,
        threads: int = 1,
    ) -> list[ClosedSet]:
        """One answer per row of `profits`, the same as :meth:`solve` gives each.

        Parameters
        ----------
        profits : array-like, shape (q, n)
        budgets : array-like of int, shape (q,)
        warm : sequence of q floats or None, optional
            A guess of the multiplier of each row.
        threads : int
            Rows solved at the same time, ≥ 1.
        """
        rows = np.asarray(profits)
        if rows.ndim != 2:
            raise InputError(f"profits has shape {rows.shape}, not (q, {self.tree.n})")
        ks = list(np.asarray(budgets).ravel())
        guesses = [None] * len(rows) if warm is None else list(warm)
        if len(ks) != len(rows) or len(guesses) != len(rows):
            raise InputError(
                f"{len(rows)} profit vectors, {len(ks)} budgets and {len(guesses)} warm multipliers"
            )
        if checked_budget(threads) < 1:
            raise InputError("threads is 0; it must be ≥ 1")

        def one(row: int) -> ClosedSet:
            return self.solve(rows[row], ks[row], warm=guesses[row])

        if threads == 1 or len(rows) < 2:
            return [one(row) for row in range(len(rows))]
        with ThreadPoolExecutor(min(threads, len(rows))) as pool:
            return list(pool.map(one, range(len(rows))))

    def bound(self, profit: ArrayLike, budget: int, *, warm: float | None = None) -> LagrangianBound:
        """Upper bound over all closed sets of at most `budget` nodes, with the losses of every node.

        O(n) for each pass of the multiplier search, which takes a handful. Raises like :func:`best_closed_set`, and
        also for integers that leave the bound no room: Σ|p| + (k + 1)·max|p| ≥ 2⁵⁹ after division by their common
        divisor.
        """
        n = self.tree.n
        p = checked_profit(n, profit)
        k = min(checked_budget(budget), n)
        solver = self._borrow()
        try:
            grid = self._grid(p, k, solver.ws.grid)
            if grid.shift < 0 and p.dtype.kind == "i":
                raise InputError("the integer profits are too large for a bound; use floats")
            price, top = solver.bound(k, grid.steps(warm))
            ws = solver.ws
            mask = ws.worth[:n] > 0
            if p.dtype.kind == "i":
                loss_in = _grid.integer_losses(top, ws.losses[:n], grid.divisor, grid.shift)
                loss_out = _grid.integer_losses(top, ws.worth[:n], grid.divisor, grid.shift)
                bound: int | float = (top >> grid.shift) * grid.divisor
            else:
                loss_in = _grid.float_losses(ws.losses[:n], grid.shift)
                loss_out = _grid.float_losses(ws.worth[:n], grid.shift)
                bound = grid.value(top)
                if grid.error > 0 or float(top) != top:
                    bound = math.nextafter(bound + grid.rounding(k), math.inf)
        finally:
            self._idle.append(solver)
        return LagrangianBound(bound, grid.value(price), loss_in, loss_out, mask, _total(p, mask))

    def _borrow(self) -> GridSolver:
        try:
            return self._idle.pop()
        except IndexError:
            return GridSolver(tree_shape(self.tree), Workspace(self.tree.n), self.parameters)

    def _grid(self, p: NDArray[Any], k: int, out: NDArray[np.int64]) -> Grid:
        """Put profits on the grid in `out`; a shift of -1 says that the integers do not fit and `out` is not set."""
        if p.dtype.kind == "i":
            divisor, shift, size = _grid.integer_grid(p, k, out)
            if size > 2.0**62:
                reject_large(p)
            return Grid(divisor, shift, 1 << max(shift, 0), 0.0)
        depth = tree_shape(self.tree).depth
        needed, gain = _grid.needs_taming(p, depth, k)
        q = _grid.tamed(p, depth, k, gain) if needed else p
        shift, error, unit = _grid.float_grid(q, k, out)
        if error < 0 or (needed and not np.isfinite(p).all()):
            reject_not_finite(p)
        return Grid(1, shift, unit, error)

    def _dense(self, p: NDArray[Any], k: int, grid: Grid, grid_values: NDArray[np.int64]) -> ClosedSet:
        """The dense program, on the grid values, or on integers too large for the grid themselves."""
        ready = dense_order(self.tree)
        q = p if grid.shift < 0 and p.dtype.kind == "i" else grid_values
        mask = _dense.dense_mask(ready.order, ready.end, ready.slot, ready.count, ready.parent, q, k)
        return _closed_set(p, mask, "dense", None, grid, k)


def shared_oracle(tree: PrefixTree) -> ClosedSetOracle:
    """The oracle with default parameters that is kept with a tree."""
    oracle: ClosedSetOracle | None = tree._derived.get("oracle")
    if oracle is None:
        oracle = tree._derived["oracle"] = ClosedSetOracle(tree)
    return oracle


def _total(p: NDArray[Any], mask: NDArray[np.bool_]) -> int | float:
    return _grid.total_profit(p, mask)


def _closed_set(
    p: NDArray[Any], mask: NDArray[np.bool_], proof: str, multiplier: float | None, grid: Grid, k: int
) -> ClosedSet:
    # two sets of at most k nodes are compared, the one found and the best one
    return ClosedSet(_total(p, mask), mask, proof, multiplier, grid.rounding(2 * k))
