"""Recompute profiles: values, rules outside the measured range, other chunk lengths, the matrix of a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.costs import Affine, Interpolated, RecomputeProfile, Table, recompute_matrix


def test_affine_is_the_printed_curve() -> None:
    a100 = Affine(48.1, 0.0050)
    assert a100.ms(0) == 48.1
    assert a100.ms([0, 1000]).tolist() == pytest.approx([48.1, 53.1])
    assert a100.ms(np.zeros((2, 3))).shape == (2, 3)


@given(st.floats(0, 1e3), st.floats(0, 1), st.integers(1, 2048), st.integers(1, 6), st.integers(0, 10**5))
def test_affine_chunk_of_a_multiple_is_the_sum_of_its_parts(
    base: float, slope: float, chunk: int, times: int, prefix: int
) -> None:
    small = Affine(base, slope, chunk)
    parts = small.ms(prefix + chunk * np.arange(times)).sum()
    assert small.for_chunk(times * chunk).ms(prefix) == pytest.approx(parts, rel=1e-12, abs=1e-9)


def test_affine_parts_add_up_to_the_whole() -> None:
    whole, part = Affine(170.2, 0.01), Affine(170.2, 0.01).for_chunk(128)
    assert part.chunk_tokens == 128
    assert part.ms(2048 + 128 * np.arange(4)).sum() == pytest.approx(float(whole.ms(2048)), rel=1e-12)


def test_affine_too_steep_to_be_cut() -> None:
    with pytest.raises(pp.InputError, match="too steep"):
        Affine(1.0, 1.0).for_chunk(16)


def test_interpolation_between_and_beyond_the_points() -> None:
    profile = Interpolated((512, 1024, 4096), (10, 12, 30))
    assert profile.ms([512, 1024, 4096]).tolist() == [10, 12, 30]
    assert profile.ms(768) == pytest.approx(11)
    assert profile.ms(0) == pytest.approx(8)  # the first segment continued
    assert profile.ms(8192) == pytest.approx(30 + 18 / 3072 * 4096)  # the last segment continued
    with pytest.raises(pp.InputError, match="prefix of 8192 tokens is outside the measured 512 to 4096"):
        Interpolated((512, 1024, 4096), (10, 12, 30), outside="error").ms([600, 8192])


def test_interpolation_never_falls_below_zero_and_one_point_is_constant() -> None:
    assert Interpolated((0, 10), (5, 1)).ms([11, 12.5, 100]).tolist() == pytest.approx([0.6, 0, 0])
    assert Interpolated((64,), (7.5,)).ms([0, 64, 9999]).tolist() == [7.5, 7.5, 7.5]


@given(st.lists(st.tuples(st.integers(0, 10**5), st.floats(0, 1e4)), min_size=2, unique_by=lambda p: p[0]))
def test_interpolation_agrees_with_numpy_inside_the_range(points: list[tuple[int, float]]) -> None:
    x, y = (np.array(values, float) for values in zip(*sorted(points), strict=True))
    queries = np.linspace(x[0], x[-1], 37)
    np.testing.assert_allclose(
        Interpolated(tuple(x), tuple(y)).ms(queries), np.interp(queries, x, y), atol=1e-9
    )


@pytest.mark.parametrize("outside", ["extend", "error"])
def test_interpolated_double_chunk_sums_two_chunks(outside: str) -> None:
    curve = Interpolated((0, 512, 1024, 2048), (10, 11, 13, 20), 512, outside)  # type: ignore[arg-type]
    double = curve.for_chunk(1024)
    assert double.chunk_tokens == 1024
    assert double.ms([0, 512]).tolist() == pytest.approx([10 + 11, 11 + 13])
    assert double.prefix_tokens[-1] == (2048 if outside == "extend" else 1024)
    with pytest.raises(pp.InputError, match="no multiple of the measured 512"):
        curve.for_chunk(256)


def test_table_knows_only_what_was_measured() -> None:
    table = Table((0, 512, 1024), (10, 11, 13))
    assert table.ms([1024, 0]).tolist() == [13, 10]
    for unknown in (1, 2048):
        with pytest.raises(pp.InputError, match=f"no cost after a prefix of {unknown} tokens"):
            table.ms([0, unknown])
    assert table.for_chunk(1024) == Table((0, 512), (21, 24), 1024)
    with pytest.raises(pp.InputError, match="no 4 consecutive chunks"):
        table.for_chunk(2048)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Affine(-1, 0), "base_ms = -1 violates 0 <= base_ms < inf"),
        (lambda: Affine(1, float("nan")), "slope_ms = nan violates"),
        (lambda: Affine(1, 0, 0), "chunk_tokens = 0 violates chunk_tokens >= 1"),
        (lambda: Interpolated((), ()), "one cost per prefix: 0 prefixes, 0 costs"),
        (lambda: Interpolated((0, 1), (1,)), "2 prefixes, 1 costs"),
        (lambda: Interpolated((0, 0), (1, 1)), "must ascend: 0 comes after 0"),
        (lambda: Table((0,), (float("inf"),)), "cost after 0 tokens is inf"),
        (lambda: Table((-1,), (1,)), "prefix length -1.0 violates"),
        (lambda: Affine(1, 1).ms([3, -2]), "prefix length -2.0 violates"),
        (lambda: Interpolated((0,), (1,), outside="clamp"), "outside is 'clamp'"),  # type: ignore[arg-type]
    ],
)
def test_bad_profiles_name_the_place(build: object, message: str) -> None:
    with pytest.raises(pp.InputError, match=message.replace("(", r"\(")):
        build()  # type: ignore[operator]


def test_matrix_places_each_chunk_after_its_ancestors() -> None:
    tree = pp.PrefixTree.from_parents([1, -1, 0, -1])  # given out of order
    profiles: list[RecomputeProfile] = [Affine(10, 0.5, 4), Table((0, 4, 8), (1, 2, 4), 4)]
    matrix = tree.to_given(recompute_matrix(tree, profiles))
    assert matrix.tolist() == [[12, 10, 14, 10], [2, 1, 4, 1]]


def test_matrix_converts_profiles_to_the_chunks_of_the_tree() -> None:
    tree = pp.PrefixTree.from_parents([-1, 0])
    profiles = [Affine(48.1, 0.005), Affine(100.0, 0.02, 1024)]
    with pytest.raises(pp.InputError, match=r"chunks of \[512, 1024\] tokens"):
        recompute_matrix(tree, profiles)
    matrix = recompute_matrix(tree, profiles, 1024)
    assert matrix[0, 1] == pytest.approx(2 * 48.1 + 0.005 * (1024 + 1536))
    assert matrix[1].tolist() == pytest.approx([100, 100 + 0.02 * 1024])


def test_matrix_of_an_empty_forest_and_of_a_deep_chain() -> None:
    assert recompute_matrix(pp.PrefixTree.from_parents([]), [Affine(1, 1)]).shape == (1, 0)
    chain = pp.PrefixTree.from_parents(np.arange(-1, 199_999))
    matrix = recompute_matrix(chain, [Affine(1.0, 0.5, 2)] * 2)
    assert matrix[:, -1].tolist() == [1.0 + 199_999, 1.0 + 199_999]
