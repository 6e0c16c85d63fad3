"""Reductions: known optima against HiGHS, enumeration and the graph numbers that they encode."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact
import prefixplace as pp
from instances.construction import Construction
from instances.known import Known, as_fraction, exact_number, known_values
from instances.reductions import (
    BinPacking,
    BinPackingProblem,
    FacilityLocation,
    IndependentSet,
    MaxCut,
    ParityBlocked,
    PlantedOptimum,
    SetPacking,
    ThreePartition,
    UflProblem,
    bin_packing,
    facility_location,
    independence,
    independent_set,
    max_cut,
    maximum_cut,
    set_packing,
)
from tests.brute import optimum
from tests.instances.relaxations import compact_lp, configuration_lp
from tests.shared import expected_values, shared_dir

SOLVED: list[tuple[Construction, int]] = [
    (ThreePartition(workers=3, budget=16), 48),
    (ParityBlocked(workers=2, budget=9), 17),
    (IndependentSet(), 54),
    (IndependentSet(graph="heawood"), 77),
    (IndependentSet(graph="complete", vertices=4), 4 * 5 + 1),
    (SetPacking(), 36),
    (MaxCut(), 9),
    (MaxCut(graph="petersen"), 27),
    (MaxCut(graph="cycle", vertices=6), 12),
]


@pytest.mark.parametrize(("construction", "value"), SOLVED, ids=lambda c: getattr(c, "family", lambda: "")())
def test_stated_optimum_is_that_of_highs(construction: Construction, value: int) -> None:
    instance = construction.sample()
    assert known_values(instance)["opt"] == value
    result = exact.solve(instance, "highs", budget=pp.Budget(seconds=60))
    assert (result.status, result.value) == ("optimal", value)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "construction",
    [
        ThreePartition(),
        ParityBlocked(workers=6, budget=31),
        BinPacking(items=24),
        IndependentSet(graph="cubic", vertices=30),
        IndependentSet(graph="half-dense"),
        SetPacking(system="random", sets=20, elements=25),
        MaxCut(graph="half-dense"),
        FacilityLocation(),
        PlantedOptimum(),
        PlantedOptimum(workers=1, budget=500),
        PlantedOptimum(workers=7, chunks=50, budget=12, overlap=0.9),
    ],
    ids=lambda c: c.family(),
)
def test_witness_attains_the_optimum_on_every_seed(construction: Construction, seed: int) -> None:
    instance, witness = construction.sample(seed), construction.witness(seed)
    assert instance.digest == construction.sample(seed).digest
    if witness is None:
        assert isinstance(construction, BinPacking)
        assert "opt" not in instance.meta
        return
    known = known_values(instance)
    assert instance.value(witness) == known["opt"]
    assert set(instance.meta["reasons"]) == set(known)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "construction",
    [
        FacilityLocation(facilities=4, clients=6),
        FacilityLocation(facilities=3, clients=2, opening=100),
        MaxCut(graph="half-dense", vertices=7),
        IndependentSet(graph="cubic", vertices=8),
        SetPacking(system="random", sets=6, elements=9),
        PlantedOptimum(workers=3, chunks=40, budget=6),
    ],
    ids=lambda c: c.family(),
)
def test_random_optima_are_those_of_highs(construction: Construction, seed: int) -> None:
    instance = construction.sample(seed)
    result = exact.solve(instance, "highs", budget=pp.Budget(seconds=60))
    assert (result.status, result.value) == ("optimal", known_values(instance)["opt"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [0, 2, 5, 9])
def test_planted_optimum_and_relaxations_by_enumeration(budget: int, seed: int) -> None:
    instance = PlantedOptimum(workers=2, chunks=7, budget=budget, price=9, overlap=0.5).sample(seed)
    known = known_values(instance)
    assert optimum(instance) == known["opt"]
    assert configuration_lp(instance) == pytest.approx(float(known["configuration_lp"]))
    assert compact_lp(instance) == pytest.approx(float(known["compact_lp"]))


def test_planted_values_are_not_trivial() -> None:
    """Sets overlap, local values differ between workers, and greedy does not find the optimum."""
    instance = PlantedOptimum().sample()
    assert (PlantedOptimum().witness().holders > 1).any()
    assert (instance.local_value[0] != instance.local_value[1]).mean() > 0.5
    assert pp.solve(instance, "greedy").value < known_values(instance)["opt"]


@pytest.mark.parametrize("budget", [7, 9, 11])
def test_parity_blocked_relaxations_by_enumeration(budget: int) -> None:
    instance = ParityBlocked(workers=2, budget=budget).sample()
    known = known_values(instance)
    assert known == {"opt": 2 * budget - 1, "configuration_lp": 2 * budget - 1, "compact_lp": 2 * budget}
    assert compact_lp(instance) == pytest.approx(2 * budget)
    if budget == 7:
        assert configuration_lp(instance) == pytest.approx(13)


@pytest.mark.parametrize("seed", range(5))
def test_parity_blocked_shape(seed: int) -> None:
    instance = ParityBlocked(workers=6, budget=31).sample(seed)
    tree = instance.tree
    lengths = tree.end[tree.roots] - tree.roots
    assert (lengths % 2 == 0).all()
    assert (instance.num_chunks, len(lengths)) == (186, 18)


@given(st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=25)
def test_three_partition_legs_are_strictly_within_a_quarter_and_a_half(workers: int, seed: int) -> None:
    instance = ThreePartition(workers=workers, budget=26).sample(seed)
    lengths = instance.tree.end[instance.tree.roots] - instance.tree.roots
    assert (len(lengths), lengths.sum()) == (3 * workers, 26 * workers)
    assert ((4 * lengths > 26) & (2 * lengths < 26)).all()


@pytest.mark.parametrize("pairs", [[(5, 4), (5, 5), (4, 3, 2)], [(9,), (8, 1), (5, 5)]])
def test_bin_packing_knows_only_what_a_packing_shows(pairs: list[tuple[int, ...]]) -> None:
    problem = BinPackingProblem(10, tuple(s for group in pairs for s in group))
    fits = bin_packing(problem, 3)
    assert fits.instance.meta["opt"] == sum(problem.sizes)
    assert fits.instance.value(pp.Placement.from_sets(fits.instance.tree, fits.witness, given=True)) == sum(
        problem.sizes
    )
    assert bin_packing(problem, 2).witness is None
    assert "opt" not in bin_packing(problem, 2).instance.meta
    with pytest.raises(pp.InputError, match="bin 0 holds"):
        bin_packing(problem, 3, [range(len(problem.sizes))])
    with pytest.raises(pp.InputError, match="not a packing"):
        bin_packing(problem, 3, [[0]])


def test_bin_packing_covers_all_exactly_when_the_items_fit() -> None:
    """3, 3, 2, 2, 2 into two bins of 6 fits; 4, 4, 4 does not, and the optimum is below the number of chunks."""
    assert exact.solve(bin_packing(BinPackingProblem(6, (3, 3, 2, 2, 2)), 2).instance, "highs").value == 12
    assert exact.solve(bin_packing(BinPackingProblem(6, (4, 4, 4)), 2).instance, "highs").value == 10
    assert exact.solve(bin_packing(BinPackingProblem(5, (4, 3, 3)), 2).instance, "highs").value == 9


def brute_independence(graph: nx.Graph) -> int:
    for size in range(len(graph), 0, -1):
        for group in combinations(graph, size):
            if not any(graph.has_edge(u, v) for u, v in combinations(group, 2)):
                return size
    return 0


@given(st.integers(0, 10), st.floats(0, 1), st.integers(0, 10**6))
@settings(max_examples=60)
def test_independence_number_by_enumeration(vertices: int, p: float, seed: int) -> None:
    graph = nx.gnp_random_graph(vertices, p, seed=seed)
    found = independence(graph)
    assert len(found) == brute_independence(graph)
    assert not any(graph.has_edge(u, v) for u, v in combinations(found, 2))


@given(st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=40)
def test_maximum_cut_by_enumeration(vertices: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(0, 5, (vertices, vertices)), 1).astype(float)
    weights += weights.T
    sides = product((0, 1), repeat=vertices)
    brute = max(sum(weights[i, j] for i in range(vertices) for j in range(i) if s[i] != s[j]) for s in sides)
    cut = maximum_cut(weights)
    assert cut.weight == brute
    assert weights[cut.side == 0][:, cut.side == 1].sum() == brute


def test_any_graph_of_networkx_with_named_and_isolated_vertices() -> None:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    graph.add_node("alone")
    drawn = independent_set(graph, chosen=["a", "c", "alone"])
    # degrees 1, 2, 1, 0: Σ (2·deg − 1) = 1 + 3 + 1 − 1, α = 3
    assert drawn.instance.meta["opt"] == 7 == optimum(drawn.instance)
    with pytest.raises(pp.InputError, match="not independent"):
        independent_set(graph, chosen=["a", "b"])
    for bad in (["a", "a"], ["a", "x"]):
        with pytest.raises(pp.InputError, match="not distinct vertices"):
            independent_set(graph, chosen=bad)
    for side in ([0, 1], [0, 1, 2, 0]):
        with pytest.raises(pp.InputError, match="each of the 4 vertices"):
            max_cut(graph, side=np.array(side))
    for opened in ([], [0, 0], [2]):
        with pytest.raises(pp.InputError, match="not distinct numbers below 2"):
            facility_location(UflProblem([1, 1], [[1], [2]]), opened=opened)
    with pytest.raises(pp.InputError, match="undirected simple graph, not DiGraph"):
        independent_set(nx.DiGraph(graph))
    with pytest.raises(pp.InputError, match="loop"):
        independent_set(nx.Graph([(0, 0)]))
    with pytest.raises(pp.InputError, match="loop"):
        max_cut(nx.Graph([(0, 0)]))
    with pytest.raises(pp.InputError, match="weight -1"):
        max_cut(nx.Graph([(0, 1, {"weight": -1})]))


def test_weighted_cut_and_unknown_cut() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 2.5), (1, 2, 0.25), (0, 2, 4)])
    known = max_cut(graph, side=np.array([0, 1, 1])).instance
    assert known.meta["opt"] == "53/4"  # 6.75 + 6.5
    assert optimum_of_holders(known, 3) == 13.25
    assert set(known_values(max_cut(graph).instance)) == {"configuration_lp"}


def optimum_of_holders(instance: pp.Instance, holders: int) -> float:
    """Enumeration where only the first workers have a budget, which is one chunk."""
    best = 0.0
    for choice in product(range(instance.num_chunks), repeat=holders):
        mask = np.zeros((instance.num_workers, instance.num_chunks), bool)
        mask[np.arange(holders), choice] = True
        best = max(best, instance.objective.value(mask))
    return best


@pytest.mark.parametrize("seed", range(5))
def test_facility_location_never_gains_by_opening_nothing(seed: int) -> None:
    """Opening costs far above the connection costs, where C_j = the dearest connection alone would be wrong."""
    rng = np.random.default_rng(seed)
    problem = UflProblem(rng.integers(50, 90, 3), rng.integers(0, 4, (3, 2)))
    cheapest = min(problem.cost(list(group)) for r in (1, 2, 3) for group in combinations(range(3), r))
    drawn = facility_location(problem, minimum=cheapest)
    assert optimum_of_holders(drawn.instance, 3) == known_values(drawn.instance)["opt"]


def test_set_packing_bonus_and_refusals() -> None:
    drawn = set_packing([[0, 1], [1, 2], [3, 4]], bonus=1.5, packing=[0, 2])
    # 3·3.5 + 0.5·2
    assert known_values(drawn.instance)["opt"] == Fraction(23, 2)
    assert exact.solve(drawn.instance, "highs").value == 11.5
    for sets, bonus in (
        ([[0, 1], [2]], None),
        ([[0, 0]], None),
        ([], None),
        ([[0, 1]], 2.0),
        ([[0, 1]], 0.5),
    ):
        with pytest.raises(pp.InputError, match="set packing"):
            set_packing(sets, bonus=bonus)
    with pytest.raises(pp.InputError, match="twice"):
        set_packing([[0, 1], [1, 2]], packing=[0, 1])


@pytest.mark.parametrize(
    ("name", "construction"),
    [
        ("mis-petersen", IndependentSet()),
        ("parity-blocked-4-21", ParityBlocked(workers=4, budget=21)),
        ("pairwise-maxcut-c5", MaxCut()),
        ("three-partition-4-20", ThreePartition(workers=4, budget=20)),
    ],
)
def test_shared_cases_have_the_same_values(name: str, construction: Construction) -> None:
    case = pp.read_instance(shared_dir("cases") / f"{name}.json")
    instance, expected = construction.sample(), expected_values()[name]
    assert instance.num_chunks == case.num_chunks
    assert instance.budgets.tolist() == case.budgets.tolist()
    known = known_values(instance)
    assert {field: known[field] for field in expected if field in known and field != "note"} == {
        field: value for field, value in expected.items() if field != "note"
    }


def test_known_values_are_exact_and_in_order() -> None:
    known = Known(opt=Fraction(1, 3), compact_lp=2, reasons={"opt": "because", "compact_lp": "so"})
    assert known.to_meta() == {
        "opt": "1/3",
        "compact_lp": 2,
        "reasons": {"opt": "because", "compact_lp": "so"},
    }
    assert as_fraction(exact_number(Fraction(22, 7))) == Fraction(22, 7)
    assert Known().to_meta() == {}
    with pytest.raises(pp.InputError, match="opt needs a reason"):
        Known(opt=1)
    with pytest.raises(pp.InputError, match="opt <= configuration_lp"):
        Known(opt=2, configuration_lp=1, reasons={"opt": "a", "configuration_lp": "b"})
    for bad in ("x", "1/0", float("nan"), float("inf"), None):
        with pytest.raises(pp.InputError, match="not a number"):
            as_fraction(bad)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ThreePartition(budget=8), r"budget = 8 violates budget = sum of three numbers"),
        (lambda: ParityBlocked(workers=3), "workers = 3 violates even workers >= 2"),
        (lambda: ParityBlocked(budget=20), "budget = 20 violates odd budget >= 7"),
        (lambda: IndependentSet(graph="petersen", vertices=9), "'petersen' cannot have 9 vertices"),
        (lambda: IndependentSet(graph="cubic", vertices=7), "'cubic' cannot have 7 vertices"),
        (lambda: MaxCut(graph="nothing"), "unknown graph 'nothing'; known: petersen"),
        (lambda: BinPacking(sizes=(5, 200)), r"sizes = \(5, 200\)"),
        (lambda: SetPacking(system="fano", sets=8), "sets = 8"),
        (lambda: PlantedOptimum(overlap=1.5), "overlap = 1.5 violates 0 <= overlap <= 1"),
        (lambda: FacilityLocation(facilities=0), "facilities = 0 violates facilities >= 1"),
        (lambda: BinPackingProblem(5, (6,)), "item 0 has size 6, not 1 … 5"),
        (lambda: UflProblem([1.0], [[np.inf]]), r"connection\[0, 0\] must be finite"),
        (lambda: UflProblem([1.0], [[1.0], [2.0]]), "1 opening costs, 2 rows"),
        (lambda: UflProblem([1.0], np.zeros((1, 0))), "at least one client"),
    ],
)
def test_parameters_check_themselves(build, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        build()
