"""Crossovers of the paper and of arbitrary curves; break-even goodput."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefixplace as pp
from prefixplace.costs import (
    Affine,
    Interpolated,
    Table,
    break_even_goodput_bps,
    crossover_depth,
    crossovers,
    fetch_ms,
    model,
    profile,
)


def chunk_fetch(name: str, gbps: float) -> float:
    return float(fetch_ms(model(name).chunk_bytes(512), gbps * 1e9))


@pytest.mark.parametrize(
    ("name", "gbps", "ms"), [("qwen2.5-7b", 3, 78.3), ("qwen2.5-3b", 1.5, 100.7), ("qwen2.5-32b", 5, 214.7)]
)
def test_fetch_costs_of_the_paper(name: str, gbps: float, ms: float) -> None:
    assert chunk_fetch(name, gbps) == pytest.approx(ms, abs=0.05)
    transfer = pp.TransferModel(model(name).chunk_bytes(512), gbps * 1e9)
    assert transfer.requester_costs(1, 1)[0, 0] == chunk_fetch(name, gbps)


def test_a100_crosses_near_6100_tokens_at_3_gbps_and_l4_always_fetches() -> None:
    cost = chunk_fetch("qwen2.5-7b", 3)
    depth = crossover_depth(profile("A100", "qwen2.5-7b"), cost, 32_768)
    assert depth == pytest.approx((cost - 48.1) / 0.005)
    assert round(depth) == 6039
    # 6.1K lies within the rounding of the printed coefficients 48.1 and 0.0050.
    lowest, highest = ((cost - base) / slope for base, slope in ((48.15, 0.00505), (48.05, 0.00495)))
    assert lowest < 6100 < highest
    for gpu in ("L4", "T4"):
        assert crossover_depth(profile(gpu, "qwen2.5-7b"), cost, 32_768) == 0.0


def test_32b_crosses_near_2700_tokens_at_5_gbps() -> None:
    depth = crossover_depth(profile("A100", "qwen2.5-32b"), chunk_fetch("qwen2.5-32b", 5), 8192)
    assert depth == pytest.approx(2700, abs=50)


def test_the_three_regimes_of_3b_at_1500_mbps() -> None:
    cost = chunk_fetch("qwen2.5-3b", 1.5)
    assert crossover_depth(profile("T4", "qwen2.5-3b"), cost, 8192) == 0.0
    assert crossover_depth(profile("L4", "qwen2.5-3b"), cost, 8192) == pytest.approx(3800, abs=50)
    assert crossover_depth(profile("A100", "qwen2.5-3b"), cost, 8192) == np.inf


def test_the_kernel_level_curve_moves_the_crossover_to_41k() -> None:
    depth = crossover_depth(
        profile("a100-sxm", "qwen2.5-7b", "aiconfigurator"), chunk_fetch("qwen2.5-7b", 3), 65_536
    )
    assert depth == pytest.approx(41_000, abs=500)


def test_break_even_goodputs_of_the_kernel_level_curves() -> None:
    expected = {("a100-sxm", "qwen2.5-7b"): (7.5, 3.4), ("h100-sxm", "qwen2.5-32b"): (22.0, 13.3)}
    for (gpu, name), (empty, deep) in expected.items():
        goodput = break_even_goodput_bps(
            profile(gpu, name, "aiconfigurator"), model(name).chunk_bytes(512), [0, 32_256]
        )
        assert (goodput / 1e9).tolist() == pytest.approx([empty, deep], abs=0.06)


@given(
    st.floats(0, 500),
    st.floats(1e-5, 1),
    st.floats(0, 500),
    st.floats(1, 1e6),
)
def test_affine_crossover_separates_the_two_actions(
    base: float, slope: float, cost: float, limit: float
) -> None:
    curve = Affine(base, slope)
    depth = crossover_depth(curve, cost, limit)
    grid = np.linspace(0, limit, 101)
    fetches = curve.ms(grid) > cost
    clear = np.abs(curve.ms(grid) - cost) > 1e-6  # at the crossing itself rounding decides
    np.testing.assert_array_equal(fetches[clear], (grid > depth)[clear] | (depth == 0.0))


@given(
    st.lists(
        st.tuples(st.integers(0, 5000), st.floats(0, 100)), min_size=1, max_size=8, unique_by=lambda p: p[0]
    ),
    st.floats(0.01, 100),
)
def test_interpolated_crossings_explain_every_change_of_action(
    points: list[tuple[int, float]], cost: float
) -> None:
    curve = Interpolated(*(tuple(v) for v in zip(*sorted(points), strict=True)))
    depths = crossovers(curve, cost, 6000)
    assert np.all(np.diff(depths) >= 0)
    grid = np.linspace(0, 6000, 601)
    excess = curve.ms(grid) - cost
    changes = (np.searchsorted(depths, grid) % 2).astype(bool)
    clear = np.abs(excess) > 1e-6 * (1 + cost)
    np.testing.assert_array_equal(((excess > 0) ^ (curve.ms(0) > cost))[clear], changes[clear])


def test_table_crossing_is_the_first_measured_depth() -> None:
    table = Table((0, 512, 1024, 1536), (10, 20, 30, 15))
    assert crossovers(table, 18, 4096).tolist() == [512, 1536]
    assert crossovers(table, 18, 1024).tolist() == [512]
    assert crossover_depth(table, 9, 4096) == 0.0
    assert crossover_depth(table, np.inf, 4096) == np.inf


def test_break_even_is_where_fetch_equals_recompute() -> None:
    curve = profile("L4", "qwen2.5-7b")
    prefixes = np.array([0.0, 1000.0, 20_000.0])
    goodput = break_even_goodput_bps(curve, 29_360_128, prefixes, overhead_ms=5)
    np.testing.assert_allclose(fetch_ms(29_360_128, goodput, 5), curve.ms(prefixes))
    assert break_even_goodput_bps(curve, 29_360_128, 0, overhead_ms=171) == np.inf


def test_no_link_costs_infinity_and_bad_numbers_are_named() -> None:
    assert fetch_ms(1.0, 0.0) == np.inf
    with pytest.raises(pp.InputError, match="goodput_bps"):
        fetch_ms(1.0, -1.0)
    with pytest.raises(pp.InputError, match="limit_tokens = 0 violates"):
        crossovers(Affine(1, 1), 1, 0)
    with pytest.raises(pp.InputError, match="fetch_ms = nan"):
        crossovers(Affine(1, 1), float("nan"), 10)
    with pytest.raises(pp.InputError, match="chunk_bytes = 0 violates"):
        break_even_goodput_bps(Affine(1, 1), 0, 0)
