"""Re-verifying a row from its files alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from exact.certificates import verify
from exact.certificates.evaluation import ExactInstance, exact_instance, granularity, plan_value
from instances.known import known_values
from instances.library.rows import PROOFS, Library, Row
from instances.search.verify import exact_ratio
from prefixplace.errors import InputError
from prefixplace.instance import Instance

__all__ = ["ENUMERATION_LIMIT", "RowCheck", "check_row", "enumerated_optimum", "rounded_down"]

ENUMERATION_LIMIT = 2_000
"""Placements that a proof by enumeration may have to look at, and closed sets of one budget."""


@dataclass(frozen=True)
class RowCheck:
    """What was found: the name of the row, and everything that is false about it."""

    name: str
    errors: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every statement of the row is true."""
        return not self.errors


def check_row(library: Library, name: str) -> RowCheck:
    """Check instance, origin, plan and upper bound of a row in exact arithmetic.

    The instance must have the digest of the row and be what its family draws (or have the ratio that its record
    states); the plan must be feasible and worth `lower`; the proof must give `upper`.
    """
    row = library[name]
    errors: list[str] = []
    try:
        instance = library.instance(name)
        if instance.digest != row.digest:
            errors.append(f"the instance has the digest {instance.digest}, not {row.digest}")
        origin = _origin(row, instance, errors)
        plan = verify(instance, library.plan(name))
        errors += [f"plan: {error}" for error in plan.errors]
        if plan.ok and plan.value != row.lower:
            errors.append(f"the plan is worth {plan.value}, not {row.lower}")
        upper = _upper(library, row, instance, origin, errors)
        if upper is not None and upper != row.upper:
            errors.append(f"the proof gives {upper}, not {row.upper}")
        if row.lower > row.upper:
            errors.append(f"lower = {row.lower} is above upper = {row.upper}")
    except InputError as error:
        errors.append(str(error))
    return RowCheck(name, tuple(errors))


def _origin(row: Row, instance: Instance, errors: list[str]) -> Instance | None:
    """The instance as its family draws it; None for records, whose ratio is checked instead."""
    from instances.registry import build

    if "family" in row.source:
        drawn = build(row.source["family"], row.source["settings"]).sample(row.source["seed"])
        if drawn.digest != row.digest:
            errors.append(f"the family draws the digest {drawn.digest}, not {row.digest}")
        return drawn
    facts: dict[str, Any] = dict(row.source["record"])
    if "ratio" in facts:
        ratio = exact_ratio(instance, facts["target"])
        if ratio != Fraction(facts["ratio"]):
            errors.append(f"the ratio of the record is {ratio}, not {facts['ratio']}")
    return None


def _upper(
    library: Library, row: Row, instance: Instance, origin: Instance | None, errors: list[str]
) -> Fraction | None:
    """The upper bound that the proof of a row gives; None, with an error, when it gives none."""
    if row.proof not in PROOFS:
        errors.append(f"unknown proof {row.proof!r}")
        return None
    if row.proof == "enumeration":
        return enumerated_optimum(instance)
    if row.proof == "stated":
        stated = known_values(origin).get("opt") if origin is not None else None
        if stated is None:
            errors.append("the construction states no optimum")
        return stated
    certificate = library.proof(row.name)
    assert certificate is not None  # both other kinds rest on one
    checked = verify(instance, certificate)
    errors += [f"proof: {error}" for error in checked.errors]
    if not checked.ok or checked.bound is None:
        return None
    return rounded_down(instance, checked.bound) if row.proof == "rounded-certificate" else checked.bound


def rounded_down(instance: Instance, bound: Fraction) -> Fraction:
    """The largest multiple of the greatest common divisor of all values that is ≤ `bound`: F takes no other values."""
    data = exact_instance(instance)
    step = Fraction(granularity(data), data.denominator)
    return step * (bound // step) if step else Fraction(0)


def enumerated_optimum(instance: Instance) -> Fraction:
    """The optimum of a tiny instance by enumeration of all placements, in Python integers.

    Raises
    ------
    InputError
        Above :data:`ENUMERATION_LIMIT` placements.
    """
    data = exact_instance(instance)
    by_budget = {budget: _largest_sets(data, budget) for budget in set(data.budgets)}
    sets = [by_budget[budget] for budget in data.budgets]
    if prod(map(len, sets)) > ENUMERATION_LIMIT:
        raise InputError(f"{prod(map(len, sets))} placements are too many to enumerate")
    return Fraction(max(plan_value(data, choice) for choice in product(*sets)), data.denominator)


def _largest_sets(data: ExactInstance, budget: int) -> list[list[int]]:
    """Closed sets of min(budget, n) chunks: values are not negative, so one of them is best."""
    found: list[list[int]] = [[]]
    for b, above in enumerate(data.parent):
        found += [[*chosen, b] for chosen in found if len(chosen) < budget and (above < 0 or above in chosen)]
        if len(found) > ENUMERATION_LIMIT:
            raise InputError("there are too many closed sets to enumerate")
    size = min(budget, len(data.parent))
    return [chosen for chosen in found if len(chosen) == size]
