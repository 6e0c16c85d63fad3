"""Every tight example reproduced: its figure, its optimum, its relaxations, by independent means."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import prefixplace as pp
from instances.construction import Construction
from instances.known import known_values
from instances.tight import (
    AllOrdersTwoThirds,
    CompactGap,
    ConfigurationGapFourFifths,
    ConfigurationGapSixSevenths,
    ConfigurationGapTenElevenths,
    Hypercliques,
    IdenticalThreeQuarters,
    OneOrderHalf,
    XyPool,
)
from prefixplace.planner.methods import GreedyParams, RefinedParams
from prefixplace.planner.orders import start_orders
from prefixplace.planner.search import Search
from prefixplace.stopping import Clock
from tests.brute import optimum
from tests.instances.relaxations import compact_lp, configuration_lp
from tests.shared import expected_values, shared_dir

SMALL: list[Construction] = [
    OneOrderHalf(),
    AllOrdersTwoThirds(),
    IdenticalThreeQuarters(),
    IdenticalThreeQuarters(inverse_epsilon=2),
    ConfigurationGapFourFifths(),
    ConfigurationGapSixSevenths(),
    ConfigurationGapTenElevenths(copies=1),
    CompactGap(budget=1),
    CompactGap(budget=7),
    Hypercliques(holders=3, chunks=2),
    Hypercliques(holders=4, chunks=3),
    Hypercliques(holders=3, chunks=3),
]


@pytest.mark.parametrize("construction", SMALL, ids=lambda c: c.sample().name)
def test_known_values_are_those_of_enumeration(construction: Construction) -> None:
    instance = construction.sample()
    known = known_values(instance)
    assert optimum(instance) == known["opt"]
    assert configuration_lp(instance) == pytest.approx(float(known["configuration_lp"]), rel=1e-9)
    if "compact_lp" in known:
        assert compact_lp(instance) == pytest.approx(float(known["compact_lp"]), rel=1e-9)
    assert set(instance.meta["reasons"]) == set(known)


@pytest.mark.parametrize("construction", [*SMALL, XyPool(pairs=4), Hypercliques(holders=8, chunks=3)])
def test_witness_attains_the_optimum(construction: Construction) -> None:
    instance, witness = construction.sample(), construction.witness()
    assert witness is not None
    assert instance.value(witness) == known_values(instance)["opt"]


def reached(instance: pp.Instance, order: tuple[int, ...], refined: bool) -> Fraction:
    method, params = ("refined", RefinedParams(order)) if refined else ("greedy", GreedyParams(order))
    return Fraction(pp.solve(instance, method, params=params).value)


@pytest.mark.parametrize("inverse_epsilon", [2, 100, 10_000])
@pytest.mark.parametrize("refined", [False, True])
def test_one_order_tends_to_a_half(inverse_epsilon: int, refined: bool) -> None:
    family = OneOrderHalf(inverse_epsilon=inverse_epsilon)
    instance, optimal = family.sample(), known_values(family.sample())["opt"]
    epsilon = Fraction(1, inverse_epsilon)
    assert family.factor == (1 + Fraction(11, 10) * epsilon) / (2 + epsilon)
    assert reached(instance, (0, 1), refined) / optimal == family.factor
    assert reached(instance, (1, 0), refined) == optimal


@pytest.mark.parametrize("inverse_epsilon", [2, 100, 10_000])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_all_orders_tend_to_two_thirds(inverse_epsilon: int, order: tuple[int, ...]) -> None:
    family = AllOrdersTwoThirds(inverse_epsilon=inverse_epsilon)
    instance = family.sample()
    optimal = known_values(instance)["opt"]
    assert reached(instance, order, True) / optimal == family.factor
    assert Fraction(pp.solve(instance, "prefixplace").value) / optimal == family.factor
    assert abs(family.factor - Fraction(2, 3)) <= Fraction(2, inverse_epsilon)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_identical_workers_tend_to_three_quarters(order: tuple[int, ...]) -> None:
    family = IdenticalThreeQuarters(inverse_epsilon=1000)
    instance = family.sample()
    assert np.array_equal(instance.local_value[0], instance.local_value[1])
    assert reached(instance, order, True) / known_values(instance)["opt"] == family.factor
    assert abs(family.factor - Fraction(3, 4)) < Fraction(1, 1000)


def test_local_optima_are_those_of_the_definition() -> None:
    """No single worker can improve the placements that the examples end at (by enumeration)."""
    for family in (OneOrderHalf(), AllOrdersTwoThirds(), IdenticalThreeQuarters()):
        instance = family.sample()
        end = pp.solve(instance, "refined", params=RefinedParams((0, 1))).placement
        for worker in range(2):
            alone = instance.budgets.copy()
            alone[1 - worker] = 0
            free = pp.Instance.from_values(
                instance.tree,
                local=instance.local_value,
                coverage=np.where(end.mask[1 - worker], 0, instance.coverage_value),
                budgets=alone,
            )
            fixed = instance.value(end) - free.objective.value(end.mask * (np.arange(2) == worker)[:, None])
            assert fixed + optimum(free) == instance.value(end)


def test_xy_pool_by_its_formula() -> None:
    family = XyPool(pairs=3)
    instance = family.sample()
    rng = np.random.default_rng(0)
    for order in [tuple(rng.permutation(6).tolist()) for _ in range(25)]:
        assert reached(instance, order, False) == family.greedy_value(order)
        assert reached(instance, order, True) == family.greedy_value(order)


def test_xy_pool_beats_the_eight_starts() -> None:
    factors = []
    for pairs in (13, 50):
        family = XyPool(pairs=pairs)
        instance = family.sample()
        orders = start_orders(Search(instance, Clock(pp.Budget())))
        value = pp.solve(instance, "prefixplace").value
        assert value == max(family.greedy_value(order) for order in orders)
        factors.append(value / float(known_values(instance)["opt"]))
    assert 0.75 < factors[1] < 0.8 < factors[0]


def test_hypercliques_tend_to_one_minus_one_over_e() -> None:
    instance = Hypercliques(holders=12, chunks=4).sample()
    known = known_values(instance)
    assert known == {
        "opt": 4 * comb(12, 4) - 4 * comb(9, 4),
        "configuration_lp": 4 * comb(12, 4),
    }
    assert 1 - (1 - 1 / 4) ** 4 < known["opt"] / known["configuration_lp"] < 0.75


def test_copied_gap_keeps_its_ratio() -> None:
    exact_two = ConfigurationGapTenElevenths(copies=2).sample()
    assert configuration_lp(exact_two) == pytest.approx(11)
    assert optimum_by_pairs(exact_two) == 10


def optimum_by_pairs(instance: pp.Instance) -> float:
    """Enumeration of the four workers' maximal closed sets, as arrays: F by inclusion of each pair of workers."""
    from tests.brute import closed_sets

    sets = [np.array(closed_sets(instance.tree, int(k))) for k in instance.budgets]
    best = 0.0
    for first in sets[0]:
        for second in sets[1]:
            for third in sets[2]:
                covered = first | second | third
                fourth = sets[3] @ instance.local_value[3] + (sets[3] & ~covered) @ instance.coverage_value
                own = sum(s @ instance.local_value[m] for m, s in enumerate((first, second, third)))
                best = max(best, float(own + covered @ instance.coverage_value + fourth.max()))
    return best


