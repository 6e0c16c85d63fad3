"""Certificates of the prover: they verify, they close the gap, and nothing false in them is believed."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.branch_and_bound.backend import prove
from exact.branch_and_bound.parameters import Parameters
from exact.certificates.certificate import Certificate, sealed
from exact.certificates.evaluation import ExactInstance
from exact.certificates.forest import States
from exact.certificates.states import StateBounds
from instances.families.rag import RagShaped, TwoGroupRag
from tests.exact.branch_and_bound.instances import NARROW, SETTINGS, mixed
from tests.shared import case_names, expected_values, shared_dir


def certified(instance: pp.Instance, params: Any = None) -> Certificate:
    result, certificate = prove(instance, params=params)
    assert certificate is not None
    assert result.status == "optimal" and result.bound_proof == "exact"
    return certificate


def prove_and_verify(seed: int, count: int) -> int:
    """Number of branchings in `count` certificates, all of which verify and meet the value by enumeration."""
    rng, splits = np.random.default_rng(seed), 0
    for index in range(count):
        instance = mixed(rng, index)
        certificate = certified(instance, SETTINGS[int(rng.integers(len(SETTINGS)))])
        checked = exact.verify(instance, certificate)
        assert checked.ok, checked.errors
        assert checked.gap is not None and checked.gap < Fraction(1, 10**11)
        optimum = exact.solve(instance, "brute-force").value
        assert optimum is not None and float(certificate.value) == pytest.approx(
            optimum, rel=1e-12, abs=1e-12
        )
        splits += sum(step[0] == "split" for step in certificate.document["search"])
    return splits


def test_certificates_of_random_instances() -> None:
    prove_and_verify(seed=1, count=200)


@pytest.mark.slow
def test_certificates_of_twenty_thousand_random_instances() -> None:
    prove_and_verify(seed=2, count=20_000)


def test_whole_numbers_leave_no_gap_at_all() -> None:
    rng = np.random.default_rng(3)
    tree = pp.PrefixTree.from_parents([-1, 0, 1, -1, 3, 3, -1, 6, 7, 7])
    for _ in range(20):
        instance = pp.Instance.from_values(
            tree,
            local=rng.integers(0, 9, (3, 10)),
            coverage=rng.integers(0, 9, 10),
            budgets=rng.integers(0, 6, 3),
        )
        checked = exact.verify(instance, certified(instance, SETTINGS[int(rng.integers(3))]))
        assert checked.optimal, checked


@pytest.mark.parametrize("name", case_names())
def test_known_cases(name: str) -> None:
    instance = pp.read_instance(shared_dir("cases") / f"{name}.json")
    checked = exact.verify(instance, certified(instance))
    assert checked.ok, checked.errors
    assert checked.value is not None and checked.gap is not None
    assert float(checked.value) == pytest.approx(expected_values()[name]["opt"], rel=1e-9)
    assert checked.gap < Fraction(1, 10**11)


def searches_that_branch() -> list[tuple[pp.Instance, Certificate]]:
    found = []
    rng = np.random.default_rng(4)
    while len(found) < 3:
        tree = pp.PrefixTree.from_parents([-1, -1, -1, -1, 3, -1, -1, -1, -1, 8, -1, 10])
        instance = pp.Instance.from_values(
            tree, local=rng.integers(0, 3, (4, 12)), coverage=rng.integers(0, 5, 12), budgets=[2, 2, 3, 3]
        )
        certificate = certified(instance, NARROW)
        if any(step[0] == "split" for step in certificate.document["search"]):
            found.append((instance, certificate))
    return found


def test_a_worker_that_holds_too_much_in_all_states_is_seen_by_the_replay() -> None:
    """The search closes such a node without a step: chunks with several states count when all have the worker."""
    instance = pp.Instance(
        pp.PrefixTree.from_parents([-1, 0, 1, -1]),
        demand=[[0, 3, 1, 2], [3, 0, 0, 3]],
        recompute=[[1.4, 5.6, 3.7, 2.0], [3.2, 5.1, 2.0, 4.2]],
        fetch=[[[0, 0, 0, 0], [1.6, 0.9, np.inf, 1.9]], [[5.2, 6.3, 2.0, 0.0], [0, 0, 0, 0]]],
        budgets=[3, 2],
    )
    checked = exact.verify(instance, certified(instance, NARROW))
    assert checked.ok and checked.value == 43


@pytest.mark.parametrize(("budget", "closed"), [(1, True), (2, False)])
def test_states_in_common_use_up_a_budget(budget: int, closed: bool) -> None:
    nothing = np.zeros((0, 0), object)
    local, coverage = np.ones((2, 2), int).astype(object), np.zeros(2, int).astype(object)
    data = ExactInstance([-1, -1], [1, 2], [budget, 2], 1, local, coverage, nothing, pairwise=False)
    run = StateBounds(data, 1, 1, 0)
    masks = [np.array([0b01, 0b11]), np.array([0b01, 0b11])]  # worker 0 holds both chunks in any case
    states = States(masks, [run.term(b, at) for b, at in enumerate(masks)])
    assert (run.left(states, run.classes) is None) == closed


def test_branching_is_replayed() -> None:
    for instance, certificate in searches_that_branch():
        assert exact.verify(instance, certificate).optimal


def changed(certificate: Certificate, change: Any) -> Certificate:
    document = copy.deepcopy(dict(certificate.document))
    change(document)
    document.pop("checksum")
    return sealed(document)


def test_a_false_claim_is_rejected() -> None:
    """The floor below the optimum: no multipliers can prove it, whatever else is left as it is."""
    for instance in (RagShaped(documents=8).sample(0), TwoGroupRag(documents=4).sample(0)):
        certificate = certified(instance)
        unit = Fraction(1, certificate.document["denominator"])

        def lower(document: dict[str, Any], unit: Fraction = unit) -> None:
            document["floor"] = int(Fraction(document["value"]) / unit * Fraction(999, 1000))

        checked = exact.verify(instance, changed(certificate, lower))
        assert (not checked.ok and "closed" in checked.errors[0]) or "worth more" in checked.errors[0]


def test_branchings_alone_prove_nothing() -> None:
    for instance, certificate in searches_that_branch():

        def strip(document: dict[str, Any]) -> None:
            document["search"] = [step for step in document["search"] if step[0] in ("split", "closed")]

        checked = exact.verify(instance, changed(certificate, strip))
        assert not checked.ok and "has states left" in checked.errors[0]


def test_multipliers_of_zero_prove_nothing_where_budgets_bind() -> None:
    instance = RagShaped(documents=8, sharing=0.5).sample(0)

    def wipe(document: dict[str, Any]) -> None:
        document["search"] = [["prices", [0, 0, 0]], ["closed"]]

    checked = exact.verify(instance, changed(certified(instance), wipe))
    assert not checked.ok and "has states left" in checked.errors[0]


MALFORMED: list[tuple[str, Any]] = [
    ("no step", ["nonsense"]),
    ("no step", "closed"),
    ("no step", ["prices"]),
    ("not a list", ["prices", 3]),
    ("not a whole number", ["prices", [0.5, 0, 0]]),
    ("not a whole number", ["prices", [-1, 0, 0]]),
    ("not a whole number", ["prices", [True, 0, 0]]),
    ("not a whole number", ["prices", [10**30, 0, 0]]),
    ("not 3 lists", ["joint", [[0]]]),
    ("does not exist", ["split", 3, 0]),
    ("does not exist", ["split", 0, -1]),
    ("each chunk once", ["enumerate", "zeros", [[0, 0, 0]], None]),
    ("no preorder", ["enumerate", "reversed", [[0, 0, 0]], None]),
    ("at least one", ["enumerate", "all", [], None]),
]


@pytest.mark.parametrize(("message", "step"), MALFORMED)
def test_malformed_steps_are_named(message: str, step: Any) -> None:
    instance = RagShaped(documents=4, sharing=0.5).sample(0)
    n = instance.num_chunks
    orders = {"zeros": [0] * n, "reversed": list(range(n))[::-1], "all": list(range(n))}
    if step[0] == "enumerate":
        step = ["enumerate", orders[step[1]], *step[2:]]

    def insert(document: dict[str, Any]) -> None:
        document["search"].insert(0, step)

    checked = exact.verify(instance, changed(certified(instance), insert))
    assert not checked.ok and message in checked.errors[0]


def test_a_search_that_ends_early_or_late_is_rejected() -> None:
    instance = RagShaped(documents=4).sample(0)
    certificate = certified(instance)
    early = exact.verify(instance, changed(certificate, lambda d: d["search"].pop()))
    assert not early.ok and "before all its branches" in early.errors[0]
    late = exact.verify(instance, changed(certificate, lambda d: d["search"].append(["closed"])))
    assert not late.ok and "goes on" in late.errors[0]


@pytest.mark.parametrize(("workers", "kind"), [(3, "budget-dual"), (8, "coverage-dual")])
def test_an_unfinished_search_certifies_its_incumbent_and_its_first_bound(workers: int, kind: str) -> None:
    instance = RagShaped(workers=workers, documents=20, sharing=0.5).sample(1)
    little = Parameters(widths=(1,), price_evaluations=5, coverage_rounds=30, joint_rounds=2)
    result, certificate = prove(instance, budget=pp.Budget(nodes=1), params=little)
    assert result.stop_reason == "nodes" and result.value is not None and result.bound is not None
    assert certificate is not None and certificate.kind == kind
    checked = exact.verify(instance, certificate)
    assert checked.ok and checked.value is not None and checked.bound is not None
    assert float(checked.value) == pytest.approx(result.value, rel=1e-12)
    optimum = exact.solve(instance, "branch-and-bound").value
    assert optimum is not None and optimum <= float(checked.bound) * (1 + 1e-12)
    assert result.bound <= float(checked.bound) * (1 + 1e-12)
    assert 0 < float(checked.bound) / optimum - 1 < 0.2


def test_a_search_that_has_not_begun_certifies_the_trivial_bound() -> None:
    instance = RagShaped(workers=4, documents=12, sharing=0.5).sample(1)
    result, certificate = prove(instance, budget=pp.Budget(nodes=0))
    assert certificate is not None and certificate.kind == "trivial" and result.status == "feasible"
    assert exact.verify(instance, certificate).ok
