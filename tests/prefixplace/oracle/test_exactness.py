"""The nearly linear method, every branch of it, against the reference and against the dense program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace import PrefixTree
from prefixplace.lab.oracle_exactness import FORCED, check_exactness
from prefixplace.lab.oracle_families import HARD, LAWS, SHAPES, hard_case, make_profit, make_tree
from prefixplace.oracle import PROOFS, ClosedSetOracle, OracleParameters
from prefixplace.oracle.dense import dense_closed_set
from prefixplace.oracle.reference import reference_table
from tests.prefixplace.oracle.trees import is_closed, trees, whole_profits

FAST = OracleParameters(0, 0)


@pytest.mark.parametrize("seed", range(2))
def test_random_instances(seed: int) -> None:
    result = check_exactness(5_000, seed=seed)
    assert result.different == []
    assert set(result.proofs) == set(PROOFS)


@pytest.mark.slow
def test_many_random_instances() -> None:
    assert check_exactness(150_000, seed=99).different == []


@given(trees(), st.sampled_from(sorted(FORCED)), st.data())
def test_any_instance(tree: PrefixTree, forced: str, data: st.DataObject) -> None:
    profit = np.array(data.draw(whole_profits(tree.n)), np.int64)
    oracle = ClosedSetOracle(tree, FORCED[forced])
    table = reference_table(tree.end, profit, tree.n)
    for budget in range(tree.n + 1):
        answer = oracle.solve(profit, budget)
        assert answer.value == table[0, budget] == profit[answer.mask].sum()
        assert answer.size <= budget
        assert is_closed(tree, answer.mask)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_law_at_four_thousand_nodes(shape: str) -> None:
    tree = make_tree(shape, 4_000, 11)
    oracle = ClosedSetOracle(tree, FAST)
    for law in LAWS:
        profit = make_profit(law, tree, 11)
        answer = oracle.solve(profit, 900)
        best = profit[dense_closed_set(tree, profit, 900)].sum()
        assert answer.size <= 900
        assert is_closed(tree, answer.mask)
        if profit.dtype.kind == "i":
            assert answer.value == best
        else:
            assert answer.value == pytest.approx(best, rel=1e-12, abs=answer.rounding)


@pytest.mark.parametrize("name", HARD)
def test_hard_families(name: str) -> None:
    for n, k in ((3_000, 500), (20_000, 3_000)):
        tree, profit = hard_case(name, n, 2)
        answer = ClosedSetOracle(tree, FAST).solve(profit, k)
        best = profit[dense_closed_set(tree, profit, k)].sum()
        assert answer.value == pytest.approx(best, rel=1e-12, abs=answer.rounding)
        assert profit.dtype.kind == "f" or answer.value == best


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_hard_families_at_full_size(name: str) -> None:
    tree, profit = hard_case(name, 100_000, 4)
    for k in (1_000, 10_000, 30_000):
        answer = ClosedSetOracle(tree).solve(profit, k)
        best = profit[dense_closed_set(tree, profit, k)].sum()
        assert answer.value == pytest.approx(best, rel=1e-12, abs=answer.rounding)


@pytest.mark.parametrize("forced", FORCED)
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_long_chain_and_wide_star(shape: str, forced: str) -> None:
    """200,000 nodes through every method; the values come from prefix sums and from sorting."""
    n, k = 200_000, 300
    tree = make_tree(shape, n, 0)
    profit = np.random.default_rng(7).integers(-50, 51, n)
    if shape == "chain":
        profit[k + 5] = 10**6  # out of reach
        best = max(0, int(np.cumsum(profit)[:k].max()))
    else:
        profit[0] = -40
        best = int(profit[0] + np.sort(profit[1:])[-(k - 1) :].sum())
    answer = ClosedSetOracle(tree, FORCED[forced]).solve(profit, k)
    assert answer.size <= k
    assert answer.value == best


def test_parity_star_needs_a_branch() -> None:
    """The root costs, every leaf ties: no price splits the tree, so demanding the root is what closes the gap."""
    tree = make_tree("star", 30_000, 0)
    profit = np.where(np.arange(30_000) > 0, 3, -1)
    answer = ClosedSetOracle(tree).solve(profit, 10_000)
    assert answer.proof == "branch"
    assert answer.value == 3 * 9_999 - 1


def test_answer_does_not_depend_on_the_guess() -> None:
    tree = make_tree("zipf-prefix", 20_000, 3)
    oracle = ClosedSetOracle(tree)
    for law in ("uniform", "small-integers", "parity"):
        profit = make_profit(law, tree, 3)
        first = oracle.solve(profit, 2_000)
        assert first.multiplier is not None
        for warm in (first.multiplier, first.multiplier * 1.01, first.multiplier / 3, 1e-300, 1e300):
            again = oracle.solve(profit, 2_000, warm=warm)
            assert np.array_equal(again.mask, first.mask)
            assert again.proof == first.proof
