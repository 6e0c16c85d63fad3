"""The search: shapes, linear forms, LPs, exact ratios, and what it finds from nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace as pp
from instances.known import as_fraction
from instances.search import LEVELS, TARGETS, SearchParams, exact_ratio, search
from instances.search.gaps import compact_solution, configuration_solution
from instances.search.hardness import HardnessParams, effort, search_hardness
from instances.search.revealing import objective_row, worst_values
from instances.search.runs import METHODS, Run
from instances.search.shapes import Shape, mutated, random_shape
from instances.tight import (
    AllOrdersTwoThirds,
    ConfigurationGapFourFifths,
    ConfigurationGapSixSevenths,
    IdenticalThreeQuarters,
    OneOrderHalf,
)
from prefixplace.planner.methods import GreedyParams, RefinedParams
from tests.brute import closed_sets, optimum
from tests.instances.relaxations import compact_lp, configuration_lp

seeds = st.integers(0, 10**6)


def drawn(seed: int, level: str = "any", workers: int = 2, largest: int = 5):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, workers, largest, LEVELS[level].identical)
    values = LEVELS[level].values(shape, rng)
    z = rng.integers(0, 5, values.variables).astype(float)
    return shape, values, z, rng


@given(seeds)
@settings(max_examples=20)
def test_closed_sets_are_those_of_enumeration(seed: int) -> None:
    shape, _, _, _ = drawn(seed)
    for m, budget in enumerate(shape.budgets):
        wanted = {mask.tobytes() for mask in closed_sets(shape.tree, budget)}
        assert {mask.tobytes() for mask in shape.within(m)} == wanted
        largest = {
            mask.tobytes() for mask in closed_sets(shape.tree, budget) if mask.sum() == min(budget, shape.n)
        }
        assert {mask.tobytes() for mask in shape.sets(m)} == largest


@given(seeds, st.integers(1, 30))
@settings(max_examples=30)
def test_mutations_stay_shapes(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, 3, 6, False)
    for _ in range(steps):
        shape = mutated(shape, rng, 6, False)
        assert 2 <= shape.n <= 6
        assert shape.tree.parent.tolist() == list(shape.parents)
        assert all(1 <= k <= shape.n for k in shape.budgets)


@given(seeds, st.sampled_from(sorted(LEVELS)), st.integers(2, 3))
@settings(max_examples=60)
def test_forms_are_the_values_of_the_instance_built(seed: int, level: str, workers: int) -> None:
    shape, values, z, _ = drawn(seed, level, workers)
    instance = values.build(z.astype(np.int64), "x", {})
    np.testing.assert_array_equal(values.local @ z, instance.local_value)
    np.testing.assert_array_equal(values.coverage @ z, instance.coverage_value)
    np.testing.assert_allclose(values.recompute @ z, instance.demand * instance.recompute, rtol=1e-12)
    if values.demand is not None:
        np.testing.assert_array_equal(values.demand @ z, instance.demand)
        inner = shape.tree.parent >= 0
        assert (instance.demand[:, inner] <= instance.demand[:, shape.tree.parent[inner]]).all()
    if level == "identical":
        assert (instance.local_value == instance.local_value[0]).all()
        assert len(set(shape.budgets)) == 1
    value, mask = shape.best_placement(values.local @ z, values.coverage @ z)
    assert value == pytest.approx(optimum(instance))
    assert objective_row(values, mask) @ z == pytest.approx(value)


@given(seeds, st.sampled_from(sorted(LEVELS)), st.sampled_from(sorted(METHODS)))
@settings(max_examples=60)
def test_runs_follow_the_planner(seed: int, level: str, target: str) -> None:
    """Generic values (no ties): what a run records is what the planner does."""
    shape, values, _, rng = drawn(seed, level)
    z = rng.integers(1, 10**6, values.variables).astype(float)
    instance = values.build(z.astype(np.int64), "x", {})
    run = Run(shape, values, z)
    METHODS[target].run(run)
    reached = max(instance.objective.value(mask) for mask in run.outcomes)
    if target == "all-orders":
        wanted = max(
            pp.solve(instance, params=GreedyParams(o), method="greedy").value for o in ((0, 1), (1, 0))
        )
    elif target == "refined":
        wanted = pp.solve(instance, "refined", params=RefinedParams((0, 1))).value
    else:
        wanted = pp.solve(instance, METHODS[target].method).value
    assert reached == pytest.approx(wanted, rel=1e-9)
    for decision in run.decisions:
        profit = decision.form @ z
        best = pp.best_closed_set(shape.tree, profit, shape.budgets[decision.worker]).value
        assert profit[decision.chosen].sum() == pytest.approx(best, rel=1e-9)


@given(seeds)
@settings(max_examples=30)
def test_relaxations_are_those_of_the_definition(seed: int) -> None:
    shape, values, z, _ = drawn(seed)
    instance = values.build(z.astype(np.int64), "x", {})
    solution = configuration_solution(shape, values, z)
    assert solution.value == pytest.approx(configuration_lp(instance), abs=1e-7)
    assert compact_solution(shape, values, z).value == pytest.approx(compact_lp(instance), abs=1e-7)
    dual = (instance.coverage_value - solution.multipliers).sum() + sum(
        pp.best_closed_set(shape.tree, instance.local_value[m] + solution.multipliers, k).value
        for m, k in enumerate(shape.budgets)
    )
    assert dual == pytest.approx(solution.value, abs=1e-6)


def test_factor_revealing_lp_of_the_known_worst_cases() -> None:
    """The shape and the choices of the tight examples give exactly their factors."""
    for family, target, factor in (
        (OneOrderHalf(), "greedy", 1 / 2),
        (OneOrderHalf(), "refined", 1 / 2),
        (AllOrdersTwoThirds(), "order-starts", 2 / 3),
        (AllOrdersTwoThirds(), "multi-start", 2 / 3),
        (IdenticalThreeQuarters(), "order-starts", 3 / 4),
    ):
        instance = family.sample()
        shape = Shape(tuple(instance.tree.parent.tolist()), tuple(instance.budgets.tolist()))
        level = "identical" if isinstance(family, IdenticalThreeQuarters) else "any"
        values = LEVELS[level].values(shape, np.random.default_rng(0))
        local = instance.local_value[:1] if level == "identical" else instance.local_value
        z = np.concatenate((local.ravel(), instance.coverage_value))
        run = Run(shape, values, z)
        METHODS[target].run(run)
        ratio, worst = worst_values(shape, values, run.decisions, run.outcomes, family.witness().mask)
        assert ratio == pytest.approx(factor, abs=1e-6)
        # a margin costs a little, and is kept
        wider, forced = worst_values(shape, values, run.decisions, run.outcomes, family.witness().mask, 0.01)
        assert factor < wider < factor + 0.05
        assert worst.size == forced.size == values.variables
        again = Run(shape, values, forced)
        METHODS[target].run(again)
        assert max(objective_row(values, o) @ forced for o in again.outcomes) == pytest.approx(
            wider, abs=1e-6
        )


def test_exact_ratios_of_the_tight_examples() -> None:
    assert exact_ratio(OneOrderHalf().sample(), "greedy") == OneOrderHalf().factor
    assert exact_ratio(OneOrderHalf().sample(), "all-orders") == 1
    assert exact_ratio(AllOrdersTwoThirds().sample(), "multi-start") == AllOrdersTwoThirds().factor
    assert exact_ratio(IdenticalThreeQuarters().sample(), "order-starts") == IdenticalThreeQuarters().factor
    assert exact_ratio(ConfigurationGapFourFifths().sample(), "configuration-gap") == Fraction(4, 5)
    assert exact_ratio(ConfigurationGapSixSevenths().sample(), "configuration-gap") == Fraction(6, 7)
    assert exact_ratio(ConfigurationGapFourFifths().sample(), "compact-gap") == 1
    with pytest.raises(pp.InputError, match="unknown search target"):
        exact_ratio(OneOrderHalf().sample(), "nothing")
    large = pp.Instance.from_values(
        pp.PrefixTree.from_parents([-1] * 13), local=np.ones((1, 13)), coverage=np.ones(13), budgets=[2]
    )
    with pytest.raises(pp.InputError, match="13 chunks are too many"):
        exact_ratio(large, "greedy")


@pytest.mark.parametrize(
    ("target", "realism", "chunks", "seed", "restarts", "factor"),
    [
        ("greedy", "any", 4, 0, 8, Fraction(1, 2)),
        ("refined", "any", 4, 0, 12, Fraction(1, 2)),
        ("all-orders", "any", 4, 0, 20, Fraction(2, 3)),
        ("order-starts", "identical", 6, 0, 8, Fraction(3, 4)),
        ("configuration-gap", "any", 4, 1, 18, Fraction(4, 5)),
    ],
)
def test_the_known_worst_cases_are_found_from_nothing(
    target: str, realism: str, chunks: int, seed: int, restarts: int, factor: Fraction
) -> None:
    record = search(target, SearchParams(realism=realism, chunks=chunks), seed=seed, restarts=restarts)
    assert record is not None
    assert record.limit == factor
    assert factor <= record.ratio < factor + Fraction(1, 250)
    assert exact_ratio(record.instance, target) == record.ratio
    facts = record.instance.meta["record"]
    assert as_fraction(facts["ratio"]) == record.ratio
    json.dumps(facts)


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("realism", sorted(LEVELS))
def test_every_target_at_every_level(target: str, realism: str) -> None:
    record = search(target, SearchParams(realism=realism, chunks=4, kicks=2), restarts=2, seed=1)
    if record is not None:
        assert 0 < record.ratio <= 1
        assert record.limit <= record.ratio


def test_a_search_in_pieces_is_the_same_search(tmp_path: Path) -> None:
    params = SearchParams(chunks=4, kicks=3)
    whole = search("greedy", params, restarts=6, seed=5)
    for restarts in (1, 4, 6, 6):
        pieces = search("greedy", params, restarts=restarts, seed=5, folder=tmp_path)
    assert (pieces.ratio, pieces.limit) == (whole.ratio, whole.limit)
    assert pieces.instance.digest == whole.instance.digest
    state = json.loads((tmp_path / "state.json").read_text())
    assert (state["restarts"], state["record"]) == (6, "greedy-any-m2.json")
    for other in ({"seed": 6}, {"params": SearchParams(chunks=5, kicks=3)}):
        with pytest.raises(pp.InputError, match="holds a search with"):
            search("greedy", **{"params": params, "seed": 5, "folder": tmp_path, "restarts": 7, **other})
    document = json.loads((tmp_path / "greedy-any-m2.json").read_text())
    document["meta"]["record"]["ratio"] = "1/3"
    (tmp_path / "greedy-any-m2.json").write_text(json.dumps(document))
    with pytest.raises(pp.InputError, match="the ratio is .*, not 1/3"):
        search("greedy", params, restarts=7, seed=5, folder=tmp_path)


def test_ctrl_c_keeps_the_record(tmp_path: Path) -> None:
    def interrupt(state) -> None:
        if state.restarts == 3:
            raise KeyboardInterrupt

    record = search("greedy", SearchParams(chunks=4, kicks=2), folder=tmp_path, progress=interrupt)
    assert record is not None
    again = search("greedy", SearchParams(chunks=4, kicks=2), folder=tmp_path, restarts=3)
    assert again.ratio == record.ratio


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"realism": "dream"}, "unknown realism level 'dream'; known: any"),
        ({"workers": 5}, "workers = 5 violates 2 <= workers <= 4"),
        ({"chunks": 13}, "chunks = 13 violates"),
        ({"kicks": -1}, "kicks = -1"),
        ({"margin": 0.0}, "margin = 0.0"),
    ],
)
def test_parameters_check_themselves(fields: dict, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        SearchParams(**fields)


def test_unknown_target() -> None:
    with pytest.raises(pp.InputError, match="unknown search target 'tsp'; known: greedy"):
        search("tsp")


def test_hardness_climbs_and_resumes(tmp_path: Path) -> None:
    params = HardnessParams(size=60, workers=2, nodes=20, steps=2)
    seen: list[bool] = []
    record = search_hardness(
        params, restarts=1, folder=tmp_path, progress=lambda done, s, found, new: seen.append(new)
    )
    assert record is not None
    assert len(seen) == 3
    assert seen[0]
    assert record.instance.num_chunks * 2 == 60
    assert effort(record.instance, 20) == record.effort
    again = search_hardness(params, restarts=1, folder=tmp_path)
    assert (again.effort, again.instance.digest) == (record.effort, record.instance.digest)
    with pytest.raises(pp.InputError, match="holds a search with nodes"):
        search_hardness(HardnessParams(size=60, workers=2, nodes=21, steps=2), folder=tmp_path)
    with pytest.raises(pp.InputError, match="size = 90 violates size >= 6·workers²"):
        HardnessParams(size=90, workers=4)
