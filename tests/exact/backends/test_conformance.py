"""One suite for every back-end: what it must do on any instance, whatever solver stands behind it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import exact
import prefixplace as pp
from exact.backends.brute_force import BruteForceParams
from tests.brute import optimum, random_instance
from tests.exact.backends import hard
from tests.shared import case_names, expected_values, shared_dir

OWN_TRUTH = "brute-force"
SOLVERS = [name for name in exact.BACKENDS if name != OWN_TRUTH]
"""Back-ends that take any instance, starts and limits; enumeration has its own tests below."""


@pytest.fixture(params=SOLVERS)
def backend(request: pytest.FixtureRequest) -> str:
    return usable(request.param)


def usable(name: str) -> str:
    """`name`, or a skip that says why it cannot run here."""
    found = exact.BACKENDS[name].available()
    if not found.usable:
        pytest.skip(f"{name}: {found.reason}")
    return name


def assert_optimal(result: pp.Result, value: float) -> None:
    assert result.status == "optimal", result
    assert result.value == pytest.approx(value, rel=1e-9, abs=1e-12), result
    assert result.bound is not None
    assert result.bound >= value - 1e-9 * abs(value)
    assert result.stop_reason == "finished"


@pytest.mark.parametrize("pairwise", [False, True])
def test_tiny_instances_against_enumeration(backend: str, pairwise: bool) -> None:
    rng = np.random.default_rng(11)
    rounds = 2 if exact.BACKENDS[backend].own_process else 12
    for _ in range(rounds):
        instance = random_instance(
            rng, n=int(rng.integers(1, 6)), workers=int(rng.integers(1, 4)), pairwise=pairwise
        )
        assert_optimal(exact.solve(instance, backend), optimum(instance))


PROOF_NOT_ASKED = {
    ("cp-sat", "parity-blocked-4-21"),
    ("scip", "parity-blocked-4-21"),
    ("pulp-cbc", "parity-blocked-4-21"),
}
"""Where a back-end finds the optimum but not the proof within a minute."""

SLOW_PROOFS = {"parity-blocked-4-21", "mismatch-exact-1", "pairwise-two-groups"}


@pytest.mark.parametrize("case", case_names())
def test_shared_cases(backend: str, case: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{case}.json")
    known = expected_values()[case]["opt"]
    own = exact.BACKENDS[backend]
    if own.refuses(instance, own.params()) is not None:
        pytest.skip(f"{backend} refuses {case}")
    if case in SLOW_PROOFS:
        # the proof takes seconds to minutes: here only that no claim is false, the table of docs/exact.md has the rest
        start = pp.solve(instance).placement
        result = exact.solve(instance, backend, budget=pp.Budget(seconds=1), start=start)
        assert result.bound is None or result.bound >= known * (1 - 1e-9)
        assert result.value is not None
        assert result.value <= known * (1 + 1e-9)
        return
    assert_optimal(exact.solve(instance, backend, budget=pp.Budget(seconds=120)), known)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(SLOW_PROOFS))
def test_shared_cases_with_slow_proofs(backend: str, case: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{case}.json")
    known = expected_values()[case]["opt"]
    result = exact.solve(instance, backend, budget=pp.Budget(seconds=120))
    assert result.value == pytest.approx(known, rel=1e-9)
    if (backend, case) not in PROOF_NOT_ASKED:
        assert result.status == "optimal"


def edge_cases() -> dict[str, tuple[pp.Instance, float]]:
    """Instances at the edge of what is legal, with their optima."""
    tree = pp.PrefixTree.from_parents([-1, 0, 0, -1])
    three = np.array([[1.0, 2.0, 3.0, 4.0]] * 2)
    one = pp.PrefixTree.from_parents([-1])
    empty = pp.PrefixTree.from_parents([])
    scale = np.array([1e-6, 1e9, 1.0, 1e3])
    make = pp.Instance.from_values
    return {
        "zero-budgets": (make(tree, local=three, coverage=three[0], budgets=[0, 0]), 0.0),
        "one-zero-budget": (make(tree, local=three, coverage=three[0], budgets=[0, 1]), 8.0),
        "budgets-above-n": (make(tree, local=three, coverage=three[0], budgets=[9, 2**40]), 30.0),
        "one-node": (make(one, local=[[0.1]], coverage=[0.2], budgets=[1]), 0.1 + 0.2),
        "empty-forest": (make(empty, local=np.zeros((2, 0)), coverage=[], budgets=[3, 0]), 0.0),
        "all-zero": (make(tree, local=0 * three, coverage=0 * three[0], budgets=[2, 2]), 0.0),
        "tiny-values": (make(tree, local=1e-6 * three, coverage=1e-6 * three[0], budgets=[2, 2]), 17e-6),
        "huge-values": (make(tree, local=1e9 * three, coverage=1e9 * three[0], budgets=[2, 2]), 17e9),
        "from-1e-6-to-1e9": (
            make(tree, local=[scale, scale], coverage=0 * scale, budgets=[2, 2]),
            2e9 + 2e-6,
        ),
    }


EDGES = edge_cases()


@pytest.mark.parametrize("edge", EDGES)
def test_edge_cases(backend: str, edge: str) -> None:
    instance, value = EDGES[edge]
    assert max_value(instance) == pytest.approx(value, rel=1e-12)
    assert_optimal(exact.solve(instance, backend), value)


def max_value(instance: pp.Instance) -> float:
    return (
        optimum(instance)
        if instance.budgets.max() < 2**40
        else instance.objective.value(np.ones((instance.num_workers, instance.num_chunks), np.bool_))
    )


def test_time_limit_zero_proves_nothing(backend: str) -> None:
    result = exact.solve(hard.tiny(), backend, budget=pp.Budget(seconds=0))
    assert (result.status, result.value, result.bound) == ("none", None, None)
    assert result.stop_reason == "time"


def test_time_limit_zero_keeps_the_start(backend: str) -> None:
    instance = hard.tiny()
    start = pp.solve(instance, "greedy").placement
    result = exact.solve(instance, backend, budget=pp.Budget(seconds=0), start=start)
    assert (result.status, result.stop_reason) == ("feasible", "time")
    assert result.placement == start


@pytest.mark.parametrize("seconds", [1e-3, 0.5])
def test_time_limits_never_give_a_false_proof(backend: str, seconds: float) -> None:
    result = exact.solve(hard.parity_blocked(), backend, budget=pp.Budget(seconds=seconds))
    if result.status != "optimal":
        assert result.stop_reason == "time"
    assert result.bound is None or result.bound >= hard.PARITY_BLOCKED_OPTIMUM
    if result.value is None:
        assert result.placement is None
        assert result.status == "none"
    else:
        assert result.value <= hard.PARITY_BLOCKED_OPTIMUM


def test_gap_limit_is_no_proof(backend: str) -> None:
    result = exact.solve(hard.small_parity_blocked(), backend, budget=pp.Budget(gap=0.2, seconds=30))
    assert result.stop_reason == "finished"
    assert result.gap is not None
    assert result.gap <= 0.2
    assert result.bound is not None
    assert result.bound >= hard.SMALL_PARITY_BLOCKED_OPTIMUM


def test_node_limit(backend: str) -> None:
    if not exact.BACKENDS[backend].counts_nodes:
        pytest.skip(f"{backend} counts no nodes")
    result = exact.solve(hard.small_parity_blocked(), backend, budget=pp.Budget(nodes=1, seconds=20))
    assert result.stop_reason == "nodes" or result.status == "optimal"
    assert result.counters["nodes"] <= 2 or result.status == "optimal"
    assert result.bound is None or result.bound >= hard.SMALL_PARITY_BLOCKED_OPTIMUM


def test_start_is_accepted_and_never_lost(backend: str) -> None:
    instance = hard.parity_blocked()
    start = pp.solve(instance, "refined").placement
    assert start is not None
    result = exact.solve(instance, backend, budget=pp.Budget(seconds=1), start=start)
    assert result.value is not None
    assert result.value >= instance.value(start)
    assert result.trace[0].value == instance.value(start)
    if exact.BACKENDS[backend].bound_proof == "solver-claim":
        assert result.counters["start_accepted"] == 1


def test_a_start_that_does_not_fit_is_refused(backend: str) -> None:
    other = pp.Placement.empty(pp.PrefixTree.from_parents([-1]), 2)
    with pytest.raises(pp.InputError, match="another tree"):
        exact.solve(hard.tiny(), backend, start=other)


def test_threads_one_two_one(backend: str) -> None:
    instance = hard.medium()
    values = [exact.solve(instance, backend, threads=threads) for threads in (1, 2, 1)]
    assert {result.status for result in values} == {"optimal"}
    assert len({result.value for result in values}) == 1


def test_two_solves_of_different_instances(backend: str) -> None:
    for seed in (5, 6):
        instance = hard.medium(seed)
        expected = exact.solve(instance, "highs").value
        assert expected is not None
        assert_optimal(exact.solve(instance, backend), expected)


def test_log_is_captured_and_stdout_silent(backend: str, capfd: pytest.CaptureFixture[str], tmp_path) -> None:
    lines: list[str] = []
    result = exact.solve(hard.medium(), backend, log=lines.append)
    assert capfd.readouterr() == ("", "")
    assert lines
    assert list(result.log[: len(lines)]) == lines
    exact.solve(hard.tiny(), backend, log=tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_text().strip()


def test_progress_and_trace(backend: str) -> None:
    seen: list[pp.Progress] = []
    result = exact.solve(hard.medium(), backend, progress=seen.append)
    assert [(p.seconds, p.value, p.bound) for p in seen] == [tuple(point) for point in result.trace]
    values = [point.value for point in result.trace if point.value is not None]
    bounds = [point.bound for point in result.trace if point.bound is not None]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    assert values[-1] == result.value
    seconds = [point.seconds for point in result.trace]
    assert seconds == sorted(seconds)


def test_inputs_are_left_alone(backend: str) -> None:
    instance = hard.medium()
    digest, budget = instance.digest, pp.Budget(seconds=30)
    start = pp.solve(instance, "greedy").placement
    assert start is not None
    before = start.mask.copy()
    exact.solve(instance, backend, budget=budget, start=start)
    assert np.array_equal(start.mask, before)
    assert (
        pp.Instance.from_values(
            instance.tree,
            local=instance.local_value,
            coverage=instance.coverage_value,
            budgets=instance.budgets,
        ).digest
        == digest
    )
    assert budget == pp.Budget(seconds=30)


def test_result_carries_versions_and_digest(backend: str) -> None:
    instance = hard.tiny()
    result = exact.solve(instance, backend)
    assert result.instance_digest == instance.digest
    assert set(exact.BACKENDS[backend].packages) <= set(result.versions)
    assert result.method == backend
    assert "start_accepted" not in result.counters
    assert result.bound_proof == exact.BACKENDS[backend].bound_proof


def test_a_chain_of_200_000_chunks_builds_without_recursion(backend: str) -> None:
    assert sys.getrecursionlimit() < 200_000
    assert_optimal(exact.solve(hard.chain(), backend, budget=pp.Budget(seconds=60)), 7.0)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_keeps_the_incumbent(backend: str) -> None:
    instance = hard.parity_blocked()
    start = pp.solve(instance, "greedy").placement
    assert start is not None
    started = threading.Event()

    def press() -> None:
        started.wait(60)
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    result = exact.solve(
        instance, backend, budget=pp.Budget(seconds=120), start=start, progress=lambda p: started.set()
    )
    assert result.stop_reason == "user" or result.status == "optimal"
    assert result.value is not None
    assert result.value >= instance.value(start)
    assert result.bound is None or result.bound >= hard.PARITY_BLOCKED_OPTIMUM


@given(seed=st.integers(0, 10_000), pairwise=st.booleans())
@settings(max_examples=40)
def test_enumeration_against_the_definition(seed: int, pairwise: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(
        rng, n=int(rng.integers(1, 6)), workers=int(rng.integers(1, 4)), pairwise=pairwise
    )
    result = exact.solve(instance, OWN_TRUTH)
    assert_optimal(result, optimum(instance))
    assert result.counters["placements"] == np.prod(
        [len(closed) for closed in (closed_sets_of(instance, int(k)) for k in instance.budgets)]
    )


def closed_sets_of(instance: pp.Instance, budget: int) -> list[np.ndarray]:
    from tests.brute import closed_sets

    return closed_sets(instance.tree, budget)


def test_enumeration_refuses_what_is_too_large() -> None:
    with pytest.raises(
        pp.InputError, match=r"it has 1\.0e\+02 placements, and enumeration stops at 9\.9e\+01"
    ):
        exact.solve(EDGES["budgets-above-n"][0], OWN_TRUTH, params=BruteForceParams(largest=99))
    with pytest.raises(pp.InputError, match="62"):
        exact.solve(hard.parity_blocked(), OWN_TRUTH)


@pytest.mark.parametrize("edge", [name for name in EDGES if name != "budgets-above-n"])
def test_enumeration_at_the_edges(edge: str) -> None:
    instance, value = EDGES[edge]
    assert_optimal(exact.solve(instance, OWN_TRUTH), value)
