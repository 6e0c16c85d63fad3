"""KV bytes per token against published figures, and the shipped profiles by name."""

from __future__ import annotations

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.costs import MODELS, Affine, LatentKV, ModelSpec, PagedKV, model, profile, profile_names
from tests.shared import shared_dir


@pytest.mark.parametrize(
    ("name", "bytes_per_token"),
    [
        ("qwen2.5-3b", 36_864),
        ("qwen2.5-7b", 57_344),
        ("qwen2.5-14b", 196_608),
        ("qwen2.5-32b", 262_144),
        ("qwen2.5-72b", 327_680),
        ("llama-2-7b", 524_288),
        ("llama-3.1-8b", 131_072),
        ("llama-3.1-70b", 327_680),
        ("qwen3-8b", 147_456),
        ("qwen3-32b", 262_144),
        ("deepseek-v3", 70_272),
    ],
)
def test_bytes_per_token(name: str, bytes_per_token: int) -> None:
    assert model(name).kv_bytes_per_token == bytes_per_token
    assert model(name.upper()).chunk_bytes(512) == 512 * bytes_per_token


def test_precision_scales_the_bytes() -> None:
    half = ModelSpec("half", MODELS["qwen2.5-7b"].layout, value_bytes=1)
    assert 2 * half.kv_bytes_per_token == MODELS["qwen2.5-7b"].kv_bytes_per_token
    assert ModelSpec("tiny", LatentKV(2, 3, 0), 1).kv_bytes_per_token == 6


def test_unknown_models_and_impossible_layouts() -> None:
    with pytest.raises(pp.InputError, match=r"unknown model 'gpt-2'; known: qwen2.5-0.5b"):
        model("gpt-2")
    with pytest.raises(pp.InputError, match="layers = 0"):
        ModelSpec("x", PagedKV(0, 1, 1))
    with pytest.raises(pp.InputError, match="chunk_tokens = 0"):
        model("qwen2.5-7b").chunk_bytes(0)


def test_every_listed_profile_can_be_had_and_rises_with_the_prefix() -> None:
    names = profile_names()
    assert len(names) == len(set(names)) == 8 + 32
    for name in names:
        source, gpu, model_name, *engine = name.split("/")
        curve = profile(gpu.upper(), model_name, source, *engine)
        assert np.all(np.diff(curve.ms(np.arange(0, 32_256, 512))) > 0)
        assert model_name in MODELS


def test_printed_curves() -> None:
    assert profile("L4", "qwen2.5-7b") == Affine(170.2, 0.0100)
    assert profile("A100", "qwen2.5-7b") == Affine(48.1, 0.0050)


def test_kernel_level_curves_are_nearly_affine() -> None:
    expected = {("a100-sxm", "qwen2.5-7b"): (31.65, 0.00113), ("b200-sxm", "qwen3-32b"): (26.12, 0.00079)}
    for (gpu, name), coefficients in expected.items():
        curve = profile(gpu, name, "aiconfigurator")
        x = np.array([0, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 24576, 32256])
        slope, base = np.polyfit(x, curve.ms(x), 1)
        assert (base, slope) == pytest.approx(coefficients, rel=5e-3)
        assert np.max(np.abs(base + slope * x - curve.ms(x)) / curve.ms(x)) < 0.03


def test_shipped_curves_are_the_computed_ones() -> None:
    import json

    computed = json.loads(shared_dir("profiles/aiconfigurator_prefill512_curves.json").read_text())
    for key, points in computed.items():
        name, gpu, engine = key.lower().replace("qwen25", "qwen2.5").replace("_", "-").split("/")
        np.testing.assert_allclose(
            profile(gpu, name, "aiconfigurator", engine).ms(points["prefix"]), points["ms"], atol=1e-4
        )


def test_missing_profiles_list_what_there_is() -> None:
    with pytest.raises(
        pp.InputError, match=r"no paper profile for h100/qwen2.5-7b; there are: l4/qwen2.5-7b, a100"
    ):
        profile("H100", "qwen2.5-7b")
    with pytest.raises(pp.InputError, match="profile source is 'guess'"):
        profile("L4", "qwen2.5-7b", "guess")
