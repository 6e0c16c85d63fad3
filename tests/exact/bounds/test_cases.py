"""Known optima, configuration LPs and compact LPs: the shared cases, and the families whose values are proved."""

from __future__ import annotations

import numpy as np
import pytest

import exact
import prefixplace as pp
from tests.shared import case_names, expected_values, shared_dir

LP_OF = {"configuration_lp": "configuration-lp", "compact_lp": "compact-lp"}


@pytest.mark.parametrize("name", case_names())
def test_shared_cases(name: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{name}.json")
    known = expected_values()[name]
    found = {kind: exact.bound(instance, kind) for kind in exact.BOUNDS}
    for kind, bound in found.items():
        assert bound.bound >= known["opt"] * (1 - 1e-12), kind
        assert bound.value is not None and bound.value <= known["opt"] * (1 + 1e-12), kind
    for field, kind in LP_OF.items():
        if field in known:
            assert found[kind].bound == pytest.approx(known[field], rel=1e-7)
            assert found[kind].master == pytest.approx(known[field], rel=1e-7)
    placement = found["configuration-lp"].placement
    assert placement is not None
    assert exact.audit(instance, placement, found.values(), optimum=known["opt"]).ok


def spider(legs: list[int], workers: int, budget: int) -> pp.Instance:
    """Legs of unit chunks; every chunk is worth 1 to whoever covers it first."""
    parents: list[int] = []
    for leg in legs:
        parents += [-1, *range(len(parents), len(parents) + leg - 1)]
    n = len(parents)
    tree = pp.PrefixTree.from_parents(parents)
    return pp.Instance.from_values(
        tree, local=np.zeros((workers, n)), coverage=np.ones(n), budgets=[budget] * workers
    )


def test_parity_blocked_separates_the_two_linear_programmes() -> None:
    """Even legs, odd budgets: no worker can be filled, which the configuration LP sees and the compact LP does not."""
    instance = spider([10, 10, 10, 12, 10, 8, 14, 8, 8, 12, 10, 10, 14, 10, 8, 16, 8, 8], 6, 31)
    configuration, compact = exact.bound(instance, "configuration-lp"), exact.bound(instance, "compact-lp")
    assert configuration.bound == pytest.approx(183, rel=1e-9)
    assert compact.bound == pytest.approx(186, rel=1e-9)
    assert configuration.value is not None and configuration.value <= 183


def test_identical_workers_share_one_column_pool() -> None:
    instance = spider([6, 7, 8, 9, 10, 20], 5, 20)
    found = exact.bound(instance, "configuration-lp")
    assert all(column.workers == (0, 1, 2, 3, 4) for column in found.columns)
    assert found.counters["oracle_calls"] == found.counters["iterations"]  # one call a round for all five


def test_configuration_gap() -> None:
    """Configuration LP above the optimum: 2.5 against 2, for two workers and for copies of them."""
    tree = pp.PrefixTree.from_parents([-1, 0, -1, -1])
    instance = pp.Instance.from_values(
        tree, local=[[0, 1, 0, 0], [0] * 4], coverage=[0, 0, 1, 1], budgets=[2, 1]
    )
    found = exact.bound(instance, "configuration-lp")
    assert found.bound == pytest.approx(2.5) and found.value == 2


@pytest.mark.parametrize("seed", range(25))
def test_holder_sets_are_exact_where_the_instance_separates(seed: int) -> None:
    """Depth-1 forests, one chunk of budget each and values that fall apart: the best prices prove the optimum.

    Every worker has a favourite root of its own, whose local value exceeds everything else it could earn by more
    than the next best; the prices between the two leave one choice.
    """
    rng = np.random.default_rng(seed)
    workers = 3
    tree = pp.PrefixTree.from_parents([-1] * 6)
    local = rng.random((workers, 6))
    local[np.arange(workers), rng.permutation(6)[:workers]] += 10.0
    instance = pp.Instance.from_values(tree, local=local, coverage=rng.random(6), budgets=[1] * workers)
    found = exact.bound(instance, "budget-dual")
    favourites = np.argmax(local, axis=1)
    optimum = local.max(axis=1).sum() + instance.coverage_value[favourites].sum()
    assert found.bound == pytest.approx(optimum, rel=1e-9)


def test_holder_sets_see_coverage_that_the_configuration_lp_does_not() -> None:
    """Pairwise maximum cut of a five-cycle: 9 by holder sets and by enumeration, 10 by both linear programmes."""
    edges = [(i, (i + 1) % 5) for i in range(5)]
    fetch = np.full((10, 10, 2), np.inf)
    for edge, ends in enumerate(edges):
        fetch[5 + edge, ends] = 0.0
    demand = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    tree = pp.PrefixTree.from_parents([-1, -1])
    cut = pp.Instance(tree, demand=demand, recompute=np.ones((10, 2)), fetch=fetch, budgets=[1] * 5 + [0] * 5)
    assert exact.bound(cut, "budget-dual").bound == pytest.approx(9)
    assert exact.bound(cut, "configuration-lp").bound == pytest.approx(10)
    assert exact.bound(cut, "compact-lp").bound == pytest.approx(10)
