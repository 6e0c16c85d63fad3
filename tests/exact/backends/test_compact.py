"""The compact programme: every way of writing it has the same optimum, and the LP that the model says it has."""

from __future__ import annotations

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import prefixplace as pp
from exact.backends.compact import CompactParams
from exact.compact import (
    MODEL,
    CompactProblem,
    Formulation,
    compact_arrays,
    compact_problem,
    compact_sets,
)
from exact.compact.reduction import reduce_forest, worth
from exact.compact.symmetry import identical_workers
from tests.brute import optimum, placements, random_instance
from tests.exact.backends import hard
from tests.shared import case_names, expected_values, shared_dir

FORMULATIONS = [
    Formulation(linking, *flags)  # type: ignore[arg-type]
    for linking in ("disaggregated", "aggregated")
    for flags in product((False, True), repeat=3)
]


def solve_arrays(problem: CompactProblem, *, relax: bool = False) -> float:
    """Optimum of the arrays by SciPy's own interface to a MIP solver."""
    arrays = compact_arrays(problem)
    if arrays.cost.size == 0:
        return 0.0
    matrix = csr_array((arrays.value, arrays.index, arrays.start), shape=(arrays.num_rows, arrays.cost.size))
    found = milp(
        -arrays.cost,
        constraints=LinearConstraint(matrix, ub=arrays.row_upper),
        bounds=Bounds(0, 1),
        integrality=0 * arrays.integral if relax else arrays.integral.astype(int),
        options={"mip_rel_gap": 0.0},
    )
    assert found.success
    return float(-found.fun)


