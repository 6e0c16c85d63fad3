"""The door and the service: what comes in, what goes out, threads and memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import prefixplace as pp
from prefixplace import InputError, PrefixTree, best_closed_set
from prefixplace.lab.oracle_families import make_profit, make_tree
from prefixplace.oracle import ClosedSetOracle, OracleParameters
from prefixplace.oracle.reference import reference_closed_set

TREE = PrefixTree.from_parents([-1, 0, 1, -1])


def test_integer_answer() -> None:
    best = best_closed_set(TREE, np.array([-1, 0, 5, 3]), 3)
    assert (best.value, best.nodes.tolist(), best.size, best.rounding) == (4, [0, 1, 2], 3, 0.0)
    assert isinstance(best.value, int)


def test_float_answer_is_exact_on_the_grid() -> None:
    best = best_closed_set(TREE, [-1.0, 0.0, 5.25, 3.0], 3)
    assert best.value == 4.25
    assert isinstance(best.value, float)
    assert best.rounding == 0.0


def test_rounding_bounds_what_the_grid_hides() -> None:
    """Profits far below the grid of the largest one: the answer may miss them, by no more than it says."""
    tree = PrefixTree.from_parents(np.full(40, -1))
    profit = np.where(np.arange(40) < 2, 1e9, 1e-12 * np.arange(40))
    best = best_closed_set(tree, profit, 20)
    exact = float(reference_closed_set(tree.end, profit, 20)[0])
    assert best.value <= exact <= best.value + best.rounding
    assert 0 < best.rounding < 1e-6


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e300])
def test_any_scale(scale: float) -> None:
    best = best_closed_set(TREE, np.array([-1.0, 0.5, 5.0, 3.0]) * scale, 3)
    assert best.nodes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("profit", "budget", "message"),
    [
        ([1, 2, 3], 2, r"profit has shape \(3,\), the tree has 4 nodes"),
        ([1, 2, np.nan, 0], 2, "profit of node 2 is nan"),
        ([1, -np.inf, 0, 0], 2, "profit of node 1 is -inf"),
        ([1e308, 1e308, 0, 0], 2, "sum to infinity"),
        (["a", "b", "c", "d"], 2, "profits must be numbers"),
        ([1j, 0, 0, 0], 2, "profits must be numbers"),
        ([2**62, 2**62, 1, 0], 2, "2\\^63"),
        ([-(2**63), 0, 0, 0], 2, "2\\^63"),
        (np.array([2**63, 0, 0, 0], np.uint64), 2, "profit of node 0"),
        ([1, 2, 3, 4], 2.5, "budget must be a whole number of chunks, not 2.5"),
        ([1, 2, 3, 4], True, "budget must be"),
        ([1, 2, 3, 4], "3", "budget must be"),
        ([1, 2, 3, 4], -1, "budget is -1"),
    ],
)
def test_bad_input(profit: object, budget: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        best_closed_set(TREE, profit, budget)  # type: ignore[arg-type]


def test_integers_up_to_the_limit() -> None:
    """Σ|p| = 2⁶³ − 1 leaves no room for a bound, and the dense program still answers it exactly."""
    profit = np.array([2**62 - 1, -(2**61), 2**61, 0])
    for parameters in (OracleParameters(), OracleParameters(0, 0)):
        assert ClosedSetOracle(TREE, parameters).solve(profit, 4).value == 2**62 - 1


def test_empty_tree_and_budgets() -> None:
    empty = PrefixTree.from_parents([])
    for profit in ([], np.zeros(0, np.int64)):
        assert best_closed_set(empty, profit, 5).value == 0
        assert ClosedSetOracle(empty, OracleParameters(0, 0)).solve(profit, 3).size == 0
        assert ClosedSetOracle(empty).bound(profit, 3).bound == 0
    assert best_closed_set(TREE, [1, 1, 1, 1], 0).size == 0
    assert best_closed_set(TREE, [1, 1, 1, 1], 10**12).value == 4
    assert best_closed_set(TREE, [True, False, True, True], np.int32(2)).value == 2


def test_bad_parameters() -> None:
    for bad in ({"core_growth": 1.0}, {"first_core": 0}, {"core_share": -0.1}):
        with pytest.raises(InputError, match=next(iter(bad))):
            OracleParameters(**bad)  # type: ignore[arg-type]


def test_profit_is_not_changed() -> None:
    tree = make_tree("zipf-prefix", 3_000, 1)
    for law in ("uniform", "small-integers"):
        profit = make_profit(law, tree, 1)
        before = profit.copy()
        oracle = ClosedSetOracle(tree, OracleParameters(0, 0))
        first = oracle.solve(profit, 400)
        oracle.bound(profit, 400)
        mask = first.mask.copy()
        oracle.solve(-profit, 500)
        assert np.array_equal(profit, before)
        assert np.array_equal(first.mask, mask)


def test_many_rows_with_threads() -> None:
    tree = make_tree("random-recursive", 8_000, 2)
    oracle = ClosedSetOracle(tree)
    profits = np.stack([make_profit("uniform", tree, seed) for seed in range(6)])
    budgets = [500, 600, 700, 8, 0, 9_000]
    alone = [oracle.solve(p, k) for p, k in zip(profits, budgets, strict=True)]
    for threads in (1, 2, 4):
        together = oracle.solve_many(profits, budgets, warm=[a.multiplier for a in alone], threads=threads)
        for one, other in zip(alone, together, strict=True):
            assert one.value == other.value
            assert np.array_equal(one.mask, other.mask)


def test_many_rows_that_do_not_match() -> None:
    oracle = ClosedSetOracle(TREE)
    with pytest.raises(InputError, match="2 profit vectors, 1 budgets"):
        oracle.solve_many(np.ones((2, 4)), [1])
    with pytest.raises(InputError, match=r"not \(q, 4\)"):
        oracle.solve_many(np.ones(4), [1])
    with pytest.raises(InputError, match="threads"):
        oracle.solve_many(np.ones((1, 4)), [1], threads=0)
    assert oracle.solve_many(np.ones((0, 4)), []) == []


def test_door_and_package_are_light() -> None:
    code = "import sys, prefixplace.oracle, prefixplace as pp; pp.best_closed_set; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert pp.best_closed_set is best_closed_set


@pytest.mark.parametrize("method", ["dense", "oracle"])
def test_memory(method: str) -> None:
    """n = 100,000 and k = 20,000, a table of 16 GB: what a call takes on top of the imports stays below 0.15 GB."""
    code = f"""
import resource
import numpy as np
from prefixplace.oracle import ClosedSetOracle, OracleParameters
from prefixplace.oracle.dense import dense_closed_set
from prefixplace.lab.oracle_families import make_tree

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

small = make_tree("random-recursive", 300, 0)
dense_closed_set(small, np.ones(300, np.int64), 200)
ClosedSetOracle(small, OracleParameters(0, 0)).solve(np.arange(300) % 7, 200)
tree = make_tree("random-recursive", 100_000, 0)
profit = np.random.default_rng(0).integers(-9, 10, 100_000)
before = peak()
if "{method}" == "dense":
    dense_closed_set(tree, profit, 20_000)
else:
    ClosedSetOracle(tree).solve(profit, 20_000)
assert peak() - before < 0.15, peak() - before
"""
    resource = pytest.importorskip("resource")
    assert resource
    subprocess.run([sys.executable, "-c", code], check=True)
