"""The study of bounds on instances small enough for a test, and the plot of a bound over time."""

from __future__ import annotations

import json

import numpy as np
import pytest

import exact
import prefixplace as pp
from instances.families.rag import RagShaped
from prefixplace.lab.bound_plot import bound_curves
from prefixplace.lab.study_bounds import (
    BlockRow,
    BoundRow,
    block_rows,
    block_table,
    bound_table,
    bounds_document,
    large_bounds,
    large_instances,
)
from tests.brute import random_instance


@pytest.fixture(scope="module")
def rows() -> list[BoundRow]:
    seen: list[BoundRow] = []
    few = RagShaped(documents=6, sharing=0.5).sample(0)
    many = random_instance(np.random.default_rng(0), n=8, workers=20)
    found = large_bounds([few, many], kinds=("coverage-dual", "budget-dual"), gap=1e-3, progress=seen.append)
    assert found == seen
    return found


def test_rows_are_certified_or_say_why_not(rows: list[BoundRow]) -> None:
    assert [(row.workers, row.kind) for row in rows] == [
        (w, kind) for w in (3, 20) for kind in ("coverage-dual", "budget-dual")
    ]
    for row in rows[:3]:
        assert row.bound is not None and row.rounded is not None and row.certified is not None
        assert row.rounded * (1 - 1e-12) <= row.certified <= row.bound * (1 + 1e-12)
        assert row.plan_gap is not None and row.rounded_gap is not None
        assert row.plan_gap >= row.rounded_gap >= 0
        assert row.seconds > 0 and row.verify_seconds is not None
    assert rows[3].bound is None and rows[3].plan_gap is None and "holder states" in rows[3].stop_reason


def test_summaries() -> None:
    def row(kind: str, plan: float, bound: float, rounded: float) -> BoundRow:
        return BoundRow("x", 9, 2, kind, plan, 0.1, bound, rounded, 2.0, "finished")

    found = block_rows(
        [
            row("a", 8.0, 10.0, 9.0),
            row("b", 8.0, 10.0, 10.0),
            row("a", 4.0, 8.0, 5.0),
            row("b", 4.0, 5.0, 4.0),
        ]
    )
    assert found[0] == BlockRow("a", 2, 1, pytest.approx(3 / 16), pytest.approx(3 / 8), 2.0, 2.0)  # type: ignore[arg-type]
    assert (found[1].closed, found[1].largest_gap) == (2, 0.0)


def test_tables_and_json(rows: list[BoundRow]) -> None:
    blocks = [BlockRow("a", 2, 1, 0.1, 0.2, 1.0, 2.0)]
    document = json.loads(json.dumps(bounds_document(blocks, rows)))
    assert document["large"][0]["kind"] == "coverage-dual" and document["blocks"][0]["closed"] == 1
    assert bound_table(rows).row_count == 4 and block_table(blocks).row_count == 1


def test_instances_of_the_study() -> None:
    first = next(large_instances(short=True))
    assert (first.num_workers, round(first.num_chunks, -3)) == (4, 10_000)


def test_curves_show_bound_and_master() -> None:
    instance = random_instance(np.random.default_rng(7), n=8, workers=3)
    bounds = [exact.bound(instance, kind) for kind in ("configuration-lp", "budget-dual", "coverage-dual")]
    axes = bound_curves(bounds).axes[0]
    assert len(axes.lines) == 6 and axes.get_ylabel().endswith("least bound")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [b.kind for b in bounds]
    assert bound_curves(bounds[:1], optimum=1.0).axes[0].get_ylabel().endswith("optimum")
    other = exact.bound(random_instance(np.random.default_rng(8), n=8, workers=3), "trivial")
    for wrong in ([], [bounds[0], other], bounds * 3):
        with pytest.raises(pp.InputError):
            bound_curves(wrong)