@given(seed=st.integers(0, 10_000), pairwise=st.booleans())
@settings(max_examples=25)
def test_every_formulation_has_the_same_optimum(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(1, 6)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    if rng.random() < 0.4:  # identical workers
        same = np.repeat(rng.integers(0, 3, (1, instance.num_chunks)), instance.num_workers, axis=0).astype(
            float
        )
        instance = pp.Instance.from_values(
            instance.tree,
            local=same,
            coverage=rng.integers(0, 3, instance.num_chunks).astype(float),
            budgets=[int(rng.integers(0, 4))] * instance.num_workers,
        )
    best = optimum(instance)
    for formulation in FORMULATIONS:
        assert solve_arrays(compact_problem(instance, formulation)) == pytest.approx(best, rel=1e-7, abs=1e-9)


@given(seed=st.integers(0, 10_000), pairwise=st.booleans())
@settings(max_examples=40)
def test_every_placement_completes_to_a_feasible_solution_of_its_value(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(1, 5)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    masks = list(placements(instance))
    for formulation in FORMULATIONS:
        problem = compact_problem(instance, formulation)
        arrays = compact_arrays(problem)
        for index in rng.integers(0, len(masks), 4):
            solution = problem.complete(masks[index])
            assert np.all(arrays.row_activity(solution) <= arrays.row_upper)
            # chunks without a variable are dropped, which loses nothing that the programme can earn
            back = problem.placement_values(solution) > 0.5
            assert problem.cost @ solution == pytest.approx(
                instance.objective.value(back), rel=1e-12, abs=1e-12
            )
            if not formulation.depth_cuts and not formulation.symmetry_breaking:
                assert instance.objective.value(back) == pytest.approx(instance.objective.value(masks[index]))


@given(seed=st.integers(0, 10_000), pairwise=st.booleans())
@settings(max_examples=25)
def test_merging_and_ordering_leave_the_lp_alone_and_the_rest_moves_it_the_right_way(
    seed: int, pairwise: bool
) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(1, 7)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    plain = solve_arrays(compact_problem(instance, MODEL), relax=True)
    for formulation in FORMULATIONS:
        found = solve_arrays(compact_problem(instance, formulation), relax=True)
        if formulation.linking == "disaggregated":
            if formulation.depth_cuts:
                assert found <= plain + 1e-7
            else:
                assert found == pytest.approx(plain, rel=1e-7, abs=1e-9)
        elif not formulation.depth_cuts:
            assert found >= plain - 1e-7


@pytest.mark.parametrize("case", [name for name in case_names() if "compact_lp" in expected_values()[name]])
def test_compact_lp_of_the_shared_cases(case: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{case}.json")
    found = solve_arrays(compact_problem(instance, MODEL), relax=True)
    assert found == pytest.approx(expected_values()[case]["compact_lp"], rel=1e-7)


def test_sets_and_arrays_are_the_same_programme() -> None:
    for pairwise, formulation in product((False, True), FORMULATIONS):
        instance = random_instance(np.random.default_rng(4), n=9, workers=4, pairwise=pairwise)
        problem = compact_problem(instance, formulation)
        sets, arrays = compact_sets(problem), compact_arrays(problem)
        column = {("x", *mb): i for i, mb in enumerate(sets.x)}
        column |= {("y", b): len(sets.x) + i for i, b in enumerate(sets.y)}
        column |= {("z", *rhb): len(sets.x) + i for i, rhb in enumerate(sets.z)}
        rows: list[tuple[dict[int, float], float]] = []
        for (m, b), children in sets.closure:
            rows.append((dict.fromkeys((column["x", m, c] for c in children), 1.0), 0.0))
            rows[-1][0][column["x", m, b]] = -float(len(children))
        for m, bs, sizes, budget in sets.budget:
            rows.append(
                ({column["x", m, b]: float(size) for b, size in zip(bs, sizes, strict=True)}, float(budget))
            )
        for b, holders in sets.cover:
            rows.append(({column["y", b]: 1.0} | {column["x", m, b]: -1.0 for m in holders}, 0.0))
        for (h, b), requesters in sets.link:
            rows.append((dict.fromkeys((column["z", r, h, b] for r in requesters), 1.0), 0.0))
            rows[-1][0][column["x", h, b]] = -float(len(requesters))
        for (r, b), holders in sets.once:
            rows.append(({column["z", r, h, b]: 1.0 for h in holders}, 1.0))
        for m, later in sets.order:
            weights = {column["x", later, b]: float(sets.rank[b]) for b in sets.chunks[m]}
            rows.append((weights | {column["x", m, b]: -float(sets.rank[b]) for b in sets.chunks[m]}, 0.0))
        ours = sorted((sorted(entries.items()), limit) for entries, limit in rows)
        theirs = []
        for i in range(arrays.num_rows):
            entries = slice(arrays.start[i], arrays.start[i + 1])
            row = zip(arrays.index[entries].tolist(), arrays.value[entries].tolist(), strict=True)
            theirs.append((sorted(row), float(arrays.row_upper[i])))
        assert ours == sorted(row for row in theirs if row[0])
        assert [*sets.a, *sets.delta, *sets.s] == arrays.cost.tolist()


def test_worthless_subtrees_go_and_chains_that_pay_at_the_end_are_one_node() -> None:
    #  0 ─ 1 ─ 2(pays) ─ 3      4 ─ 5(pays), 6(pays)      7
    tree = pp.PrefixTree.from_parents([-1, 0, 1, 2, -1, 4, 4, -1])
    pays = np.isin(np.arange(8), (2, 5, 6))
    instance = pp.Instance.from_values(tree, local=[pays * 1.0], coverage=0.0 * pays, budgets=[4])
    assert np.array_equal(worth(instance)[0], pays)
    merged = reduce_forest(instance, pays, merge_chains=True)
    assert merged.parent.tolist() == [-1, -1, 1, 1]
    assert merged.size.tolist() == [3, 1, 1, 1]
    assert merged.last.tolist() == [2, 4, 5, 6]
    assert merged.node.tolist() == [0, 0, 0, -1, 1, 2, 3, -1]
    plain = reduce_forest(instance, pays, merge_chains=False)
    assert plain.size.tolist() == [1] * 6
    assert plain.node.tolist() == [0, 1, 2, -1, 3, 4, 5, -1]


def test_depth_cuts_remove_what_no_budget_reaches() -> None:
    instance = hard.paying_chain(10)
    short = pp.Instance.from_values(
        instance.tree, local=instance.local_value, coverage=instance.coverage_value, budgets=[4]
    )
    assert compact_problem(short).holder.size == 4
    assert compact_problem(short, MODEL).holder.size == 10


def test_long_chains_and_wide_stars_build_in_array_operations() -> None:
    problem = compact_problem(hard.paying_chain(), MODEL)
    assert compact_arrays(problem).num_rows == 199_999 + 1 + 200_000
    assert compact_problem(hard.chain()).num_nodes == 1
    n = 200_000
    star = pp.Instance.from_values(
        pp.PrefixTree.from_parents([-1] + [0] * (n - 1)),
        local=np.ones((1, n)),
        coverage=np.zeros(n),
        budgets=[3],
    )
    arrays = compact_arrays(compact_problem(star, Formulation("aggregated")))
    assert dict(arrays.row_family) == {"closure": 1, "budget": 1, "cover": 0}


def test_identical_workers_of_both_objectives() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0, -1])
    local = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 4], [1, 2, 3]])
    instance = pp.Instance.from_values(tree, local=local, coverage=[0, 0, 0], budgets=[2, 2, 2, 1])
    assert identical_workers(instance) == [[0, 1]]
    generous = pp.Instance.from_values(tree, local=local, coverage=[0, 0, 0], budgets=[3, 9, 3, 5])
    assert identical_workers(generous) == [[0, 1, 3]]
    # two groups of two: fast inside, slow between
    near, far = 1.0, 3.0
    fetch = np.full((4, 4, 3), far)
    fetch[:2, :2], fetch[2:, 2:] = near, near
    paired = pp.Instance(
        tree, demand=np.ones((4, 3)), recompute=np.full((4, 3), 5.0), fetch=fetch, budgets=[1, 1, 1, 1]
    )
    assert identical_workers(paired) == [[0, 1], [2, 3]]
    lopsided = fetch.copy()
    lopsided[0, 1] = 2.0  # worker 0 fetches from 1 at another price than 1 from 0
    other = pp.Instance(
        tree, demand=np.ones((4, 3)), recompute=np.full((4, 3), 5.0), fetch=lopsided, budgets=[1, 1, 1, 1]
    )
    assert identical_workers(other) == [[2, 3]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"linking": "strong"}, "linking is 'strong'"), ({"depth_cuts": 1}, "depth_cuts is 1")],
)
def test_formulations_check_themselves(arguments: dict, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        Formulation(**arguments)


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "pulp-highs"])
@pytest.mark.parametrize("formulation", FORMULATIONS[::3], ids=str)
def test_back_ends_take_every_formulation_and_a_start(backend: str, formulation: Formulation) -> None:
    import exact
    from exact.backends.cp_sat import CpSatParams

    tree = pp.PrefixTree.from_parents([-1, 0, 1, 0, -1, 4, 4, -1, 7, 8])
    rng = np.random.default_rng(1)
    local = np.repeat(rng.integers(0, 9, (1, 10)), 3, axis=0).astype(float)
    coverage = rng.integers(0, 9, 10).astype(float)
    instance = pp.Instance.from_values(tree, local=local, coverage=coverage, budgets=[3, 3, 3])
    kind = CpSatParams if backend == "cp-sat" else CompactParams
    start = pp.solve(instance).placement
    results = [
        exact.solve(instance, name, params=params, start=start)
        for name, params in ((backend, kind(formulation=formulation)), ("highs", None))
    ]
    assert [result.status for result in results] == ["optimal"] * 2
    assert results[0].value == pytest.approx(results[1].value, rel=1e-9)
    assert results[0].counters["start_accepted"] == 1
