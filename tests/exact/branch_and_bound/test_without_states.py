"""Fixing and strong branching where states are too many to write down, and certificates of such searches."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import exact
import exact.branch_and_bound.bounding as bounding
import exact.branch_and_bound.coverage as coverage
import exact.branch_and_bound.strong as strong
import exact.certificates.states as certified_states
import prefixplace as pp
from exact.branch_and_bound._rounds import tighten
from exact.branch_and_bound.backend import prove
from exact.certificates.certificate import sealed
from exact.certificates.pairs import Pairs
from prefixplace.joint.states import FREE, INSIDE, OUTSIDE
from tests.exact.branch_and_bound.instances import WITHOUT_STATES, stubborn


@pytest.fixture(autouse=True)
def weak_duals(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few rounds that small instances are not closed at the root, and no states before a single set is left."""
    monkeypatch.setattr(coverage, "_MOST_AT_ONE", 1)
    monkeypatch.setattr(bounding, "_NODE_ROUNDS", 3)
    monkeypatch.setattr(bounding, "_LEAST_ROUNDS", 3)
    monkeypatch.setattr(bounding, "_PASSES", 1)
    monkeypatch.setattr(strong, "_ROUNDS", 2)


def proved(instance: pp.Instance) -> list[str]:
    """The kinds of steps that proved the optimum, which is that of brute force."""
    result, certificate = prove(instance, params=WITHOUT_STATES)
    optimum = exact.solve(instance, "brute-force").value
    assert optimum is not None and result.value == pytest.approx(optimum, rel=1e-12, abs=1e-12)
    assert certificate is not None, result.log
    checked = exact.verify(instance, certificate)
    assert checked.ok, checked.errors
    assert checked.gap is not None and checked.gap < 1e-11
    return [step[0] for step in certificate.document["search"]]


def test_optima_by_branching_alone() -> None:
    kinds = [kind for instance in stubborn(1, 150) for kind in proved(instance)]
    assert "cover" in kinds and "split" in kinds


@pytest.mark.slow
def test_optima_by_branching_alone_at_length() -> None:
    for instance in stubborn(2, 5_000):
        proved(instance)


def test_certificates_verify_without_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verifier too can go without states: then pairs alone must close every branch."""
    monkeypatch.setattr(certified_states, "MOST_STATES", 0)
    monkeypatch.setattr(certified_states, "_MOST_AT_ONE", 1)
    closed = 0
    for instance in stubborn(3, 120):
        certificate = prove_without_enumeration(instance)
        if certificate is not None:
            closed += 1
            assert exact.verify(instance, certificate).ok
    assert closed > 60


def prove_without_enumeration(instance: pp.Instance) -> exact.Certificate | None:
    """A certificate whose steps all work without states, if the search needed no others."""
    _, certificate = prove(instance, params=WITHOUT_STATES)
    if certificate is None:
        return None
    kinds = {step[0] for step in certificate.document["search"]}
    return certificate if kinds <= {"coverage", "split", "cover", "closed"} else None


def test_branchings_on_coverage_alone_prove_nothing() -> None:
    for instance in stubborn(1, 150):
        _, certificate = prove(instance, params=WITHOUT_STATES)
        assert certificate is not None
        document = dict(certificate.document)
        search = [step for step in document["search"] if step[0] in ("split", "cover", "closed")]
        if "cover" in [step[0] for step in search]:
            del document["checksum"]
            checked = exact.verify(instance, sealed({**document, "search": search}))
            assert not checked.ok and "has states left" in checked.errors[0]
            return
    raise AssertionError("no instance branched on coverage")


def cheap_sets(case: dict[str, np.ndarray], room: int, b: int) -> list[int]:
    """All sets of holders of chunk b that lose less than `room`, by their definition."""
    workers = case["entry"].shape[0]
    found = []
    for bits in product((0, 1), repeat=workers):
        if any(
            (case["fix"][m, b] == INSIDE and not bit) or (case["fix"][m, b] == OUTSIDE and bit)
            for m, bit in enumerate(bits)
        ):
            continue
        lost = sum(
            int(case["entry"][m, b] if bit else case["leave"][m, b])
            for m, bit in enumerate(bits)
            if case["fix"][m, b] == FREE
        )
        holders, mu = sum(bits), int(case["multipliers"][b])
        if holders == 0 and case["must"][b]:
            continue
        lost += int(case["coverage"][b]) - mu if holders == 0 else mu * (holders - 1)
        if lost < room:
            found.append(sum(bit << m for m, bit in enumerate(bits)))
    return found


def test_fixing_is_what_all_cheap_sets_agree_on() -> None:
    """On roots only, so that nothing is inherited: the kernel and the verifier against all sets of holders."""
    rng = np.random.default_rng(5)
    changed = 0
    for _ in range(300):
        workers, n = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        shape = workers, n
        parent = np.full(n, -1)
        case = {
            "entry": rng.integers(0, 12, shape) * rng.integers(0, 2, shape),
            "leave": rng.integers(0, 12, shape) * rng.integers(0, 2, shape),
            "multipliers": rng.integers(0, 6, n),
            "coverage": rng.integers(6, 14, n),
            "fix": rng.choice(np.array([FREE, FREE, FREE, INSIDE, OUTSIDE], np.int8), shape),
        }
        case["must"] = (rng.random(n) < 0.3) & (case["fix"] != OUTSIDE).any(axis=0)
        room = int(rng.integers(1, 14))
        barred = (case["fix"] == OUTSIDE).all(axis=0)
        fix, must = case["fix"].copy(), case["must"].copy()
        alive = tighten(
            parent,
            case["coverage"],
            np.full(workers, n),
            case["multipliers"],
            case["entry"],
            case["leave"],
            room,
            fix,
            must,
        )
        never = 1 << 40
        pairs = Pairs(case["fix"] == INSIDE, case["fix"] == OUTSIDE, case["must"]).closed([-1] * n)
        assert pairs is not None
        checked = pairs.tightened(
            np.where(case["fix"] == OUTSIDE, never, np.where(case["fix"] == INSIDE, 0, case["entry"])),
            np.where(case["fix"] == INSIDE, never, np.where(case["fix"] == OUTSIDE, 0, case["leave"])),
            case["multipliers"],
            np.where(barred, 0, case["coverage"] - case["multipliers"]),
            room,
        )
        sets = [cheap_sets(case, room, b) if not barred[b] else [0] for b in range(n)]
        assert alive == (checked is not None) == all(sets)
        if not alive or checked is None:
            continue
        for b, found in enumerate(sets):
            for m in range(workers):
                inside, outside = all(s >> m & 1 for s in found), not any(s >> m & 1 for s in found)
                changed += int((inside or outside) and case["fix"][m, b] == FREE)
                assert (fix[m, b] == INSIDE) == inside == checked.inside[m, b]
                assert (fix[m, b] == OUTSIDE) == outside == checked.outside[m, b]
            if not barred[b]:
                assert must[b] == (0 not in found) == checked.held[b]
    assert changed > 100
