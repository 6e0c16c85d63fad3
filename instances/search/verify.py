"""Ratios in exact arithmetic, from the instance alone: enumeration and rational LP solutions, no solver's word."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

import prefixplace as pp
from exact.certificates.evaluation import ExactInstance, budgeted_value, exact_instance, plan_value
from instances.search.gaps import compact_solution, configuration_solution
from instances.search.realism import Values
from instances.search.runs import METHODS
from instances.search.shapes import MOST_CHUNKS, Shape
from prefixplace.errors import InputError
from prefixplace.planner.methods import GreedyParams

__all__ = ["exact_optimum", "exact_ratio"]

_DENOMINATOR = 5040  # of rational LP solutions: divisible by 1 … 10


def exact_ratio(instance: pp.Instance, target: str) -> Fraction:
    """The ratio of a search target on a requester-side instance, exactly, or for gaps from above.

    Methods: what :func:`prefixplace.solve` reaches, valued in integers, over the optimum by enumeration.
    ``configuration-gap``: that optimum over the exact value of a rational solution of the configuration LP.
    ``compact-gap``: a rational Lagrangian bound of the configuration LP over the exact value of a rational solution of
    the compact LP. A gap is therefore at least as bad as stated.

    Raises
    ------
    InputError
        For an unknown target, a pairwise instance, or one with more than a dozen chunks.
    """
    data = exact_instance(instance)
    shape = _shape(instance)
    if target in METHODS:
        reached = max(plan_value(data, _sets(mask)) for mask in _answers(instance, target))
        return Fraction(reached, exact_optimum(data, shape))
    if target == "configuration-gap":
        return Fraction(exact_optimum(data, shape)) / _configuration_value(instance, data, shape)
    if target == "compact-gap":
        return _configuration_bound(instance, data, shape) / _compact_value(instance, data, shape)
    raise InputError(f"unknown search target {target!r}")


def exact_optimum(data: ExactInstance, shape: Shape) -> int:
    """The optimum in units of the data's denominator, by enumeration of all placements in Python integers."""
    best = 0
    rows, union = shape.placements
    own = [
        [sum(data.local[m][b] for b in np.flatnonzero(kept)) for kept in shape.sets(m)]
        for m in range(shape.workers)
    ]
    covered: dict[bytes, int] = {}
    for row, mask in zip(rows.tolist(), union, strict=True):
        key = mask.tobytes()
        if key not in covered:
            covered[key] = sum(data.coverage[b] for b in np.flatnonzero(mask))
        best = max(best, covered[key] + sum(own[m][i] for m, i in enumerate(row)))
    return best


def _shape(instance: pp.Instance) -> Shape:
    if instance.pairwise:
        raise InputError("the search targets are defined for requester-side instances")
    if instance.num_chunks > MOST_CHUNKS:
        raise InputError(f"{instance.num_chunks} chunks are too many to enumerate (at most {MOST_CHUNKS})")
    return Shape(tuple(instance.tree.parent.tolist()), tuple(instance.budgets.tolist()))


def _answers(instance: pp.Instance, target: str) -> list[NDArray[np.bool_]]:
    method = METHODS[target]
    runs = (
        [GreedyParams(order) for order in permutations(range(instance.num_workers))]
        if method.orders
        else [None]
    )
    results = [pp.solve(instance, method.method, params=params) for params in runs]
    return [r.placement.mask for r in results if r.placement is not None]


def _sets(mask: NDArray[np.bool_]) -> list[list[int]]:
    return [np.flatnonzero(kept).tolist() for kept in mask]


def _forms(instance: pp.Instance) -> tuple[Values, NDArray[np.float64]]:
    """The values of an instance as forms of one variable that is 1."""
    local, coverage = instance.local_value[:, :, None], instance.coverage_value[:, None]
    return Values(local, local, None, coverage, lambda *_: instance), np.ones(1)


def _configuration_value(instance: pp.Instance, data: ExactInstance, shape: Shape) -> Fraction:
    solution = configuration_solution(shape, *_forms(instance))
    kept = [[Fraction(0)] * shape.n for _ in range(shape.workers)]
    for m, weights in enumerate(solution.weights):
        parts = [Fraction(max(float(x), 0.0)).limit_denominator(_DENOMINATOR) for x in weights]
        scale = max(Fraction(1), sum(parts, Fraction(0)))  # a feasible solution, whatever the rounding did
        for part, members in zip(parts, shape.sets(m), strict=True):
            for b in np.flatnonzero(members):
                kept[m][b] += part / scale
    return _worth(data, kept)


def _worth(data: ExactInstance, kept: list[list[Fraction]]) -> Fraction:
    """Σ a·x + Σ Δ·min(1, Σ x) in units of the data's denominator."""
    total = Fraction(0)
    for b in range(len(data.parent)):
        shares = [row[b] for row in kept]
        total += sum((data.local[m][b] * x for m, x in enumerate(shares)), Fraction(0))
        total += data.coverage[b] * min(Fraction(1), sum(shares, Fraction(0)))
    return total


def _configuration_bound(instance: pp.Instance, data: ExactInstance, shape: Shape) -> Fraction:
    """Σ(Δ − μ) + Σ_m W_m(a_m + μ) for rational multipliers, in units of the data's denominator."""
    solution = configuration_solution(shape, *_forms(instance))
    scaled = solution.multipliers * data.denominator
    rounded = [Fraction(float(x)).limit_denominator(_DENOMINATOR) for x in scaled]
    multipliers = [min(x, Fraction(int(top))) for x, top in zip(rounded, data.coverage, strict=True)]
    unit = np.lcm.reduce([x.denominator for x in multipliers]) if multipliers else 1
    whole = [int(x * int(unit)) for x in multipliers]
    total = sum(int(top) * int(unit) - x for top, x in zip(data.coverage, whole, strict=True))
    for m, budget in enumerate(data.budgets):
        profit = [int(a) * int(unit) + x for a, x in zip(data.local[m], whole, strict=True)]
        best = budgeted_value(data.end, profit, budget)
        assert best is not None  # nothing is required, so the empty set is allowed
        total += best
    return Fraction(total, int(unit))


def _compact_value(instance: pp.Instance, data: ExactInstance, shape: Shape) -> Fraction:
    solution = compact_solution(shape, *_forms(instance))
    kept = []
    for m, row in enumerate(solution.kept):
        x = [Fraction(float(v)).limit_denominator(_DENOMINATOR) for v in np.clip(row, 0.0, 1.0)]
        for b, above in enumerate(shape.parents):
            if above >= 0:
                x[b] = min(x[b], x[above])
        scale = max(Fraction(1), sum(x, Fraction(0)) / shape.budgets[m])
        kept.append([v / scale for v in x])
    return _worth(data, kept)