@pytest.mark.parametrize(
    ("name", "construction"),
    [
        ("greedy-half", OneOrderHalf()),
        ("all-orders-two-thirds", AllOrdersTwoThirds()),
        ("identical-three-quarters", IdenticalThreeQuarters()),
        ("config-gap-four-fifths", ConfigurationGapFourFifths()),
        ("config-gap-six-sevenths", ConfigurationGapSixSevenths()),
        ("config-gap-ten-elevenths-4", ConfigurationGapTenElevenths(copies=4)),
        ("compact-gap-8", CompactGap(budget=7)),
        ("pairwise-hypercliques-5-2", Hypercliques(holders=5, chunks=2)),
        ("xy-pool-6", XyPool(pairs=6)),
    ],
)
def test_shared_cases_are_reproduced(name: str, construction: Construction) -> None:
    case = pp.read_instance(shared_dir("cases") / f"{name}.json")
    expected, instance = expected_values()[name], construction.sample()
    known = known_values(instance)
    assert instance.tree.given_parents.tolist() == case.tree.given_parents.tolist()
    assert instance.budgets.tolist() == case.budgets.tolist()
    unit = float(known["opt"]) / expected["opt"]
    for field in ("configuration_lp", "compact_lp"):
        if field in expected:
            assert float(known[field]) == pytest.approx(unit * expected[field])
    if not instance.pairwise:
        assert np.allclose(instance.local_value, unit * case.local_value)
        assert np.allclose(instance.coverage_value, unit * case.coverage_value)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: OneOrderHalf(inverse_epsilon=1), "inverse_epsilon = 1 violates inverse_epsilon >= 2"),
        (lambda: XyPool(pairs=0), "pairs = 0 violates pairs >= 1"),
        (lambda: Hypercliques(holders=2, chunks=3), "holders = 2, chunks = 3 violates holders >= chunks"),
        (lambda: CompactGap(budget=0), "budget = 0 violates budget >= 1"),
        (lambda: ConfigurationGapTenElevenths(copies=0), "copies = 0"),
    ],
)
def test_parameters_check_themselves(build, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        build()
