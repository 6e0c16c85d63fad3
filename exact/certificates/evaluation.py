"""Exact evaluation of plans and dual bounds: integers over one common denominator, no solver, no oracle.

Every float64 is a whole number times a power of two, so an instance *is* a table of integers once a common
denominator is chosen. Sums, products and maxima of them are Python integers: nothing here rounds. The routines
are written to be read, not to be fast; all of them take time linear in their table, and none recurses.

The data are the float64 numbers of the instance: local and coverage values where those were given, else demand,
recompute cost and fetch cost (of a transfer model: the float64 costs that it gives), from which the values follow
by exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance

__all__ = [
    "ExactInstance",
    "budgeted_value",
    "closure_value",
    "coverage_bound",
    "exact_instance",
    "granularity",
    "integers",
    "plan_value",
]

Integers = NDArray[Any]
"""An object array of Python integers."""


@dataclass(frozen=True, eq=False)
class ExactInstance:
    """An instance whose values are integers: the value in ms is the integer divided by `denominator`.

    Attributes
    ----------
    parent, end : list of n ints
        The forest in preorder.
    budgets : list of M ints
    denominator : int
    local : object array (M, n)
        a_m(b); empty for the pairwise objective.
    coverage : object array (n,)
        Δ(b); empty for the pairwise objective.
    saving : object array (M, M, n)
        s_{m←h}(b) as ``[holder h, requester m, chunk]``; empty for the requester-side objective.
    """

    parent: list[int]
    end: list[int]
    budgets: list[int]
    denominator: int
    local: Integers
    coverage: Integers
    saving: Integers
    pairwise: bool


def integers(*arrays: NDArray[np.float64]) -> tuple[list[Integers], int]:
    """Finite float64 `arrays` as integers over one power of two: ``array == integers / denominator``, exactly."""
    parts, shift = [], 0
    for array in arrays:
        fraction, exponent = np.frexp(array)
        mantissa = (fraction * 2.0**53).astype(np.int64)
        zeros = np.where(mantissa == 0, 0, np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1)
        # array == odd · 2^power, and 0 == 0 · 2^0
        odd, power = mantissa >> zeros, np.where(mantissa == 0, 0, exponent.astype(np.int64) - 53 + zeros)
        parts.append((odd, power))
        shift = max(shift, -int(power.min(initial=0)))
    return [odd.astype(object) << (power + shift).astype(object) for odd, power in parts], 2**shift


def exact_instance(instance: Instance, denominator: int = 1) -> ExactInstance:
    """`instance` over a common denominator that is also a multiple of `denominator` (that of some multipliers)."""
    tree, workers = instance.tree, instance.num_workers
    nothing = np.zeros(0, object)
    local = coverage = saving = nothing
    if instance.has_values:
        (local, coverage), unit = integers(instance.local_value, instance.coverage_value)
    elif not instance.pairwise:
        paid = np.minimum(
            instance.recompute, np.asarray(instance.fetch)
        )  # a peer that is dearer is not asked
        (demand,), demand_unit = integers(instance.demand)
        (recompute, paid), cost_unit = integers(instance.recompute, paid)
        local, coverage = demand * paid, (demand * (recompute - paid)).sum(axis=0)
        unit = demand_unit * cost_unit
    else:
        nodes = np.arange(tree.n)
        paid = np.stack(
            [np.minimum(instance.recompute, _fetch_from(instance, h, nodes)) for h in range(workers)]
        )
        (demand,), demand_unit = integers(instance.demand)
        (recompute, paid), cost_unit = integers(instance.recompute, paid)
        saving = demand * (recompute - paid)
        unit = demand_unit * cost_unit
    common = lcm(unit, denominator)
    local, coverage, saving = (array * (common // unit) for array in (local, coverage, saving))
    return ExactInstance(
        parent=tree.parent.tolist(),
        end=tree.end.tolist(),
        budgets=instance.budgets.tolist(),
        denominator=common,
        local=local,
        coverage=coverage,
        saving=saving,
        pairwise=instance.pairwise,
    )


def _fetch_from(instance: Instance, holder: int, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """f_{m←holder}(b), shape (M, n), 0 for the holder itself."""
    fetch = instance.fetch
    cost = fetch[:, holder].copy() if isinstance(fetch, np.ndarray) else fetch.holder_costs(holder, nodes)
    cost[holder] = 0.0
    return cost


def plan_value(data: ExactInstance, sets: Sequence[Sequence[int]]) -> int:
    """F or F_pair (times the denominator) of one set of preorder positions per worker."""
    if data.pairwise:
        best = np.zeros(data.saving.shape[1:], object)
        for holder, chunks in enumerate(sets):
            best[:, chunks] = np.maximum(best[:, chunks], data.saving[holder][:, chunks])
        return int(best.sum())
    kept = sum(int(data.local[m, chunks].sum()) for m, chunks in enumerate(sets))
    return kept + sum(data.coverage[b] for b in set().union(*sets))


def granularity(data: ExactInstance) -> int:
    """Greatest common divisor of all values: F of every plan is a multiple of it. 0 when every value is 0."""
    step = 0
    for array in (data.local, data.coverage, data.saving):
        for value in array.flat:
            step = gcd(step, value)
    return step


def closure_value(parent: Sequence[int], profit: Iterable[int]) -> int:
    """The largest profit of a parent-closed set of any size.

    Bottom-up in preorder: a subtree is worth taking when its best total is positive. O(n).
    """
    total = list(profit)
    value = 0
    for i in range(len(total) - 1, -1, -1):
        if total[i] > 0:
            if parent[i] < 0:
                value += total[i]
            else:
                total[parent[i]] += total[i]
    return value


def budgeted_value(end: Sequence[int], profit: Sequence[int], budget: int) -> int:
    """The largest profit of a parent-closed set of at most `budget` nodes.

    The dynamic program D[i, j] = max(D[end i, j], profit_i + D[i+1, j−1]), one row per node; rows are dropped after
    their last use. O(n·budget).
    """
    n = len(profit)
    budget = min(budget, n)
    # machine integers are exact when no sum of profits can leave them
    dtype = np.int64 if sum(map(abs, profit)) < 2**62 else object
    last_use = list(range(-1, n))  # the node of lowest number that needs a row
    for i in range(n - 1, -1, -1):
        last_use[end[i]] = i
    rows = {n: np.zeros(budget + 1, dtype)}
    for i in range(n - 1, -1, -1):
        skip, take = rows[end[i]], rows[i + 1]
        rows[i] = skip.copy()
        np.maximum(skip[1:], profit[i] + take[:-1], out=rows[i][1:])
        for done in {i + 1, end[i]}:
            if last_use[done] == i:
                del rows[done]
    return int(rows[0][budget])


def coverage_bound(data: ExactInstance, multipliers: Integers, prices: Sequence[int | None]) -> int:
    """The coverage-dual bound (times the denominator) on every placement.

    Parameters
    ----------
    multipliers : object array, shape (n,) or for the pairwise objective (M, n)
        Requester-side: 0 ≤ μ_b ≤ Δ(b), and the bound is Σ_b (Δ(b) − μ_b) + Σ_m W_m(a_m + μ).
        Pairwise: σ_{mb} ≥ 0, and the bound is Σ σ + Σ_h W_h(p_h) with p_h(b) = Σ_m [s_{m←h}(b) − σ_{mb}]₊.
    prices : sequence of M ints or None
        How W_m bounds the best set of m: at a price λ ≥ 0 per chunk by λ·k_m + the best closed set of any size
        for profits p − λ; with None by the budgeted dynamic program.
    """
    total = int((multipliers if data.pairwise else data.coverage - multipliers).sum())
    for worker, (price, budget) in enumerate(zip(prices, data.budgets, strict=True)):
        if data.pairwise:
            profit = np.maximum(data.saving[worker] - multipliers, 0).sum(axis=0)
        else:
            profit = data.local[worker] + multipliers
        if price is None:
            total += budgeted_value(data.end, profit.tolist(), budget)
        else:
            total += price * budget + closure_value(data.parent, (profit - price).tolist())
    return total
