"""Magnitudes at the ends of float64, and documents that are no certificate: everything answers, nothing lies."""

from __future__ import annotations

from typing import Any

import pytest

import exact
import prefixplace as pp
from exact.certificates.certificate import Certificate, sealed

TREE = pp.PrefixTree.from_parents([-1, -1])
MAGNITUDES = [(1e-10, 1e300), (1e-150, 1e150), (1e-5, 1e290), (1e-301, 1e-301), (5e-324, 1e-320)]


def instance_of(small: float, large: float) -> pp.Instance:
    return pp.Instance.from_values(TREE, local=[[small, large]], coverage=[small, large], budgets=[2])


@pytest.mark.parametrize("kind", exact.BOUNDS)
@pytest.mark.parametrize(("small", "large"), MAGNITUDES)
def test_certificates_at_the_ends_of_float64(small: float, large: float, kind: str) -> None:
    instance = instance_of(small, large)
    plan = pp.Placement(TREE, [[1, 1]])
    bound = exact.bound(instance, kind)
    assert bound.bound >= instance.value(plan)
    checked = exact.verify(instance, exact.certify(instance, plan, bound))
    assert checked.ok and checked.bound is not None and checked.value is not None
    assert checked.value <= checked.bound <= checked.value * (1 + 1e-9)


@pytest.mark.parametrize("backend", ["cp-sat", "branch-and-bound"])
@pytest.mark.parametrize("value", [1e-290, 1e-301, 5e-324])
def test_tiny_values_end_with_a_placement_and_no_false_bound(backend: str, value: float) -> None:
    instance = pp.Instance.from_values(
        pp.PrefixTree.from_parents([-1]), local=[[value]], coverage=[0], budgets=[1]
    )
    result = exact.solve(instance, backend, budget=pp.Budget(seconds=20))
    assert result.value == value and result.stop_reason == "finished"
    assert result.bound is None or result.bound >= value


def test_an_empty_forest_has_the_bound_zero() -> None:
    empty = pp.Instance.from_values(pp.PrefixTree.from_parents([]), local=[[]], coverage=[], budgets=[1])
    for kind in exact.BOUNDS:
        bound = exact.bound(empty, kind)
        assert bound.bound == 0 and bound.stop_reason == "finished"


@pytest.mark.parametrize(
    "change",
    [
        {"value": "\ud800"},
        {"bound": "\ud800"},
        {1: 2},
        {"value": {1, 2}},
        {"denominator": 10**5000},
        {"budget_prices": [10**5000] * 2},
        {"plan": {"workers": [[2**70], []]}},
    ],
)
def test_what_is_no_certificate_is_answered_and_not_raised(change: dict[Any, Any]) -> None:
    instance = pp.Instance.from_values(
        pp.PrefixTree.from_parents([-1, -1, 1]),
        local=[[0, 0, 0], [0, 0.5, 0]],
        coverage=[2, 0, 1],
        budgets=[2, 1],
    )
    good = exact.certify(instance, pp.solve(instance).placement, exact.bound(instance, "coverage-dual"))  # type: ignore[arg-type]
    assert exact.verify(instance, good)
    document = {**good.document, **change}
    try:
        bad = sealed(document)
    except (TypeError, ValueError):  # what cannot even be sealed keeps the old seal
        bad = Certificate(document)
    checked = exact.verify(instance, bad)
    assert not checked.ok and len(checked.errors) == 1
