"""Result: the value is recomputed, the bound is gated, the status is derived."""

from __future__ import annotations

import json

import numpy as np
import pytest

import prefixplace as pp

TREE = pp.PrefixTree.from_parents([-1, 0])
INSTANCE = pp.Instance.from_values(TREE, local=[[1, 2]], coverage=[4, 8], budgets=[2])
FULL = pp.Placement(TREE, [[1, 1]])


def result(placement: pp.Placement | None, **fields: object) -> pp.Result:
    return pp.Result.of(INSTANCE, "test", placement, stop_reason="finished", seconds=0.0, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("placement", "bound", "status"),
    [
        (FULL, 15.0, "optimal"),
        (FULL, 15.0 + 1e-9, "optimal"),
        (FULL, 15.0 - 1e-9, "optimal"),
        (FULL, 15.1, "feasible"),
        (FULL, None, "feasible"),
        (pp.Placement.empty(TREE, 1), 15.0, "feasible"),
        (None, 15.0, "none"),
        (None, None, "none"),
    ],
)
def test_status_is_derived_from_value_and_bound(
    placement: pp.Placement | None, bound: float | None, status: str
) -> None:
    outcome = result(placement, bound=bound, bound_proof="solver-claim" if bound else "none")
    assert outcome.status == status
    assert outcome.value == (None if placement is None else INSTANCE.value(placement))
    assert (outcome.bound is None) == (bound is None)
    if outcome.gap is not None:
        assert outcome.gap >= 0


def test_a_bound_below_the_value_is_false_and_dropped() -> None:
    outcome = result(FULL, bound=14.9, bound_proof="solver-claim")
    assert outcome.bound is None and outcome.bound_proof == "none" and outcome.status == "feasible"
    assert "false bound" in outcome.log[-1]


def test_an_infeasible_placement_is_never_a_result() -> None:
    with pytest.raises(pp.InputError, match="budget"):
        pp.Result.of(
            pp.Instance.from_values(TREE, local=[[1, 2]], coverage=[4, 8], budgets=[1]),
            "test",
            FULL,
            stop_reason="finished",
            seconds=0.0,
        )


def test_claimed_infeasibility_is_named_and_nothing_else() -> None:
    assert result(None, claims_infeasible=True).status == "infeasible"
    assert result(FULL, claims_infeasible=True).status == "feasible"


def test_dictionary_is_json_with_the_plan_in_the_numbers_of_the_file() -> None:
    tree = pp.PrefixTree.from_parents([1, -1])
    instance = pp.Instance.from_values(tree, local=[[1, 2]], coverage=[4, 8], budgets=[1])
    document = json.loads(json.dumps(pp.solve(instance, "greedy").to_dict(), allow_nan=False))
    assert document["plan"] == {"workers": [[1]]}
    assert document["value"] == 5 and document["bound"] is None and document["gap"] is None
    assert document["instance_digest"] == instance.digest
    assert set(document["versions"]) >= {"python", "numpy", "prefixplace"}
    assert result(None).to_dict()["plan"] is None


def test_zero_value_and_zero_bound_are_optimal() -> None:
    zero = pp.Instance.from_values(TREE, local=np.zeros((1, 2)), coverage=[0, 0], budgets=[0])
    outcome = pp.Result.of(
        zero,
        "t",
        pp.Placement.empty(TREE, 1),
        stop_reason="finished",
        seconds=0,
        bound=0.0,
        bound_proof="float",
    )
    assert outcome.status == "optimal" and outcome.gap == 0
