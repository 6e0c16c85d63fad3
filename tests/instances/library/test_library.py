"""The library: every row re-verified, tampering noticed, only verified improvements accepted."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import exact
import prefixplace as pp
from exact.certificates import certify, issue, write_certificate
from instances.library import PACKAGED, Library, check_row, update_row
from instances.library.checking import enumerated_optimum, rounded_down
from instances.library.curation import CURATED, Entry, add_entry, add_record
from instances.library.page import library_markdown
from instances.reductions import IndependentSet, MaxCut
from instances.search import SearchParams, search
from prefixplace.documents import read_json, write_json
from tests.brute import optimum, random_instance

LIBRARY = Library()
SMALL = [row.name for row in LIBRARY if LIBRARY.path("instances", row).stat().st_size < 1500]


@pytest.fixture
def mine(tmp_path: Path) -> Library:
    """A small library of its own: a tight row, an enumerated one, a stated one, an open one, a record."""
    library = Library.create(tmp_path / "library")
    add_entry(library, Entry("tight", "one-order-half"), 10)
    # without time for the provers, the other proofs have to serve
    add_entry(library, Entry("reduction", "max-cut"), 0.0)
    add_entry(library, Entry("reduction", "independent-set"), 0.0)
    add_entry(library, Entry("family", "rag-shaped", {"documents": 5, "queries": 3}), 0.0)
    record = search("greedy", SearchParams(chunks=4, kicks=2), restarts=2, seed=1)
    assert record is not None
    add_record(library, record.instance, 10)
    library.save()
    return Library(library.folder)


def test_packaged_library_is_small_and_complete() -> None:
    size = sum(file.stat().st_size for file in PACKAGED.rglob("*") if file.is_file())
    assert size <= 5 * 2**20
    assert {entry.name for entry in CURATED} <= set(LIBRARY.rows)
    assert {row.group for row in LIBRARY} == {"tight", "reduction", "family", "record"}
    assert len({entry.name for entry in CURATED}) == len(CURATED)


@pytest.mark.parametrize("name", SMALL)
def test_small_rows_verify(name: str) -> None:
    assert check_row(LIBRARY, name).errors == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIBRARY.rows if name not in SMALL])
def test_all_other_rows_verify(name: str) -> None:
    assert check_row(LIBRARY, name).errors == ()


@pytest.mark.parametrize("row", list(LIBRARY), ids=lambda row: row.name)
def test_bounds_are_in_order_and_tight(row) -> None:
    assert row.lower <= row.upper
    if row.group in ("tight", "reduction", "record"):
        assert row.solved
    assert (row.upper - row.lower) <= row.upper / 100


def test_own_library_is_right(mine: Library) -> None:
    assert [row.proof for row in mine][:3] == ["certificate", "enumeration", "stated"]
    assert [check_row(mine, row.name).errors for row in mine] == [()] * 5
    assert mine["independent-set"].upper == 54
    assert mine["rag-shaped-5-3"].upper > mine["rag-shaped-5-3"].lower
    assert "| independent-set | 45 | 10 | 54 | 54 | 0 | stated |" in library_markdown(mine)
    with pytest.raises(pp.InputError, match="no row 'max'; it has max-cut"):
        mine["max"]
    with pytest.raises(pp.InputError, match="holds a library already"):
        Library.create(mine.folder)


def tamper(library: Library, name: str, **changes: object) -> Library:
    document = read_json(library.folder / "rows.json")
    row = next(data for data in document["rows"] if data["name"] == name)
    row.update(changes)
    write_json(document, library.folder / "rows.json")
    return Library(library.folder)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("one-order-half", {"upper": 2011}, "the proof gives 2010, not 2011"),
        ("one-order-half", {"lower": 2011, "upper": 2010}, "lower = 2011 is above upper"),
        ("one-order-half", {"lower": 2009}, "the plan is worth 2010, not 2009"),
        ("one-order-half", {"digest": "0"}, "the instance has the digest"),
        ("one-order-half", {"proof": "hope"}, "unknown proof 'hope'"),
        ("max-cut", {"upper": "19/2"}, "the proof gives 9, not 19/2"),
        ("independent-set", {"upper": 55}, "the proof gives 54, not 55"),
        ("independent-set", {"source": {"family": "star", "settings": {}, "seed": 0}}, "the family draws"),
        ("rag-shaped-5-3", {"proof": "stated"}, "states no optimum"),
        ("record-greedy-any-m2", {"source": {"record": {"target": "greedy", "ratio": "1/9"}}}, "not 1/9"),
    ],
)
def test_false_rows_are_noticed(mine: Library, name: str, changes: dict, message: str) -> None:
    errors = check_row(tamper(mine, name, **changes), name).errors
    assert any(message in error for error in errors), errors


def test_false_files_are_noticed(mine: Library) -> None:
    row = mine["one-order-half"]
    shutil.copy(mine.path("instances", mine["max-cut"]), mine.path("instances", row))
    assert any("digest" in error for error in check_row(mine, row.name).errors)
    mine.path("plans", mine["max-cut"]).unlink()
    assert any("No such file" in error for error in check_row(mine, "max-cut").errors)


def test_update_accepts_only_verified_improvements(mine: Library, tmp_path: Path) -> None:
    name, file = "rag-shaped-5-3", tmp_path / "claim.json"
    instance, row = mine.instance(name), mine[name]
    empty = pp.Placement.empty(instance.tree, instance.num_workers)
    write_certificate(issue(instance, empty, "trivial", {}), file)
    with pytest.raises(pp.InputError, match="improve nothing"):
        update_row(mine, name, file, "nobody")
    best = exact.solve(instance, "highs").placement
    good = certify(instance, best, exact.bound(instance, "configuration-lp"))
    false = dict(good.document)
    false["bound"] = str(good.value)
    write_json(false, file)
    with pytest.raises(pp.InputError, match="checksum|bound"):
        update_row(mine, name, file, "a liar")
    assert Library(mine.folder)[name] == row
    write_certificate(good, file)
    before, after = update_row(mine, name, file, "column generation")
    assert (before, after.upper_by) == (row, "column generation")
    assert after.upper < before.upper
    assert check_row(Library(mine.folder), name).ok
    with pytest.raises(pp.InputError, match="improve nothing"):
        update_row(mine, name, file, "again")
    other = certify(
        mine.instance("max-cut"),
        pp.Placement.empty(mine.instance("max-cut").tree, 10),
        exact.bound(mine.instance("max-cut"), "configuration-lp"),
    )
    write_certificate(other, file)
    with pytest.raises(pp.InputError):
        update_row(mine, name, file, "someone else")


def test_update_takes_plans(mine: Library, tmp_path: Path) -> None:
    name = "one-order-half"
    instance = mine.instance(name)
    poor = issue(instance, pp.Placement.empty(instance.tree, 2), "trivial", {})
    write_certificate(poor, mine.path("plans", mine[name]))
    worse = tamper(mine, name, lower=0)
    pp.write_plan(pp.solve(instance, "prefixplace"), tmp_path / "plan.json", instance)
    before, after = update_row(worse, name, tmp_path / "plan.json", "Algorithm 1")
    assert (before.lower, after.lower, after.lower_by) == (0, 2010, "Algorithm 1")
    assert check_row(Library(mine.folder), name).ok


def test_enumeration_and_rounding() -> None:
    rng = np.random.default_rng(0)
    for pairwise in (False, True):
        for _ in range(10):
            instance = random_instance(rng, n=5, workers=2, pairwise=pairwise, whole=True)
            assert enumerated_optimum(instance) == optimum(instance)
    petersen = IndependentSet().sample()
    assert rounded_down(petersen, Fraction(109, 2)) == 54
    assert rounded_down(MaxCut().sample(), Fraction(10)) == 10
    with pytest.raises(pp.InputError, match="too many closed sets to enumerate"):
        enumerated_optimum(IndependentSet(graph="cubic", vertices=40).sample())
    with pytest.raises(pp.InputError, match="4096 placements are too many to enumerate"):
        enumerated_optimum(MaxCut(graph="half-dense").sample())


def test_broken_tables(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"format": "something"}')
    with pytest.raises(pp.InputError, match="not a library of version 1"):
        Library(tmp_path)
    (tmp_path / "rows.json").write_text(
        json.dumps({"format": "prefixplace-library", "version": 1, "rows": [{"name": "x"}]})
    )
    with pytest.raises(pp.InputError, match="a library row has the fields name, group"):
        Library(tmp_path)
    with pytest.raises(pp.InputError, match="No such file"):
        Library(tmp_path / "nowhere")
