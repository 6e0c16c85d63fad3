"""A verifier is worth what it rejects: every field of every kind of certificate is corrupted here."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.certificates import issue
from exact.certificates.certificate import KINDS, Certificate, sealed
from tests.brute import placements, random_instance

Document = dict[str, Any]
KIND_OF_BOUND = {
    "trivial": "trivial",
    "coverage-dual": "coverage-dual",
    "configuration-lp": "coverage-dual",
    "compact-lp": "coverage-dual",
    "budget-dual": "budget-dual",
}
DUAL_KINDS = ("trivial", "coverage-dual", "budget-dual")
"""The kinds of this file; the tests of branch and bound corrupt their own."""


@pytest.fixture(scope="module")
def instance() -> pp.Instance:
    """Two workers, real-valued data, an optimum that keeps chunks on both."""
    rng = np.random.default_rng(3)
    tree = pp.PrefixTree.from_parents([-1, 0, 0, 1, -1, 4])
    return pp.Instance(
        tree,
        demand=rng.random((2, 6)) + 0.5,
        recompute=rng.random((2, 6)) + 2.0,
        fetch=rng.random((2, 6)) + 1.0,
        budgets=[3, 2],
    )


@pytest.fixture(scope="module")
def best(instance: pp.Instance) -> pp.Placement:
    return pp.Placement(instance.tree, max(placements(instance), key=instance.objective.value))


@pytest.fixture(scope="module")
def certificates(instance: pp.Instance, best: pp.Placement) -> dict[str, Certificate]:
    """One of every kind. Multipliers are moved inside their range, so that both limits can be overstepped."""
    found = {}
    for kind in ("coverage-dual", "budget-dual"):
        found[kind] = exact.certify(instance, best, exact.bound(instance, kind))
    found["trivial"] = issue(instance, best, "trivial", {})
    return found


@pytest.mark.parametrize("kind", DUAL_KINDS)
def test_certificates_pass_and_survive_a_file(
    kind: str, instance: pp.Instance, certificates: dict[str, Certificate], tmp_path: Path
) -> None:
    certificate = certificates[kind]
    for name in ("c.json", "c.json.gz"):
        exact.write_certificate(certificate, tmp_path / name)
        again = exact.read_certificate(tmp_path / name)
        checked = exact.verify(instance, again)
        assert checked.ok and checked and not checked.errors
        assert (checked.value, checked.bound) == (again.value, again.bound)
        assert checked.gap == again.gap == (again.bound - again.value) / again.bound
        assert again.kind == kind


def other(value: Any) -> list[Any]:
    """Wrong versions of one JSON value."""
    if isinstance(value, bool) or value is None:
        return [0, -1, "x"]
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, float(value), str(value), True, None, 10**30]
    if isinstance(value, str):
        return [value + "0", "0", "1/0", "nan", "1e9", " 1", "", 7, None]
    if isinstance(value, list):
        return [value + value[:1], value[:-1], value[::-1], [], {}, None, "x", 3]
    return [{}, {**value, "more": 1}, [], None]


def corruptions(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Every place of a document with every wrong value for it."""
    found = [(path, wrong) for wrong in other(node) if json.dumps(wrong) != json.dumps(node)] if path else []
    if isinstance(node, dict):
        for name in node:
            found += corruptions(node[name], (*path, name))
    elif isinstance(node, list):
        for i in range(len(node)):
            found += corruptions(node[i], (*path, i))
    return found


def replaced(document: Document, path: tuple[Any, ...], wrong: Any) -> Document:
    changed: Any = copy.deepcopy(dict(document))
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    return changed  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", DUAL_KINDS)
def test_no_corrupted_field_passes(
    kind: str, instance: pp.Instance, certificates: dict[str, Certificate]
) -> None:
    """Every value of the document is replaced by wrong ones; as it is, and with the checksum made to fit."""
    document = dict(certificates[kind].document)
    cases = corruptions(document)
    assert len(cases) > 100
    for path, wrong in cases:
        changed = replaced(document, path, wrong)
        assert not exact.verify(instance, Certificate(changed)).ok, (path, wrong)
        forged = sealed(changed)
        checked = exact.verify(instance, forged)
        if path == ("checksum",):
            assert checked.ok  # sealing has repaired it
        elif checked.ok:
            # other multipliers that prove the same true bound are no lie; nothing else may differ
            assert path[0] in ("coverage_multipliers", "budget_prices", "denominator"), (
                path,
                wrong,
            )
            assert (checked.value, checked.bound) == (certificates[kind].value, certificates[kind].bound)
            assert certificates[kind].bound >= certificates[kind].value  # the plan is an optimum
        else:
            assert checked.errors


@pytest.mark.parametrize("kind", DUAL_KINDS)
def test_missing_and_extra_fields(
    kind: str, instance: pp.Instance, certificates: dict[str, Certificate]
) -> None:
    document = dict(certificates[kind].document)
    for name in document:
        less = {key: entry for key, entry in document.items() if key != name}
        if name != "checksum":
            less = dict(sealed(less).document)
        assert not exact.verify(instance, Certificate(less)).ok, name
    assert not exact.verify(instance, sealed({**document, "note": "hello"})).ok
    wrong_kinds = [k for k in KINDS if k != kind]
    for wrong in wrong_kinds:
        assert not exact.verify(instance, sealed({**document, "kind": wrong})).ok


