"""Gaps between optimum, configuration LP and compact LP as search targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.search.realism import Values
from instances.search.revealing import Row, RowLP, objective_row
from instances.search.shapes import Shape
from prefixplace import best_closed_set

__all__ = [
    "CompactSolution",
    "ConfigurationSolution",
    "compact_solution",
    "configuration_solution",
    "worst_compact_gap",
    "worst_configuration_gap",
]

_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class ConfigurationSolution:
    """A solution of the configuration LP.

    Attributes
    ----------
    value : float
    kept : array, shape (M, n)
        Σ_{S ∋ b} x_{m,S}.
    weights : tuple of M arrays
        x_{m,S} for the largest closed sets of each worker, in the order of ``shape.sets(m)``.
    multipliers : array, shape (n,)
        Dual values μ of the coverage rows.
    """

    value: float
    kept: NDArray[np.float64]
    weights: tuple[NDArray[np.float64], ...]
    multipliers: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompactSolution:
    """A solution of the compact LP: its value, and x as (M, n)."""

    value: float
    kept: NDArray[np.float64]


def fractional_row(values: Values, kept: NDArray[np.float64]) -> Row:
    """Σ a_m(b)·x_{mb} + Σ Δ(b)·min(1, Σ_m x_{mb}) as a linear form of z."""
    covered = np.minimum(kept.sum(axis=0), 1.0)
    row: Row = np.tensordot(kept, values.local, 2) + covered @ values.coverage
    return row


def configuration_solution(shape: Shape, values: Values, z: Row) -> ConfigurationSolution:
    """Solve the configuration LP over the largest closed sets (enough, since no value is negative)."""
    local, coverage = values.local @ z, values.coverage @ z
    tables = [shape.sets(m) for m in range(shape.workers)]
    sets = np.concatenate(tables).astype(np.float64)
    owner = np.repeat(np.arange(shape.workers), [len(table) for table in tables])
    count, n = len(sets), shape.n
    lp = RowLP(np.concatenate((-(sets * local[owner]).sum(axis=1), -coverage)))
    for m in range(shape.workers):
        lp.add(np.concatenate((owner == m, np.zeros(n))).astype(np.float64), 1.0)
    for b in range(n):
        unit = (np.arange(n) == b).astype(np.float64)
        lp.add(np.concatenate((-sets[:, b], unit)), 0.0)
        lp.add(np.concatenate((np.zeros(count), unit)), 1.0)
    found = lp.solve()
    assert found is not None  # feasible (nothing kept) and bounded
    x = found[:count]
    kept = np.array([x[owner == m] @ sets[owner == m] for m in range(shape.workers)])
    weights = tuple(x[owner == m] for m in range(shape.workers))
    multipliers = lp.duals()[shape.workers :: 2]
    value = float(np.sum(kept * local) + np.minimum(kept.sum(axis=0), 1.0) @ coverage)
    return ConfigurationSolution(value, kept, weights, np.clip(-multipliers, 0.0, coverage))


def compact_solution(shape: Shape, values: Values, z: Row) -> CompactSolution:
    """Solve the compact LP of the values at z."""
    local, coverage = values.local @ z, values.coverage @ z
    workers, n = local.shape
    lp = RowLP(np.concatenate((-local.ravel(), -coverage)))
    size = workers * n + n
    for m in range(workers):
        row = np.zeros(size)
        row[m * n : (m + 1) * n] = 1.0
        lp.add(row, float(shape.budgets[m]))
        for b, above in enumerate(shape.parents):
            row = np.zeros(size)
            row[m * n + b] = 1.0
            if above >= 0:
                row[m * n + above] = -1.0
            lp.add(row, 0.0 if above >= 0 else 1.0)
    for b in range(n):
        row = np.zeros(size)
        row[workers * n + b] = 1.0
        lp.add(row, 1.0)
        row = row.copy()
        row[b : workers * n : n] = -1.0
        lp.add(row, 0.0)
    found = lp.solve()
    assert found is not None  # feasible (nothing kept) and bounded
    kept = found[: workers * n].reshape(workers, n)
    value = float(np.sum(kept * local) + np.minimum(kept.sum(axis=0), 1.0) @ coverage)
    return CompactSolution(value, kept)


def worst_configuration_gap(
    shape: Shape, values: Values, kept: NDArray[np.float64]
) -> tuple[float, Row] | None:
    """Values that make the optimum the least part of what a fixed solution of the configuration LP is worth.

    The LP min t s.t. value of the solution = 1 and F(T) ≤ t for every placement T, separated by enumeration. Of the
    solution only `kept` (M, n), the share of each chunk at each worker, matters.
    """
    d = values.variables
    lp = RowLP(np.append(np.zeros(d), 1.0))
    lp.add(np.append(fractional_row(values, kept), 0.0), 1.0, equal=True)
    while True:
        found = lp.solve()
        if found is None:
            return None
        z = found[:d]
        value, mask = shape.best_placement(values.local @ z, values.coverage @ z)
        if value <= found[d] + _TOLERANCE:
            return float(found[d]), z
        lp.add(np.append(objective_row(values, mask), -1.0), 0.0)


def worst_compact_gap(shape: Shape, values: Values, solution: CompactSolution) -> tuple[float, Row] | None:
    """Values that make the configuration LP the least part of what a fixed compact `solution` is worth.

    Its dual is in the LP: variables z, μ, θ, t with Σ(Δ − μ) + Σ θ_m ≤ t, μ ≤ Δ, and θ_m ≥ (a_m + μ)(S) for each closed
    set S, separated by the oracle.
    """
    d, n, workers = values.variables, shape.n, shape.workers
    size = d + n + workers + 1
    cost = np.zeros(size)
    cost[-1] = 1.0
    lp = RowLP(cost)
    row = np.zeros(size)
    row[:d] = fractional_row(values, solution.kept)
    lp.add(row, 1.0, equal=True)
    row = np.concatenate((values.coverage.sum(axis=0), -np.ones(n), np.ones(workers), [-1.0]))
    lp.add(row, 0.0)
    for b in range(n):
        row = np.zeros(size)
        row[:d], row[d + b] = -values.coverage[b], 1.0
        lp.add(row, 0.0)
    while True:
        found = lp.solve()
        if found is None:
            return None
        z, mu, theta = found[:d], found[d : d + n], found[d + n : d + n + workers]
        violated = False
        for m in range(workers):
            best = best_closed_set(shape.tree, values.local[m] @ z + mu, shape.budgets[m])
            if best.value > theta[m] + _TOLERANCE:
                row = np.zeros(size)
                row[:d], row[d : d + n] = values.local[m][best.mask].sum(axis=0), best.mask
                row[d + n + m] = -1.0
                lp.add(row, 0.0)
                violated = True
        if not violated:
            return float(found[-1]), z
