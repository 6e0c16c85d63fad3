"""The study of proofs: its grid beside MIP solvers, and the race among them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import prefixplace as pp
from prefixplace.lab import study_proofs
from prefixplace.lab.study_proofs import block_proofs, grid_instances, grid_rows, grid_table, shifted_mean


def test_the_short_blocks_are_proved_and_verified() -> None:
    rows = block_proofs(short=True)
    assert len(rows) == 29
    assert all(row.proved and row.verified for row in rows)
    assert all(row.certified_gap is not None and row.certified_gap < 1e-11 for row in rows)


def test_a_grid_has_a_row_for_every_back_end_and_they_agree() -> None:
    rows = grid_rows(
        grid_instances(workers=(2,), chunks=(40,), budgets=(0.1,)), backends=("branch-and-bound", "highs")
    )
    assert [(row.shape, row.backend) for row in rows] == [
        (shape, backend) for shape in ("RAG-shaped", "recursive") for backend in ("branch-and-bound", "highs")
    ]
    for own, other in zip(rows[::2], rows[1::2], strict=True):
        assert own.status == other.status == "optimal"
        assert own.value == pytest.approx(other.value, rel=1e-9)
    assert grid_table(rows).row_count == 2


def test_mip_solvers_are_spared_large_instances_and_race_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[str, float | None]] = []
    solve = study_proofs.exact.solve

    def recorded(instance: pp.Instance, name: str, *, budget: pp.Budget) -> pp.Result:
        limits.append((name, budget.seconds))
        return replace(solve(instance, name, budget=budget), seconds=2.0)

    monkeypatch.setattr(study_proofs.exact, "solve", recorded)
    instances = list(grid_instances(workers=(2,), chunks=(40,), budgets=(0.1,)))[:1]
    backends = ("branch-and-bound", "highs", "cp-sat")
    grid_rows(instances, backends=backends, time_limit=30.0, race=True)
    assert limits == [("branch-and-bound", 30.0), ("highs", 30.0), ("cp-sat", 2.0)]
    assert [row.backend for row in grid_rows(instances, backends=backends, largest_mip=1)] == [
        "branch-and-bound"
    ]


def test_the_shifted_mean_of_equal_times_is_that_time() -> None:
    assert shifted_mean([3.0, 3.0]) == pytest.approx(3.0)
    assert shifted_mean([0.0, 3.0]) == pytest.approx(1.0)
