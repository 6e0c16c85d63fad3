"""Table II: rows by hand, records that survive, and the study itself on a few instances."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import prefixplace as pp
from prefixplace.lab import table2_report
from prefixplace.lab.jobs import Records, run_jobs
from prefixplace.lab.study_table2 import COMPARATORS, OWN, PAPER, gain_rows, settings, solved, table_rows
from prefixplace.lab.table2_report import records_of, run_table2, table2_markdown, write_table2


def record(name: str, optimum: float, status: str = "optimal", **values: float) -> dict[str, Any]:
    methods = {**dict.fromkeys((*PAPER, *OWN, *COMPARATORS), optimum / 2), "exact": optimum, **values}
    facts = {
        "digest": "",
        "n": 1,
        "bound": optimum,
        "backend": "highs",
        "certified": None,
        "seconds": 1.0,
        "nodes": 1,
    }
    return {"name": name, "values": methods, "optimum": optimum, "status": status, **facts}


def test_rows_by_hand() -> None:
    records = [
        record("a", 100.0, greedy=80.0, prefixplace=100.0, independent=50.0, popularity=75.0),
        record("b", 10.0, greedy=10.0, prefixplace=9.0, independent=8.0),
        record("unproven", 1.0, status="feasible", greedy=0.1) | {"bound": 2.0},
    ]
    rows = {row.method: row for row in table_rows(records)}
    assert (rows["greedy"].mean, rows["greedy"].minimum, rows["greedy"].found) == (90.0, 80.0, 1)
    assert (rows["prefixplace"].mean, rows["prefixplace"].minimum, rows["prefixplace"].found) == (
        95.0,
        90.0,
        1,
    )
    assert rows["greedy"].instances == 2 and rows["greedy"].paper_found == 174
    assert rows["best"].mean == 50.0 and rows["best"].paper_mean is None
    # an instance without a proof counts against its bound, and is no optimum found
    proofs = rows["exact"]
    assert proofs.label == "this project: highs"
    assert (proofs.mean, proofs.found, proofs.instances) == (pytest.approx(250 / 3), 2, 3)
    gains = {row.comparator: row for row in gain_rows(records)}
    assert gains["independent"].mean == pytest.approx((100 + 12.5) / 2)
    assert gains["independent"].largest == 100.0
    best = gains["the best of each instance"]  # 75 and 8
    assert best.mean == pytest.approx((100 / 3 + 12.5) / 2) and best.largest == pytest.approx(100 / 3)
    assert best.optimum_mean == pytest.approx((100 / 3 + 25) / 2)


def test_nothing_yet_is_a_table_without_rows() -> None:
    assert table_rows([]) == [] and list(gain_rows([])) == []
    assert "No instance is solved yet." in table2_markdown([])


def test_the_settings_are_the_papers() -> None:
    assert len(settings()) == 432 and len({setting.name for setting in settings()}) == 432
    assert len(settings(short=True)) == 24


def test_one_instance_keeps_the_order_of_the_methods() -> None:
    for setting in settings()[::150]:
        found = solved(setting, "branch-and-bound", None)
        values, optimum = found["values"], found["optimum"]
        assert found["status"] == "optimal" and found["certified"] is True
        instance = setting.instance()
        assert found["digest"] == instance.digest
        chain = [values[name] for name in ("greedy", "refined", "order-starts", "prefixplace")]
        assert all(first <= second * (1 + 1e-12) for first, second in pairwise([*chain, optimum]))
        assert all(values[name] <= optimum * (1 + 1e-9) for name in COMPARATORS)
        assert values["independent"] == pp.solve(instance, "independent").value


def test_the_study_resumes_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = settings()[::300]
    monkeypatch.setattr(table2_report, "settings", lambda short=False: few[:1] if short else few)
    told: list[Any] = []
    begin = lambda done, total: told.append((done, total))  # noqa: E731
    assert run_table2(tmp_path, short=True, processes=1, begin=begin, finished=told.append) == []
    assert run_table2(tmp_path, processes=1, begin=begin, finished=told.append) == []
    assert told == [(0, 1), few[0].name, (1, 2), few[1].name]
    records = records_of(tmp_path, backend="branch-and-bound", short=False)
    assert [found["name"] for found in records] == [setting.name for setting in few]
    assert records_of(tmp_path, backend="highs", short=False) == []
    write_table2(tmp_path, records)
    assert "| greedy |" in (tmp_path / "table2.md").read_text()
    document = json.loads((tmp_path / "table2.json").read_text())
    assert (document["proven"], document["certified"]) == (2, 2)
    rows = list(csv.DictReader((tmp_path / "table2.csv").read_text().splitlines()))
    assert [row["name"] for row in rows] == [setting.name for setting in few]
    assert float(rows[0]["greedy"]) == records[0]["values"]["greedy"]


def test_proofs_and_certificates_are_counted() -> None:
    records = [
        record("a", 1.0) | {"certified": True, "seconds": 0.25},
        record("b", 1.0) | {"certified": True, "seconds": 0.5},
        record("c", 1.0) | {"certified": False, "seconds": 0.75},
        record("d", 1.0, status="feasible") | {"certified": False, "seconds": 120.0},
    ]
    text = table2_markdown(records)
    assert "Proofs by highs: 3 of 4, 122 s in all, median 0.625 s, longest 120 s." in text
    assert "Certificates verified in exact arithmetic: 2." in text
    # a back-end that writes none is not said to have failed at it
    assert "Certificates" not in table2_markdown([record("a", 1.0)])


def test_a_limit_proves_and_certifies_nothing() -> None:
    found = solved(settings()[0], "branch-and-bound", 0.0)
    assert found["status"] == "feasible" and found["certified"] is False
    assert found["values"]["exact"] >= found["values"]["prefixplace"] * (1 - 1e-12)


def test_other_back_ends_write_no_certificates() -> None:
    assert solved(settings()[0], "highs", None)["certified"] is None


def test_records_of_earlier_versions_are_solved_again(tmp_path: Path) -> None:
    kept = Records(tmp_path / "table2.jsonl")
    old = record(settings()[0].name, 1.0)
    del old["certified"]
    kept.add(old)
    assert records_of(tmp_path, backend="highs", short=False) == []
    kept.add(old | {"certified": None})
    assert len(records_of(tmp_path, backend="highs", short=False)) == 1


def half(number: int) -> dict[str, Any]:
    """A job that fails on odd numbers."""
    if number % 2:
        raise ValueError(f"{number} is odd")
    return {"half": number // 2}


def test_jobs_give_every_outcome_and_errors_as_values() -> None:
    outcomes = list(run_jobs(half, [(number,) for number in range(6)], processes=2))
    assert sorted(o["half"] for o in outcomes if isinstance(o, dict)) == [0, 1, 2]
    assert sorted(str(o) for o in outcomes if isinstance(o, ValueError)) == [
        "1 is odd",
        "3 is odd",
        "5 is odd",
    ]


def test_leaving_early_stops_the_processes() -> None:
    outcomes = run_jobs(half, [(0,)] * 50, processes=1)
    assert next(outcomes) == {"half": 0}
    outcomes.close()  # type: ignore[attr-defined]


def test_records_survive_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    kept = Records(path)
    kept.add({"name": "a"})
    kept.add({"name": "ρ"})
    with path.open("a") as file:
        file.write('{"name": "torn')
    again = Records(path)
    assert again.records == [{"name": "a"}, {"name": "ρ"}]
    again.add({"name": "c"})
    assert [r["name"] for r in Records(path).records] == ["a", "ρ", "c"]
    path.write_text("nonsense\n")
    with pytest.raises(pp.InputError, match="line 1: not readable as JSON"):
        Records(path)
