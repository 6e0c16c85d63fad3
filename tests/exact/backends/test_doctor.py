"""The doctor: its tiny instance, and what it says of back-ends that work, are absent, fail, and lie."""

from __future__ import annotations

import pytest

import exact.doctor
import exact.solving
from exact.backend import Availability, Outcome
from exact.doctor import OPTIMUM, examine
from tests.brute import optimum
from tests.exact.backends.test_traps import Liar


def test_the_tiny_instance_has_the_optimum_it_claims() -> None:
    instance, start = exact.doctor._tiny()
    assert optimum(instance) == OPTIMUM
    assert instance.value(start) == 1.0
    assert exact.bound(instance, "compact-lp").bound == pytest.approx(2.5)


def test_what_is_here_works() -> None:
    found = {one.name: one for one in examine(["brute-force", "highs", "cp-sat", "branch-and-bound"])}
    assert {one.verdict for one in found.values()} == {"works"}
    assert {name: one.start for name, one in found.items()} == {
        "brute-force": "not taken",
        "highs": "accepted",
        "cp-sat": "accepted",
        "branch-and-bound": "kept",
    }
    assert found["highs"].bound_proof == "solver-claim"
    assert found["brute-force"].bound_proof == "float"


@pytest.mark.parametrize(
    ("bounds", "then", "verdict"),
    [
        ([1.5], Outcome("finished"), "wrong"),
        ([2.5], Outcome("finished"), "no proof"),
        ([2.5], RuntimeError("crash"), "failed"),
    ],
)
def test_verdicts(monkeypatch: pytest.MonkeyPatch, bounds: list, then: object, verdict: str) -> None:
    table = {"liar": Liar([], bounds, then)}  # type: ignore[arg-type]
    monkeypatch.setattr(exact.solving, "BACKENDS", table)
    monkeypatch.setattr(exact.doctor, "BACKENDS", table)
    (one,) = examine()
    assert one.verdict == verdict


def test_absent_back_ends_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    liar = Liar([], [], Outcome("finished"))
    liar.available = lambda: Availability(False, "not here", "pip install it")  # type: ignore[method-assign]
    table = {"liar": liar}
    monkeypatch.setattr(exact.solving, "BACKENDS", table)
    monkeypatch.setattr(exact.doctor, "BACKENDS", table)
    (one,) = examine()
    assert (one.verdict, one.detail, one.hint) == ("unavailable", "not here", "pip install it")
