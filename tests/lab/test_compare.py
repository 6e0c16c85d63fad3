"""The comparison: judged against brute force, honest about failures, interruptible."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import prefixplace as pp
from prefixplace.lab import compare as module
from prefixplace.lab import runs
from prefixplace.lab.compare import Comparison, InstanceComparison, compare
from prefixplace.lab.runs import Run


def small(seed: int = 0, pairwise: bool = False, name: str = "small") -> pp.Instance:
    """Six chunks, two workers, whole numbers."""
    rng = np.random.default_rng(seed)
    tree = pp.PrefixTree.from_parents([-1, 0, 0, 1, -1, 4])
    shape = (2, 2, 6) if pairwise else (2, 6)
    return pp.Instance(
        tree,
        demand=rng.integers(1, 9, (2, 6)),
        recompute=rng.integers(1, 9, (2, 6)),
        fetch=rng.integers(0, 9, shape),
        budgets=[2, 3],
        name=name,
    )


def optimum(instance: pp.Instance) -> float:
    """Best value over all placements, by trying them."""
    tree = instance.tree
    closed: list[list[np.ndarray[Any, Any]]] = []
    for budget in instance.budgets.tolist():
        found = []
        for size in range(budget + 1):
            for nodes in combinations(range(tree.n), size):
                mask = np.isin(np.arange(tree.n), nodes)
                if all(tree.parent[v] < 0 or mask[tree.parent[v]] for v in nodes):
                    found.append(mask)
        closed.append(found)
    return max(instance.objective.value(np.array(masks)) for masks in product(*closed))


@pytest.mark.parametrize("pairwise", [False, True])
def test_rows_are_judged_by_the_optimum(pairwise: bool) -> None:
    for seed in range(3):
        instance = small(seed, pairwise)
        one = compare(instance).instances[0]
        best = optimum(instance)
        assert one.best_value == pytest.approx(best, rel=1e-12)
        assert one.best_bound == pytest.approx(best, rel=1e-9)
        assert one.optimum_known and one.reference == "optimum"
        wanted = [name for name, method in pp.METHODS.items() if method.applies_to(instance)]
        assert [row.method for row in one.rows] == [
            *wanted,
            "branch-and-bound",
            "highs",
            "configuration-lp",
            "compact-lp",
        ]
        for row in one.rows:
            assert row.reason == "" and row.seconds >= 0
            if row.kind == "bound":
                assert row.bound is not None and row.ratio is not None
                assert row.bound >= best * (1 - 1e-9)
                assert row.ratio == pytest.approx(row.bound / best)
                continue
            assert row.value is not None and row.value <= best * (1 + 1e-12)
            assert row.ratio == pytest.approx(row.value / best)
            assert row.gap == pytest.approx((best - row.value) / best, abs=1e-9)
            assert row.status == ("optimal" if row.value >= best * (1 - 1e-9) else "feasible")
            assert row.guarantee is None or 0.5 <= row.guarantee < 1
            if row.guarantee:
                assert row.ratio >= row.guarantee
        assert one.audit is not None
        method, audit = one.audit
        heuristics = {row.method: row.value for row in one.rows if row.kind == "heuristic"}
        assert audit.ok and audit.value == heuristics[method] == max(heuristics.values())  # type: ignore[type-var]
        assert [kind for kind, _, _ in audit.ratios] == ["configuration-lp", "compact-lp"]


def test_without_a_heuristic_there_is_no_plan_to_audit() -> None:
    one = compare(small(0, False), methods=["highs"], bounds=[]).instances[0]
    assert one.audit is None and one.to_dict()["audit"] is None


def test_without_a_bound_there_is_no_ratio() -> None:
    one = compare(small(), ["greedy"], []).instances[0]
    assert one.best_bound is None and one.reference == "nothing"
    assert one.rows[0].ratio is None and one.rows[0].gap is None and one.rows[0].status == "feasible"
    assert "no bound" in text(compare(small(), ["greedy"], []))


def test_ratio_to_the_best_bound_when_the_optimum_is_unknown() -> None:
    runs_ = [Run("a", "heuristic", value=8.0), Run("b", "bound", bound=12.0), Run("c", "bound", bound=10.0)]
    one = InstanceComparison.of(small(), runs_)
    assert (one.best_value, one.best_bound, one.best_bound_by, one.reference) == (
        8.0,
        10.0,
        "c",
        "best bound",
    )
    assert [row.ratio for row in one.rows] == [0.8, 1.2, 1.0]
    assert [row.gap for row in one.rows] == pytest.approx([0.2, 1 / 3, 0.2])


def test_the_strongest_proof_is_named() -> None:
    runs_ = [
        Run("claim", "exact", value=9.0, bound=9.0, proof="solver-claim"),
        Run("proof", "exact", value=9.0, bound=9.0 * (1 + 1e-12), proof="exact"),
        Run("float", "bound", bound=9.0, proof="float"),
    ]
    one = InstanceComparison.of(small(), runs_)
    assert (one.best_bound, one.best_bound_by, one.optimum_known) == (9.0, "proof", True)


def test_a_false_bound_is_dropped_and_named() -> None:
    runs_ = [
        Run("a", "heuristic", value=8.0),
        Run("liar", "exact", value=7.0, bound=7.0, proof="solver-claim"),
    ]
    one = InstanceComparison.of(small(), runs_)
    assert one.best_bound is None
    assert one.rows[1].bound is None and one.rows[1].proof == "none" and one.rows[1].status == "feasible"
    assert one.rows[1].reason == "claims the bound 7.0, but a reached 8.0"


def test_nothing_to_gain_is_optimal() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    zero = pp.Instance(tree, demand=[[0, 0]], recompute=[[1, 1]], fetch=[[1, 1]], budgets=[1])
    one = compare(zero).instances[0]
    assert one.best_value == one.best_bound == 0.0
    assert {row.status for row in one.rows if row.kind != "bound"} == {"optimal"}
    assert {row.ratio for row in one.rows} == {1.0}


def test_names_are_checked_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_method", lambda *_: pytest.fail("it ran"))
    with pytest.raises(pp.InputError, match=r"unknown method 'nope'; known are greedy, .*highs"):
        compare(small(), ["greedy", "nope"])
    with pytest.raises(pp.InputError, match=r"unknown bound 'nope'; known are .*compact-lp"):
        compare(small(), ["greedy"], ["nope"])


def test_a_failing_method_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    real = runs.solve_heuristic

    def fails(instance: pp.Instance, method: str, **kwargs: Any) -> pp.Result:
        if method == "refined":
            raise MemoryError("no room for\nthe table")
        return real(instance, method, **kwargs)

    monkeypatch.setattr(runs, "solve_heuristic", fails)
    comparison = compare(small(), ["greedy", "refined", "popularity"], [])
    broken = comparison.instances[0].rows[1]
    assert (broken.status, broken.stop_reason, broken.value) == ("none", "error", None)
    assert broken.reason == "MemoryError: no room for the table"
    assert [row.status for row in comparison.instances[0].rows] == ["feasible", "none", "feasible"]
    assert "refined: MemoryError: no room for the table" in text(comparison)


def test_a_method_of_the_other_objective_is_a_row_with_its_reason() -> None:
    rows = compare(small(), ["mean-rate", "greedy"], []).instances[0].rows
    assert rows[0].reason == "method 'mean-rate' is defined for pairwise instances only"
    assert rows[1].value is not None


def test_ctrl_c_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    real = runs.solve_heuristic

    def interrupted(instance: pp.Instance, method: str, **kwargs: Any) -> pp.Result:
        if method == "refined" and instance.name == "second":
            raise KeyboardInterrupt
        return real(instance, method, **kwargs)

    monkeypatch.setattr(runs, "solve_heuristic", interrupted)
    comparison = compare(
        [small(name="first"), small(name="second"), small(name="third")], ["greedy", "refined"], []
    )
    assert comparison.interrupted
    assert [[row.method for row in one.rows] for one in comparison.instances] == [
        ["greedy", "refined"],
        ["greedy"],
    ]
    assert "interrupted" in text(comparison)
    assert "interrupted" in comparison._repr_html_()


def test_a_method_that_ended_on_ctrl_c_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "run_method", lambda instance, name, *_: Run(name, "heuristic", value=1.0, stop_reason="user")
    )
    comparison = compare(small(), ["greedy", "refined"], [])
    assert comparison.interrupted
    assert [row.method for row in comparison.instances[0].rows] == ["greedy"]


def test_json_csv_and_frame_tell_the_same() -> None:
    comparison = compare([small(1), small(2, pairwise=True)])
    document = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [one["name"] for one in document["instances"]] == ["small", "small"]
    assert [one["objective"] for one in document["instances"]] == ["requester-side", "pairwise"]
    assert {"n", "workers", "rows", "best_value", "best_bound"} <= set(document["instances"][0])
    flat = [row for one in document["instances"] for row in one["rows"]]
    read = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    frame = comparison.to_frame()
    assert len(flat) == len(read) == len(frame)
    for row, line, method, value in zip(flat, read, frame["method"], frame["value"], strict=True):
        assert row["method"] == line["method"] == method
        assert line["value"] == ("" if row["value"] is None else repr(row["value"]))
        assert np.isnan(value) if row["value"] is None else value == row["value"]
    assert Comparison(()).to_csv() == "" and len(Comparison(()).to_frame()) == 0


def test_html_escapes_names() -> None:
    html = compare(small(name="<script>alert(1)</script>"), ["greedy"], [])._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_the_table_fits_80_columns() -> None:
    comparison = compare(small(name="x [bold]y[/]"))
    lines = text(comparison, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    for row in comparison.instances[0].rows:
        assert sum(line.startswith(row.method + " ") for line in lines) == 1
    assert lines[0].startswith("x [bold]y[/]: 6 chunks, 2 workers, requester-side")


def text(comparison: Comparison, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(comparison.table, markup=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
