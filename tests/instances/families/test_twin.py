"""Twins of traces: what is measured, what is kept, and how close they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from instances.families.twin import TraceTwin, fit_trace, forest_statistics, twin_log
from prefixplace.demand import Requests
from tests.shared import shared_dir

LOG = [["s", "a"], ["s", "b", "c"], [], ["s", "a", "x"], ["t"], ["s", "b", "c"]]


def test_fit_by_hand() -> None:
    fit = fit_trace(LOG)
    assert fit.length.tolist() == [2, 3, 3, 1, 3]
    assert fit.reuse.tolist() == [0, 1, 2, 0, 3]
    assert fit.age.tolist() == [0, 1, 2, 0, 3]  # requests without chunks are not counted
    with pytest.raises(pp.InputError, match="no request with a chunk"):
        fit_trace([[], []])


def test_statistics_by_hand() -> None:
    requests = Requests.from_paths([p for p in LOG if p])
    tree = requests.tree
    figures = forest_statistics(tree.given_parents, tree.origin[requests.leaf])
    assert figures == {
        "requests": 5,
        "chunks": 6,
        "roots": 2,
        "branching_chunks": 1,
        "chunks_wanted_twice": 4,
        "largest_demand": 4,
        "mean_length": 12 / 5,
        "length_p90": 3.0,
        "deepest": 3,
        "hit_rate": 1 - 6 / 12,
    }


paths = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=25)


@given(paths, st.integers(1, 60), st.integers(0, 1000))
def test_twin_is_a_forest_of_requests_with_the_drawn_lengths(
    log: Sequence[Sequence[int]], arrivals: int, seed: int
) -> None:
    fit = fit_trace(log)
    twin = twin_log(fit, arrivals, np.random.default_rng(seed))
    rows = np.random.default_rng(seed).integers(fit.length.size, size=arrivals)
    tree = pp.PrefixTree.from_parents(twin.parents)
    assert (twin.parents < np.arange(twin.parents.size)).all()
    assert (tree.depth[tree.position[twin.leaves]] + 1).tolist() == fit.length[rows].tolist()
    assert (np.diff(twin.creator) >= 0).all()
    # nothing is reused that was not there, and no more than was drawn
    assert twin.parents.size >= fit.length[rows].sum() - fit.reuse[rows].sum()


def test_conversations_without_a_trace() -> None:
    instance = TraceTwin().sample(3)
    fit = instance.meta["fit"]
    assert json.loads(json.dumps(fit)) == fit
    assert fit["trace"]["requests"] == fit["twin"]["requests"]
    assert fit["trace"] == TraceTwin().sample(4).meta["fit"]["trace"]
    assert fit["twin"]["mean_length"] == pytest.approx(fit["trace"]["mean_length"], rel=0.2)
    assert fit["twin"]["hit_rate"] == pytest.approx(fit["trace"]["hit_rate"], abs=0.1)
    assert fit["twin"]["chunks"] == instance.num_chunks
    assert TraceTwin(arrivals=1000).sample(0).meta["fit"]["twin"]["requests"] == 1000


def test_trace_file(tmp_path: Path) -> None:
    rows = [
        {"timestamp": i, "input_length": 512 * len(p), "output_length": 1, "hash_ids": p}
        for i, p in enumerate([[1, 2], [1, 2, 3], [4], [1, 2, 3, 5]])
    ]
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert TraceTwin(trace=str(file)).sample(0).meta["fit"]["trace"]["chunks"] == 5
    with pytest.raises(pp.InputError):
        TraceTwin(trace=str(tmp_path / "missing")).sample(0)


def test_twin_of_a_real_trace_is_close() -> None:
    """Lengths and reuse are kept: their averages are near those of the trace."""
    path = shared_dir("traces") / "mooncake_synthetic_trace.jsonl"
    fit = TraceTwin(trace=str(path)).sample(0).meta["fit"]
    trace, twin = fit["trace"], fit["twin"]
    assert (trace["requests"], trace["chunks"]) == (twin["requests"], 40_148)
    assert twin["mean_length"] == pytest.approx(trace["mean_length"], rel=0.05)
    assert twin["hit_rate"] == pytest.approx(trace["hit_rate"], abs=0.05)
    assert twin["chunks"] == pytest.approx(trace["chunks"], rel=0.15)
