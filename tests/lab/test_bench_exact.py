"""The benchmark of the exact back-ends: what it measures, sums up and notices."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import prefixplace as pp
from prefixplace.lab.bench_exact import GROUPS, SHIFT, VARIANTS, ExactBenchmark, Run, run


def text(measured: ExactBenchmark) -> str:
    console = Console(width=160, file=StringIO())
    console.print(measured.tables())
    return console.file.getvalue()  # type: ignore[attr-defined]


def one(backend: str, value: float | None, bound: float | None, seconds: float, status: str) -> Run:
    return Run("g", "i", "digest", 4, 2, backend, value, bound, bound, status, "finished", seconds, None, "")


def test_a_run_agrees_with_itself_and_is_json() -> None:
    measured = run(
        "short", backends=["highs", "branch-and-bound"], groups=["three-partition"], seconds=3, building=False
    )
    assert {r.backend for r in measured.runs} == {"highs", "branch-and-bound"}
    assert {r.group for r in measured.runs} == {"three-partition"}
    assert measured.disagreements() == []
    figures = measured.to_dict()
    assert [row["group"] for row in figures["summary"]] == ["three-partition"] * 2 + ["all"] * 2
    assert all(row["runs"] == 2 for row in figures["summary"])
    assert "branch-and-bound" in text(measured)


def test_files_of_a_folder_and_refusals(tmp_path: Path) -> None:
    tree = pp.PrefixTree.from_parents([-1] * 70)
    large = pp.Instance.from_values(tree, local=[[1.0] * 70], coverage=[0.0] * 70, budgets=[2], name="large")
    pp.write_instance(large, tmp_path / "large.json")
    (tmp_path / "expected.json").write_text('{"large": {"opt": 2}}')
    measured = run(backends=["brute-force", "highs"], groups=[], folder=tmp_path, seconds=5, building=False)
    refused, solved = measured.runs
    assert (refused.stop_reason, refused.value) == ("refused", None)
    assert "62" in refused.message
    assert (solved.status, solved.value) == ("optimal", 2.0)
    assert "refuses" in text(measured)


def test_variants_of_the_formulation_agree(tmp_path: Path) -> None:
    tree = pp.PrefixTree.from_parents([-1, 0, -1, -1])
    tiny = pp.Instance.from_values(
        tree, local=[[0, 1, 0, 0], [0, 0, 0, 0]], coverage=[0, 0, 1, 1], budgets=[2, 1], name="tiny"
    )
    pp.write_instance(tiny, tmp_path / "tiny.json")
    names = ["highs", "branch-and-bound"]
    measured = run(backends=names, groups=[], folder=tmp_path, seconds=5, formulations=True, building=False)
    assert [one.backend for one in measured.runs] == [
        "highs",
        *(f"highs, {label}" for label in VARIANTS),
        "branch-and-bound",
    ]
    assert {(one.status, one.value) for one in measured.runs} == {("optimal", 2.0)}


def test_summary_by_hand() -> None:
    runs = [one("a", 10.0, 10.0, 1.0, "optimal"), one("b", 8.0, 12.5, 9.0, "feasible")]
    measured = ExactBenchmark("short", 10.0, 1, {}, {}, runs, [])
    a, b, *_ = measured.summary()
    assert (a["found"], a["proven"], a["gap"]) == (1, 1, 0.0)
    assert a["seconds"] == pytest.approx(1.0)
    assert (b["found"], b["proven"]) == (0, 0)
    assert b["seconds"] == pytest.approx(10.0)  # no proof: counted at the limit
    assert b["gap"] == pytest.approx(0.2)
    both = replace(measured, runs=[*runs, replace(runs[0], digest="other", seconds=3.0)])
    assert both.summary()[0]["seconds"] == pytest.approx(((1 + SHIFT) * (3 + SHIFT)) ** 0.5 - SHIFT)


def test_a_false_bound_is_named() -> None:
    runs = [one("honest", 10.0, 11.0, 1.0, "feasible"), one("liar", 8.0, 8.0, 1.0, "optimal")]
    measured = ExactBenchmark("short", 10.0, 1, {}, {}, runs, [])
    (line,) = measured.disagreements()
    assert line.startswith("liar bounds i by 8.0")
    assert line in text(measured).replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "huge"}, "unknown mode 'huge'"),
        ({"backends": ["gurobi"]}, "unknown back-end 'gurobi'"),
        ({"groups": ["easy"]}, f"unknown group 'easy'; known are {', '.join(GROUPS)}"),
    ],
)
def test_wrong_names(arguments: dict, message: str) -> None:
    with pytest.raises(pp.InputError, match=message):
        run(**arguments)