def rejected(
    instance: pp.Instance, certificate: Certificate, change: Callable[[Document], None], words: str
) -> None:
    document: Document = copy.deepcopy(dict(certificate.document))
    change(document)
    checked = exact.verify(instance, sealed(document))
    assert not checked.ok
    assert words in checked.errors[0], checked.errors


def test_reasons_name_what_is_wrong(instance: pp.Instance, certificates: dict[str, Certificate]) -> None:
    dual, prices = certificates["coverage-dual"], certificates["budget-dual"]
    one = dual.document["denominator"]

    def put(*path: Any) -> Callable[[Document], None]:
        *way, last, wrong = path

        def change(document: Any) -> None:
            for step in way:
                document = document[step]
            document[last] = wrong

        return change

    rejected(instance, dual, put("bound", str(dual.value)), "stated bound")
    rejected(instance, dual, put("value", str(dual.bound)), "stated value")
    rejected(instance, dual, put("instance_digest", "0" * 64), "another instance")
    rejected(instance, dual, put("coverage_multipliers", 0, -1), "not a whole number")
    rejected(instance, dual, put("coverage_multipliers", 0, 10**6 * one), "above its range")
    rejected(instance, dual, put("coverage_multipliers", 0, 1.5), "not a whole number")
    rejected(instance, dual, put("budget_prices", 1, -1), "not a whole number")
    rejected(instance, prices, put("budget_prices", 1, None), "not a whole number")
    rejected(instance, dual, put("plan", "workers", 0, [3]), "without its parent")
    rejected(instance, dual, put("plan", "workers", 0, [0, 1, 2, 3]), "budget of 3")
    rejected(instance, dual, put("plan", "workers", 0, [1, 0]), "not ascending")
    rejected(instance, dual, put("plan", "workers", 0, [0, 0]), "not ascending")
    rejected(instance, dual, put("plan", "workers", 0, [6]), "chunk numbers below 6")
    rejected(instance, dual, put("plan", "workers", 0, [False]), "chunk numbers below 6")


def test_the_same_certificate_for_another_instance(
    instance: pp.Instance, certificates: dict[str, Certificate]
) -> None:
    twin = pp.Instance(
        instance.tree,
        demand=instance.demand,
        recompute=instance.recompute,
        fetch=np.asarray(instance.fetch) * (1 + 2**-50),
        budgets=instance.budgets,
    )
    for certificate in certificates.values():
        assert not exact.verify(twin, certificate).ok
        forged = sealed({**certificate.document, "instance_digest": twin.digest})
        assert not exact.verify(twin, forged).ok


@pytest.mark.parametrize("kind", KIND_OF_BOUND)
@pytest.mark.parametrize("pairwise", [False, True])
def test_every_bound_has_a_certificate(kind: str, pairwise: bool) -> None:
    instance = random_instance(np.random.default_rng(8), n=7, workers=3, pairwise=pairwise)
    bound = exact.bound(instance, kind)
    assert bound.placement is not None
    certificate = exact.certify(instance, bound.placement, bound)
    checked = exact.verify(instance, certificate)
    assert checked.ok and checked.bound is not None
    assert certificate.kind in (KIND_OF_BOUND[kind], "coverage-dual")
    assert float(checked.bound) <= bound.bound * (1 + 1e-12)
    assert checked.value == certificate.value <= certificate.bound


def test_certificates_refuse_strangers(instance: pp.Instance, best: pp.Placement) -> None:
    bound = exact.bound(instance, "trivial")
    stranger = random_instance(np.random.default_rng(1), n=6, workers=2)
    with pytest.raises(pp.InputError, match="another instance"):
        exact.certify(stranger, pp.Placement.empty(stranger.tree, 2), bound)
    with pytest.raises(pp.InputError, match="another tree"):
        exact.certify(instance, pp.Placement.empty(stranger.tree, 2), bound)


def test_whole_number_data_round_the_bound_down() -> None:
    """Configuration LP 2.5, optimum 2: values are whole, so the certificate proves optimality."""
    tree = pp.PrefixTree.from_parents([-1, 0, -1, -1])
    instance = pp.Instance.from_values(
        tree, local=[[0, 1, 0, 0], [0, 0, 0, 0]], coverage=[0, 0, 1, 1], budgets=[2, 1]
    )
    bound = exact.bound(instance, "configuration-lp")
    assert bound.bound == pytest.approx(2.5) and bound.placement is not None
    checked = exact.verify(instance, exact.certify(instance, bound.placement, bound))
    assert checked.optimal and checked.bound == 2


def test_the_verifier_loads_neither_solver_nor_oracle() -> None:
    program = (
        "import sys, exact.certificates.verification\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('highspy', 'ortools', 'pulp', 'scipy', 'numba')"
        " or m.startswith(('prefixplace.oracle', 'prefixplace.planner', 'exact.bounds', 'exact.backends'))]\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
