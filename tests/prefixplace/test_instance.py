"""Instance, Placement and TransferModel: what they compute and what they refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace as pp
from tests.brute import fetch_cost, random_instance, saving


def small(**changes: Any) -> pp.Instance:
    fields: dict[str, Any] = {
        "demand": [[3, 2, 1], [1, 1, 0]],
        "recompute": [[10, 20, 30], [5, 5, 5]],
        "fetch": [[4, 40, np.inf], [6, 1, 0]],
        "budgets": [2, 0],
    }
    return pp.Instance(pp.PrefixTree.from_parents([-1, 0, 0]), **(fields | changes))


def test_local_and_coverage_values_are_those_of_the_model() -> None:
    instance = small()
    assert instance.local_value.tolist() == [[12, 40, 30], [5, 1, 0]]
    assert instance.coverage_value.tolist() == [18, 4, 0]
    assert not instance.pairwise


@settings(deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_value_is_the_saving_of_the_model(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(0, 8)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    mask = np.array(
        [
            instance.tree.closure(np.flatnonzero(rng.random(instance.num_chunks) < 0.3))
            for _ in instance.budgets
        ]
    )
    assert instance.objective.value(mask) == pytest.approx(saving(instance, mask), rel=1e-12, abs=1e-9)


def test_source_independent_costs_give_the_same_value_in_both_forms() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        instance = random_instance(rng, n=6, workers=3)
        pairwise = pp.Instance(
            instance.tree,
            demand=instance.demand,
            recompute=instance.recompute,
            fetch=np.repeat(np.asarray(instance.fetch)[:, None], 3, axis=1),
            budgets=instance.budgets,
        )
        mask = np.array([instance.tree.closure(np.flatnonzero(rng.random(6) < 0.3)) for _ in range(3)])
        assert pairwise.objective.value(mask) == pytest.approx(
            instance.objective.value(mask), rel=1e-12, abs=1e-12
        )


def test_from_values_uses_the_given_numbers_exactly_and_derives_costs_that_give_them() -> None:
    rng = np.random.default_rng(5)
    tree = pp.PrefixTree.from_parents([-1, 0, 0, -1])
    a, delta = rng.random((3, 4)), rng.random(4)
    instance = pp.Instance.from_values(tree, local=a, coverage=delta, budgets=[2, 1, 9])
    assert np.array_equal(instance.local_value, a) and np.array_equal(instance.coverage_value, delta)
    derived = pp.Instance(
        tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=instance.fetch,
        budgets=instance.budgets,
    )
    np.testing.assert_allclose(derived.local_value, a, rtol=1e-12)
    np.testing.assert_allclose(derived.coverage_value, delta, rtol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"demand": [[3, -1, 1], [1, 1, 0]]}, r"demand of worker 0 \(worker-0\), chunk 1 is -1.0"),
        ({"recompute": [[10, 20, 30], [5, np.nan, 5]]}, r"recompute of worker 1 .*chunk 1 is nan"),
        ({"recompute": [[10, 20, 30], [5, np.inf, 5]]}, "finite"),
        ({"fetch": [[4, 40, -np.inf], [6, 1, 0]]}, "fetch of worker 0 .*chunk 2 is -inf"),
        ({"fetch": np.full((2, 2, 4), 1.0)}, r"fetch has shape \(2, 2, 4\), not \(2, 2, 3\)"),
        ({"fetch": [[np.nan] * 3] * 2}, "is nan"),
        ({"demand": [[1, 2], [3, 4]]}, r"demand has shape \(2, 2\), not \(2, 3\)"),
        ({"demand": 1.0}, r"demand has shape \(\)"),
        ({"demand": [[1, 2, 3], [1, 2]]}, "ragged"),
        ({"demand": [["1", "2", "3"]] * 2}, "not real numbers"),
        ({"budgets": [2.5, 1]}, "budget of worker 0 is 2.5"),
        ({"budgets": [2, -1]}, "budget of worker 1 is -1"),
        ({"budgets": [np.nan, 1]}, "budget of worker 0 is nan"),
        ({"budgets": [True, False]}, "budget of worker 0 is True"),
        ({"budgets": []}, "budgets must list"),
        ({"budgets": 3}, "budgets must list"),
        ({"workers": ["a", "a"]}, "both called 'a'"),
        ({"workers": ["a"]}, "1 worker names for 2"),
        ({"demand": np.full((2, 3), 1e300), "recompute": np.full((2, 3), 1e300)}, "overflow"),
    ],
)
def test_bad_input_is_one_error_that_names_the_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        small(**changes)


def test_errors_name_labels_and_the_numbers_of_the_file() -> None:
    tree = pp.PrefixTree.from_parents([1, -1], ["child", "root"])
    with pytest.raises(pp.InputError, match=r"worker 0 \(gpu\), chunk 0 \('child'\)"):
        pp.Instance(tree, demand=[[1, -1]], recompute=[[1, 1]], fetch=[[1, 1]], budgets=[1], workers=["gpu"])


def test_arrays_are_copies_and_read_only() -> None:
    demand = np.array([[3.0, 2, 1], [1, 1, 0]])
    instance = small(demand=demand)
    demand[:] = 0
    assert instance.demand[0, 0] == 3
    for array in (
        instance.demand,
        instance.recompute,
        instance.fetch,
        instance.budgets,
        instance.local_value,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0  # type: ignore[index]


def test_the_diagonal_of_pairwise_costs_is_ignored() -> None:
    fetch = np.full((2, 2, 3), 2.0)
    fetch[0, 0] = fetch[1, 1] = np.nan
    one, other = small(fetch=fetch), small(fetch=np.where(np.isnan(fetch), 7, fetch))
    assert one.digest == other.digest and one.pairwise


def test_digest_follows_the_numbers_and_nothing_else() -> None:
    base = small()
    assert base.digest == small(workers=["x", "y"], name="other", meta={"opt": 3}).digest
    for change in (
        {"budgets": [2, 1]},
        {"demand": [[3, 2, 1], [1, 1, 1]]},
        {"recompute": [[10, 20, 30], [5, 5, 6]]},
        {"fetch": [[4, 40, np.inf], [6, 1, 1]]},
    ):
        assert small(**change).digest != base.digest


def test_transfer_model_costs() -> None:
    model = pp.TransferModel(29_360_128, [3e9, 0.0], [0.0, 5.0])
    costs = model.requester_costs(2, 3)
    assert costs[0] == pytest.approx(78.293674667, rel=1e-9) and np.isinf(costs[1]).all()
    rates = np.array([[1e9, 2e9], [4e9, 0]])
    instance = small(fetch=pp.TransferModel([1e6, 2e6, 0], rates, [[0, 1], [2, 3]]))
    assert instance.pairwise
    for b, size in enumerate((1e6, 2e6, 0)):
        assert fetch_cost(instance, 0, 1, b) == pytest.approx(1 + size * 8 / 2e9 * 1e3)
    dense = np.array(
        [[[fetch_cost(instance, m, h, b) for b in range(3)] for h in range(2)] for m in range(2)]
    )
    mask = np.array([[True, False, True], [True, True, False]])
    assert small(fetch=dense).objective.value(mask) == pytest.approx(
        instance.objective.value(mask), rel=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1e9), "chunk_bytes is -1"),
        ((1, [1e9, np.nan]), r"goodput_bps\[1\] is nan"),
        ((1, 1e9, np.inf), "overhead_ms is inf"),
        ((1, np.ones((2, 3))), "shape"),
    ],
)
def test_wrong_transfer_models_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        pp.TransferModel(*arguments)


def test_transfer_model_must_fit_the_instance() -> None:
    with pytest.raises(pp.InputError, match="goodput_bps has shape"):
        small(fetch=pp.TransferModel(1e6, np.ones((3, 3))))
    with pytest.raises(pp.InputError, match="chunk_bytes has 4 entries for 3"):
        small(fetch=pp.TransferModel(np.ones(4), np.ones((2, 2))))


def test_placement_checks_closure_budget_and_tree() -> None:
    instance = small()
    tree = instance.tree
    with pytest.raises(pp.InputError, match="worker 1 keeps chunk 2 without its parent chunk 0"):
        pp.Placement(tree, [[0, 0, 0], [0, 0, 1]])
    over = pp.Placement(tree, [[1, 1, 1], [0, 0, 0]])
    with pytest.raises(pp.InputError, match="worker 0 keeps 3 chunks with a budget of 2"):
        instance.value(over)
    with pytest.raises(pp.InputError, match="another tree"):
        instance.value(pp.Placement.empty(pp.PrefixTree.from_parents([-1, 0, 1]), 2))
    with pytest.raises(pp.InputError, match="3 workers"):
        instance.value(pp.Placement.empty(tree, 3))
    with pytest.raises(pp.InputError, match="shape"):
        pp.Placement(tree, [[0, 0]])
    with pytest.raises(pp.InputError, match="true and false"):
        pp.Placement(tree, [[0, 2, 0]])


def test_placement_sets_in_both_numberings() -> None:
    tree = pp.PrefixTree.from_parents([2, 0, -1])
    placement = pp.Placement.from_sets(tree, [[2, 0], []], given=True)
    assert [s.tolist() for s in placement.sets()] == [[0, 1], []]
    assert [s.tolist() for s in placement.sets(given=True)] == [[0, 2], []]
    assert placement.holders.tolist() == [1, 1, 0] and placement.sizes.tolist() == [2, 0]
    for sets, message in (
        ([[3]], "below 3"),
        ([[2, 2]], "twice"),
        ([[0.5]], "not a chunk"),
        ([[-1]], "not a chunk"),
    ):
        with pytest.raises(pp.InputError, match=message):
            pp.Placement.from_sets(tree, sets, given=True)  # type: ignore[arg-type]


def test_values_belong_to_requester_side_instances_only() -> None:
    with pytest.raises(pp.InputError, match="pairwise"):
        _ = small(fetch=np.ones((2, 2, 3))).local_value


def test_empty_forest_and_budgets_above_n() -> None:
    empty = pp.Instance.from_values(
        pp.PrefixTree.from_parents([]), local=np.zeros((2, 0)), coverage=[], budgets=[0, 5]
    )
    assert empty.value(pp.Placement.empty(empty.tree, 2)) == 0
    assert pp.solve(empty).value == 0
    assert small(budgets=[99, 2**40]).budgets.tolist() == [99, 2**40]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_as_read_only_as_the_original(copied: Any) -> None:
    tree = pp.PrefixTree.from_parents([1, -1, 0], ["b", "a", "c"])
    costs = {"demand": np.ones((2, 3)), "recompute": np.ones((2, 3)), "budgets": [2, 1]}
    rates = np.array([[1e9, 2e9], [3e9, 4e9]])
    for instance in (
        small(workers=["x", "y"], name="n", meta={"a": [1]}),
        pp.Instance.from_values(tree, local=np.ones((2, 3)), coverage=[1, 2, 3], budgets=[1, 2]),
        pp.Instance(tree, fetch=pp.TransferModel(1e6, rates), **costs),
    ):
        twin = copied(instance)
        assert twin.digest == instance.digest and twin.tree == instance.tree and twin.meta == instance.meta
        assert twin.workers == instance.workers and twin.name == instance.name
        arrays = [twin.demand, twin.recompute, twin.budgets, twin.tree.parent]
        if isinstance(twin.fetch, pp.TransferModel):
            arrays.append(twin.fetch.goodput_bps)
        assert not any(array.flags.writeable for array in arrays)
    placement = pp.Placement(tree, [[1, 0, 0], [1, 1, 0]])
    assert copied(placement) == placement and not copied(placement).mask.flags.writeable


def test_meta_is_the_instances_own() -> None:
    meta = {"known": {"opt": 1}}
    instance = small(meta=meta)
    meta["known"]["opt"] = 2
    assert instance.meta == {"known": {"opt": 1}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small(meta=[1]), "meta must be a mapping"),
        (lambda: small(name=5), "name is 5, not a string"),
        (lambda: small(name="\ud800"), "lone surrogate"),
        (lambda: small(workers=["a", "\ud800"]), "worker 1 .*lone surrogate"),
        (lambda: small(demand=np.ma.masked_array(np.ones((2, 3)), mask=np.eye(2, 3))), "masked"),
        (lambda: small().value([[0, 0, 0]] * 2), "must be a Placement, not list"),
        (lambda: small().tree.closure([3]), "node 3 is not a position below 3"),
        (lambda: small().tree.closure([-1]), "node -1"),
        (lambda: pp.Placement(small().tree, [[1], [1, 0]]), "ragged"),
        (lambda: pp.Placement.from_sets(small().tree, [["a"]]), "'a', which is not a chunk"),  # type: ignore[list-item]
        (lambda: pp.Placement.from_sets(small().tree, [[np.nan]]), "nan, which is not a chunk"),  # type: ignore[list-item]
        (lambda: pp.TransferModel("a", 1), "chunk_bytes of a transfer model is no number"),  # type: ignore[arg-type]
        (lambda: pp.Budget(seconds="5"), "seconds is '5'"),  # type: ignore[arg-type]
        (lambda: pp.solve(small(), seed=-1), "seed is -1"),
    ],
)
def test_calls_that_cannot_mean_anything(call: Any, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        call()


def test_budgets_of_any_kind_of_whole_number() -> None:
    for budgets in ([2.0, 0.0], np.array([2, 0], np.int8), np.array([np.int64(2), 0], object)):
        assert small(budgets=budgets).budgets.tolist() == [2, 0]
