"""Statistics of instances: by hand on small ones, ranges on all."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from instances.library import Library
from instances.statistics import chain_segments, instance_statistics, library_frame
from instances.tight import CompactGap, ConfigurationGapFourFifths, OneOrderHalf


def test_figures_by_hand() -> None:
    figures = instance_statistics(OneOrderHalf().sample(), bounds=True)
    assert figures == {
        "chunks": 3,
        "workers": 2,
        "budget": 1.0,
        "roots": 2,
        "height": 2,
        "leaves": 2,
        "segments": 2,
        "pairwise": False,
        "overlap": 0.5,  # both would take chunk 0 alone
        "coverage_share": pytest.approx(1010 / 1011),
        "curvature": 1.0,
        "configuration_gap": pytest.approx(0, abs=1e-9),
        "compact_gap": pytest.approx(0.5 / 2010.5),
    }


def test_gaps_are_those_of_the_tight_examples() -> None:
    fifths = instance_statistics(ConfigurationGapFourFifths().sample(), bounds=True)
    assert fifths["configuration_gap"] == pytest.approx(1 / 5, abs=1e-6)
    assert fifths["compact_gap"] == pytest.approx(0, abs=1e-6)
    deep = instance_statistics(CompactGap(budget=7).sample(), bounds=True)
    assert deep["compact_gap"] == pytest.approx(6 / 7, abs=1e-6)


def test_curvature_bounds_greedy_from_below() -> None:
    rng = np.random.default_rng(0)
    tree = pp.PrefixTree.from_parents([-1, 0, 0, -1, 3])
    local, coverage = rng.random((2, 5)) + 1, rng.random(5)
    instance = pp.Instance.from_values(tree, local=local, coverage=coverage, budgets=[2, 2])
    assert instance_statistics(instance)["curvature"] == pytest.approx((coverage / (local + coverage)).max())


@pytest.mark.parametrize(
    ("parents", "segments"),
    [([], 0), ([-1], 1), ([-1, 0, 1, 2], 1), ([-1, 0, 0], 3), ([-1, -1, 1, 2, 2, 4], 4), ([-1] * 5, 5)],
)
def test_chain_segments(parents: list[int], segments: int) -> None:
    assert chain_segments(pp.PrefixTree.from_parents(parents)) == segments


def test_segments_of_extreme_forests() -> None:
    n = 200_000
    assert chain_segments(pp.PrefixTree.from_parents(np.arange(-1, n - 1))) == 1
    assert chain_segments(pp.PrefixTree.from_parents(np.full(n, -1))) == n


def test_nothing_is_worth_anything() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    instance = pp.Instance.from_values(tree, local=np.zeros((2, 2)), coverage=np.zeros(2), budgets=[0, 0])
    figures = instance_statistics(instance, bounds=True)
    assert (figures["overlap"], figures["coverage_share"], figures["curvature"]) == (0, 0, 0)
    assert (figures["configuration_gap"], figures["compact_gap"]) == (0, 0)


def test_frame_of_the_library() -> None:
    library = Library()
    library.rows = {name: library[name] for name in ("one-order-half", "max-cut-cycle", "star")}
    frame = library_frame(library)
    assert frame.index.tolist() == ["one-order-half", "max-cut-cycle", "star"]
    assert frame.loc["star", "height"] == 1
    assert frame.loc["max-cut-cycle", "coverage_share"] is None or np.isnan(
        frame.loc["max-cut-cycle", "coverage_share"]
    )
    assert (frame["gap"] < 1e-6).all()
