"""Exact evaluation of plans and dual bounds: integers over one common denominator, no solver, no oracle.

Every float64 is a whole number times a power of two, so an instance *is* a table of integers once a common
denominator is chosen. Sums, products and maxima of them are Python integers: nothing here rounds. The routines
are written to be read, not to be fast; all of them take time linear in their table, and none recurses.

The data are the float64 numbers of the instance: local and coverage values where those were given, else demand,
recompute cost and fetch cost (of a transfer model: the float64 costs that it gives), from which the values follow
by exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance

__all__ = [
    "NO_FIXINGS",
    "ExactInstance",
    "Fixings",
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


@dataclass(frozen=True)
class Fixings:
    """What a branch of a search has decided; all chunk numbers are preorder positions.

    Attributes
    ----------
    inside, outside : frozenset of (worker, chunk)
        Pairs that are kept, and pairs that are not.
    covered, uncovered : frozenset of chunks
        Chunks that at least one worker keeps, and chunks that nobody keeps.
    """

    inside: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    outside: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    covered: frozenset[int] = field(default_factory=frozenset)
    uncovered: frozenset[int] = field(default_factory=frozenset)

    def kept_by(self, worker: int) -> set[int]:
        """Chunks that `worker` is bound to keep."""
        return {b for m, b in self.inside if m == worker}

    def barred_from(self, worker: int) -> set[int]:
        """Chunks that `worker` must not keep."""
        return {b for m, b in self.outside if m == worker} | self.uncovered


NO_FIXINGS = Fixings()


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


def closure_value(
    parent: Sequence[int], profit: Iterable[int], inside: Collection[int] = (), outside: Collection[int] = ()
) -> int | None:
    """The largest profit of a parent-closed set of any size that keeps `inside` and avoids `outside`.

    None when no set does. Bottom-up in preorder: a subtree is worth taking when its best total is positive.
    """
    total = list(profit)
    required = bytearray(len(total))
    for i in inside:
        required[i] = 1
    value = 0
    for i in range(len(total) - 1, -1, -1):
        gain, above = total[i], parent[i]
        if i in outside:
            if required[i]:
                return None
        elif required[i] or gain > 0:
            if above < 0:
                value += gain
            else:
                total[above] += gain
                required[above] |= required[i]
    return value


def budgeted_value(
    end: Sequence[int],
    profit: Sequence[int],
    budget: int,
    inside: Collection[int] = (),
    outside: Collection[int] = (),
) -> int | None:
    """The largest profit of a parent-closed set of at most `budget` nodes that keeps `inside` and avoids `outside`.

    None when no set does. The dynamic program D[i, j] = max(D[end i, j], profit_i + D[i+1, j−1]), one row per
    node, O(n·budget) operations; rows are dropped after their last use.
    """
    n = len(profit)
    budget = min(budget, n)
    reach = sum(map(abs, profit)) + 1  # above every profit of a set
    never = -2 * reach  # stays below −reach after adding any profits
    # no entry leaves ±4·reach: machine integers are exact when that fits
    dtype = np.int64 if 4 * reach < 2**63 else object
    required, last_use = [False] * n, list(range(-1, n))
    for i in inside:
        required[i] = True
    for i in range(n - 1, -1, -1):
        last_use[end[i]] = i
        # a required node inside the subtree makes its root required; it lies in i + 1 : end(i), children first
        child = i + 1
        while not required[i] and child < end[i]:
            required[i] = required[child]
            child = end[child]
    rows = {n: np.zeros(budget + 1, dtype)}
    for i in range(n - 1, -1, -1):
        skip = np.full(budget + 1, never, dtype) if required[i] else rows[end[i]]
        row = skip.copy()
        if i not in outside:
            np.maximum(skip[1:], profit[i] + rows[i + 1][:-1], out=row[1:])
        rows[i] = row
        for done in {i + 1, end[i]}:
            if last_use[done] == i:
                del rows[done]
    value = int(rows[0][budget])
    return None if value < -reach else value


def coverage_bound(
    data: ExactInstance,
    multipliers: Integers,
    prices: Sequence[int | None],
    fixings: Fixings = NO_FIXINGS,
) -> int | None:
    """The coverage-dual bound (times the denominator) of every placement that obeys `fixings`; None when none does.

    Parameters
    ----------
    multipliers : object array, shape (n,) or for the pairwise objective (M, n)
        Requester-side: μ_b ≥ 0, and the bound is Σ_b [Δ(b) − μ_b]₊ + Σ_m W_m(a_m + μ). A covered chunk counts
        Δ(b) − μ_b of either sign, an uncovered one nothing.
        Pairwise: σ_{mb} ≥ 0, and the bound is Σ σ + Σ_h W_h(p_h) with p_h(b) = Σ_m [s_{m←h}(b) − σ_{mb}]₊.
    prices : sequence of M ints or None
        How W_m bounds the best set of m: at a price λ ≥ 0 per chunk by λ·k_m + the best closed set of any size
        for profits p − λ; with None by the budgeted dynamic program.
    """
    if data.pairwise:
        total = int(multipliers.sum() - multipliers[:, sorted(fixings.uncovered)].sum())
    else:
        spread = data.coverage - multipliers
        total = 0
        for b, term in enumerate(spread):
            if b in fixings.covered or (b not in fixings.uncovered and term > 0):
                total += term
    for worker, price in enumerate(prices):
        if data.pairwise:
            profit = np.maximum(data.saving[worker] - multipliers, 0).sum(axis=0)
        else:
            profit = data.local[worker] + multipliers
        inside, outside, budget = fixings.kept_by(worker), fixings.barred_from(worker), data.budgets[worker]
        if price is None:
            best = budgeted_value(data.end, profit.tolist(), budget, inside, outside)
        else:
            best = closure_value(data.parent, (profit - price).tolist(), inside, outside)
        if best is None:
            return None
        total += best if price is None else best + price * budget
    return total
