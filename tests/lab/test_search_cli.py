"""``prefixplace search``, ``library`` and ``import`` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prefixplace as pp
from exact.certificates import certify, write_certificate
from instances.library import Library, check_row
from prefixplace.lab.cli.main import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Run the command line: (exit code, stdout, stderr)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def document(outcome: tuple[int, str, str], code: int = 0) -> Any:
    assert (outcome[0], outcome[2]) == (code, "")
    assert outcome[1].count("\n") == 1
    return json.loads(outcome[1])


def test_search_finds_a_half_and_goes_on_in_its_folder(run, tmp_path: Path) -> None:
    arguments = ("search", "greedy", "--chunks", 4, "--folder", tmp_path, "--json")
    first = document(run(*arguments, "--restarts", 2))
    assert (first["target"], first["restarts"], first["known"]) == ("greedy", 2, "½")
    assert first["limit"] == 0.5 < first["ratio"] < 0.51
    again = document(run(*arguments, "--restarts", 3))
    assert again["restarts"] == 3
    assert again["ratio"] <= first["ratio"]
    instance = pp.read_instance(tmp_path / "greedy-any-m2.json")
    assert instance.meta["record"] == again["record"]
    assert instance.budgets.tolist() == again["budgets"]
    code, out, _ = run("search", "greedy", "--chunks", 4, "--restarts", 1)
    assert code == 0
    assert "limit" in out


def test_search_table(run) -> None:
    arguments = ("search", "table", "--restarts", 1, "--chunks", 2)
    cells = document(run(*arguments, "--json"))["cells"]
    assert len(cells) == 4 * 7
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("| realism | greedy | refined |")
    assert out.count("\n") == 2 + 4


def test_search_for_nodes(run, tmp_path: Path) -> None:
    arguments = ("search", "mip-nodes", "--size", 48, "--workers", 2, "--node-limit", 5, "--json")
    found = document(run(*arguments, "--restarts", 1, "--folder", tmp_path))
    assert len(found["rag_shaped"]) == 3
    assert found["record"]["target"] == "mip-nodes"
    assert sum(found["budgets"]) == 24 == len(found["parent"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "tsp"), "unknown search target 'tsp'; known: greedy, refined"),
        (("search", "greedy", "--size", "3"), "--size does not belong to the search target 'greedy'"),
        (("search", "mip-nodes", "--realism", "any"), "--realism does not belong"),
        (("search", "table", "--time-limit", "3"), "limited by --restarts"),
        (("search", "greedy", "--realism", "x"), "unknown realism level 'x'"),
        (("library", "show", "x"), "the library has no row 'x'"),
        (("library", "list", "--library", "nowhere"), "No such file"),
        (("import", "tsp", "x"), "unknown kind 'tsp'"),
        (("import", "max-cut", "missing.rud"), "missing.rud: No such file"),
    ],
)
def test_bad_input_is_one_line(run, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_library_list_show_check(run, tmp_path: Path) -> None:
    rows = document(run("library", "list", "--json"))["rows"]
    assert len(rows) == len(Library())
    code, out, _ = run("library", "list")
    assert code == 0
    assert "parity-blocked-6-31" in out
    shown = document(run("library", "show", "compact-gap", "-o", tmp_path / "gap.json", "--json"))
    assert (shown["lower"], shown["upper"], shown["statistics"]["chunks"]) == (1, 1, 9)
    assert pp.read_instance(tmp_path / "gap.json").meta["compact_lp"] == 7
    checked = document(run("library", "check", "compact-gap", "max-cut-cycle", "--json"))
    assert [row["ok"] for row in checked["rows"]] == [True, True]
    code, out, _ = run("library", "check", "compact-gap")
    assert (code, out.strip()) == (0, "1 of 1 rows verified")


def test_library_check_fails_on_a_false_row(run, tmp_path: Path) -> None:
    library = Library.create(tmp_path / "mine")
    from instances.library.curation import Entry, add_entry

    add_entry(library, Entry("tight", "compact-gap"), 5)
    library.save()
    assert run("library", "check", "--library", library.folder)[0] == 0
    table = library.folder / "rows.json"
    table.write_text(table.read_text().replace('"lower":1', '"lower":0'))
    code, out, err = run("library", "check", "--library", library.folder)
    assert (code, err) == (1, "")
    assert "the plan is worth 1, not 0" in out


def test_library_update(run, tmp_path: Path) -> None:
    import exact
    from instances.library.curation import Entry, add_entry

    library = Library.create(tmp_path / "mine")
    add_entry(library, Entry("family", "rag-shaped", {"documents": 5, "queries": 3}), 0.0)
    library.save()
    instance = library.instance("rag-shaped-5-3")
    best = exact.solve(instance, "highs").placement
    write_certificate(certify(instance, best, exact.bound(instance)), tmp_path / "better.json")
    arguments = ("library", "update", "rag-shaped-5-3", tmp_path / "better.json", "--library", library.folder)
    code, out, err = run(*arguments, "--by", "HiGHS and column generation")
    assert (code, err) == (0, "")
    assert "→" in out
    assert check_row(Library(library.folder), "rag-shaped-5-3").ok
    assert Library(library.folder)["rag-shaped-5-3"].upper_by == "HiGHS and column generation"
    code, _, err = run(*arguments, "--by", "the same again")
    assert code == 2
    assert "improve nothing" in err


def test_import(run, tmp_path: Path) -> None:
    file = tmp_path / "small.bpp"
    file.write_text("3\n5\n2\n3\n5\n")
    shown = document(run("import", "bin-packing", file, "-o", tmp_path / "small.json", "--json"))
    assert shown["file"] == str(tmp_path / "small.json")
    instance = pp.read_instance(tmp_path / "small.json")
    assert (instance.num_chunks, instance.meta["opt"], instance.budgets.tolist()) == (10, 10, [5, 5])
    code, out, _ = run("import", "bin-packing", file, "--optimum", 3)
    assert code == 0
    assert "small.bpp" in out


def test_gallery_of_families(run, tmp_path: Path) -> None:
    from instances import FAMILIES
    from prefixplace.lab.gallery import family_gallery

    titles = [axes.get_title().partition("\n")[0] for axes in family_gallery().axes]
    assert [title for title in titles if title] == list(FAMILIES)
    assert run("families", "--png", tmp_path / "families.svg", "--json")[0] == 0
    assert (tmp_path / "families.svg").read_text().startswith("<?xml")
    code, _, err = run("families", "--png", tmp_path / "families.txt")
    assert code == 2
    assert "a picture ends in .png" in err
