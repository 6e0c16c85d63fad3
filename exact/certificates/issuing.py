"""Making certificates: float multipliers become integers, value and bound are computed exactly from them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.bounds.lagrangian import CoverageDual
from exact.bounds.result import Bound
from exact.certificates.certificate import FORMAT, VERSION, Certificate, sealed
from exact.certificates.evaluation import (
    ExactInstance,
    budgeted_value,
    closure_value,
    exact_instance,
    plan_value,
)
from exact.certificates.verification import proven_bound
from prefixplace.instance import Instance
from prefixplace.placement import Placement

__all__ = ["certify", "coverage_claim", "issue", "whole_units"]

EXACT_RANGE = 20_000
"""Multipliers up to which the grid also holds every value of the instance, so that the ends of the range are exact."""

TABLE_CELLS = 2_000_000
"""Largest n·k at which a certificate may ask for the dynamic program of a worker."""


def certify(instance: Instance, placement: Placement, bound: Bound) -> Certificate:
    """A certificate that `placement` is within `bound` of the optimum, to be checked by :func:`exact.verify`.

    The multipliers of `bound` are rounded to a binary grid so fine that the dual function moves by less than one
    part in 10¹⁴, and the stated value and bound are computed from them in exact arithmetic. A bound by coverage
    multipliers becomes a ``coverage-dual`` certificate, whatever found them; one by budget prices alone a
    ``budget-dual`` certificate. Where a worker's table is small (:data:`TABLE_CELLS`) and the budgeted dynamic
    program is better than a price on its budget, the certificate asks for it. O(n·M) and the tables.

    Raises
    ------
    InputError
        When the placement or the bound belongs to another instance.
    """
    instance.check(placement)
    bound.check(instance)
    magnitude = bound.bound or 1.0
    # a change of every multiplier by one unit moves the dual by at most (2M + 1)·n units
    parts = (2 * instance.num_workers + 1) * max(instance.num_chunks, 1)
    bits = int(np.ceil(np.log2(parts) - np.log2(magnitude))) + 47
    denominator = 2 ** max(0, bits)
    if "coverage" in bound.multipliers:
        multipliers = bound.multipliers["coverage"]
        if multipliers.size <= EXACT_RANGE:
            denominator = max(denominator, exact_instance(instance).denominator)
        claim = coverage_claim(instance, exact_instance(instance, denominator), multipliers, denominator)
        return issue(instance, placement, "coverage-dual", {"denominator": denominator, **claim})
    if "budget" in bound.multipliers:
        prices = whole_units(bound.multipliers["budget"], denominator)
        return issue(
            instance, placement, "budget-dual", {"denominator": denominator, "budget_prices": prices.tolist()}
        )
    return issue(instance, placement, "trivial", {})


def issue(instance: Instance, placement: Placement, kind: str, fields: Mapping[str, Any]) -> Certificate:
    """A sealed certificate of `kind` with its own `fields`; value and bound are filled in exactly.

    Raises
    ------
    Rejected
        When the fields prove nothing.
    """
    data = exact_instance(instance, fields.get("denominator", 1))
    bound = Fraction(proven_bound(data, {"kind": kind, **fields}, instance), data.denominator)
    value = Fraction(plan_value(data, [chunks.tolist() for chunks in placement.sets()]), data.denominator)
    plan = {"workers": [chunks.tolist() for chunks in placement.sets(given=True)]}
    return sealed(
        {
            "format": FORMAT,
            "version": VERSION,
            "instance_digest": instance.digest,
            "kind": kind,
            "value": str(value),
            "bound": str(bound),
            "plan": plan,
            **fields,
        }
    )


def whole_units(values: NDArray[np.float64], denominator: int) -> NDArray[Any]:
    """`values` ≥ 0 in units of 1/`denominator` (a power of two), rounded down: an object array of integers."""
    ratios = map(float.as_integer_ratio, values.ravel().tolist())
    whole = np.empty(values.size, object)
    whole[:] = [numerator * denominator // divisor for numerator, divisor in ratios]
    return whole.reshape(values.shape)


def coverage_claim(
    instance: Instance, data: ExactInstance, multipliers: NDArray[np.float64], denominator: int
) -> dict[str, Any]:
    """The fields ``coverage_multipliers`` and ``budget_prices`` of a coverage dual, for float `multipliers` in ms.

    `data` is the exact instance over a multiple of `denominator`.
    """
    unit = data.denominator // denominator
    highest = (data.saving.max(axis=0) if data.pairwise else data.coverage) // unit
    whole = np.minimum(
        whole_units(multipliers, denominator), highest
    )  # exact Δ may lie below the float64 one
    dual = CoverageDual(instance, "price")
    floats = np.array([units / denominator for units in whole.flat]).reshape(
        whole.shape
    )  # each rounded once, however large
    found = dual.evaluate(dual.clip(floats)).prices
    prices: list[int | None] = whole_units(found, denominator).tolist()
    n = instance.num_chunks
    for worker, budget in enumerate(data.budgets):
        if n * min(n, budget) > TABLE_CELLS:
            continue
        profit = (
            np.maximum(data.saving[worker] - whole * unit, 0).sum(axis=0)
            if data.pairwise
            else data.local[worker] + whole * unit
        )
        price = int(prices[worker] or 0) * unit
        table = budgeted_value(data.end, profit.tolist(), budget)
        if table != price * budget + closure_value(data.parent, (profit - price).tolist()):
            prices[worker] = None
    return {"coverage_multipliers": instance.tree.to_given(whole).tolist(), "budget_prices": prices}
