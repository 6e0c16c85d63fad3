"""Files of others: plain tables made here, and the real ones beside the project."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import prefixplace as pp
from prefixplace.costs import (
    Interpolated,
    read_dynamo_npz,
    read_llmservingsim,
    read_profiles_csv,
    read_transfer_csv,
    read_vidur,
)
from tests.shared import shared_dir

PROFILES = "worker,prefix_tokens,chunk_tokens,ms\nw1,512,256,12\nw0,0,512,48.1\nw1,0,256,10\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_plain_table_of_profiles(tmp_path: Path) -> None:
    profiles = read_profiles_csv(write(tmp_path / "w.csv", PROFILES))
    assert profiles == {"w1": Interpolated((0, 512), (10, 12), 256), "w0": Interpolated((0,), (48.1,), 512)}
    packed = tmp_path / "w.csv.gz"
    packed.write_bytes(gzip.compress(PROFILES.encode()))
    assert read_profiles_csv(packed) == profiles


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worker,prefix_tokens,ms\nw,0,1\n", "no column 'chunk_tokens'; it has worker, prefix_tokens, ms"),
        ("", "no column 'worker'; it has none"),
        (PROFILES + "w0,x,512,3\n", "line 5: prefix_tokens is 'x', not a number"),
        (PROFILES + "w0,5,512,-3\n", "line 5: ms is -3.0: must be finite and ≥ 0"),
        (PROFILES + "w0,5,512,nan\n", "line 5: ms is nan"),
        (PROFILES + "w0,0,512,3\n", "line 5: worker w0 has a second cost after 0 tokens"),
        (PROFILES + "w0,9,256,3\n", "line 5: worker w0 has chunks of 512 and 256 tokens"),
        (PROFILES + "w0,9\n", "line 5: not 4 fields"),
    ],
)
def test_broken_tables_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(pp.InputError) as error:
        read_profiles_csv(write(tmp_path / "w.csv", text))
    assert message in str(error.value)


def test_missing_file() -> None:
    with pytest.raises(pp.InputError, match=r"cannot read nowhere.csv: No such file"):
        read_profiles_csv("nowhere.csv")


def test_transfer_table(tmp_path: Path) -> None:
    table = "requester,holder,chunk_bytes,ms\na,b,1000,2\na,b,3000,4\nb,a,2000,9\na,a,2000,5\n"
    cost = read_transfer_csv(write(tmp_path / "f.csv", table), ["a", "b", "c"], 2000)
    assert cost.tolist() == [[0, 3, np.inf], [9, 0, np.inf], [np.inf, np.inf, 0]]
    with pytest.raises(pp.InputError, match="outside the sizes from b to a: 1000 to 3000"):
        read_transfer_csv(tmp_path / "f.csv", ["a", "b"], 500)
    with pytest.raises(pp.InputError, match="line 2: holder 'b' is not a worker"):
        read_transfer_csv(tmp_path / "f.csv", ["a"], 2000)
    doubled = write(tmp_path / "g.csv", table + "b,a,2000,1\n")
    with pytest.raises(pp.InputError, match="line 6: a second cost for 2000 bytes"):
        read_transfer_csv(doubled, ["a", "b"], 2000)


def test_dynamo_quadratic_becomes_an_affine_chunk_cost(tmp_path: Path) -> None:
    tokens = np.array([100, 1000, 4000, 9000, 16_000])
    np.savez(tmp_path / "p.npz", prefill_isl=tokens, prefill_ttft_ms=16.5 + 0.015 * tokens + 4e-7 * tokens**2)
    curve = read_dynamo_npz(tmp_path / "p.npz", 256)
    assert curve.chunk_tokens == 256
    assert (curve.base_ms, curve.slope_ms) == pytest.approx((0.015 * 256 + 4e-7 * 256**2, 2 * 4e-7 * 256))
    np.savez(tmp_path / "line.npz", prefill_isl=tokens, prefill_ttft=50 + 0.01 * tokens - 1e-9 * tokens**2)
    assert read_dynamo_npz(tmp_path / "line.npz").slope_ms == 0.0
    np.savez(tmp_path / "other.npz", x=tokens)
    with pytest.raises(pp.InputError, match="no prefill_isl and prefill_ttft"):
        read_dynamo_npz(tmp_path / "other.npz")
    np.savez(tmp_path / "short.npz", prefill_isl=tokens[:2], prefill_ttft=tokens[:2])
    with pytest.raises(pp.InputError, match="at least three prompt lengths"):
        read_dynamo_npz(tmp_path / "short.npz")


def test_real_dynamo_profile() -> None:
    curve = read_dynamo_npz(shared_dir("profiles/dynamo_H200_TP1/prefill_raw_data.npz"))
    assert curve.ms([0, 14_336]).tolist() == pytest.approx([7.9, 14.1], abs=0.05)


def test_llmservingsim_sums_the_kernels(tmp_path: Path) -> None:
    dense = {"embedding": 5, "final_layernorm": 7, "layernorm": 11, "qkv_proj": 100, "down_proj": 200}
    rows = [
        f"{layer},{tokens},{time}"
        for layer, time in dense.items()
        for tokens, time in ((512, time), (256, 1e6))
    ]
    write(tmp_path / "dense.csv", "\n".join(["layer,tokens,time_us", *rows]))
    attention = (
        "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n512,0,0,0,40\n512,512,0,0,80\n512,0,1,16,9e9\n"
    )
    write(tmp_path / "attention.csv", attention)
    curve = read_llmservingsim(tmp_path, layers=3)
    per_layer = 2 * 11 + 100 + 200
    assert curve.ms([0, 512]).tolist() == pytest.approx(
        [(3 * (per_layer + 40) + 12) / 1e3, (3 * (per_layer + 80) + 12) / 1e3]
    )
    with pytest.raises(pp.InputError, match="no kernels for 1024 tokens"):
        read_llmservingsim(tmp_path, 3, 1024)
    with pytest.raises(pp.InputError, match="no attention times for a prefill chunk of 256 tokens"):
        read_llmservingsim(tmp_path, 3, 256)


@pytest.mark.parametrize(
    ("folder", "layers", "base", "slope"),
    [
        ("RTX4090/meta-llama/Llama-3.1-8B", 32, 47.24, 0.00194),
        ("RTXPRO6000/meta-llama/Llama-3.1-8B", 32, 23.01, 0.00132),
        ("RTXPRO6000/Qwen/Qwen3-32B", 64, 98.44, 0.00388),
    ],
)
def test_real_llmservingsim_tables(folder: str, layers: int, base: float, slope: float) -> None:
    curve = read_llmservingsim(shared_dir(f"profiles/llmservingsim/{folder}/bf16/tp1"), layers)
    fitted = np.polyfit(curve.prefix_tokens, curve.cost_ms, 1)
    assert fitted[0] == pytest.approx(slope, abs=6e-6)
    assert fitted[1] == pytest.approx(base, abs=0.006)


MLP = (
    "time_stats.emb.mean,time_stats.emb.median,time_stats.mlp_up_proj.median,time_stats.add.median,"
    "n_kv_head,n_embd,num_tokens,num_tensor_parallel_workers\n"
    "9,0.2,1.0,0.1,8,4096,512,1\n9,0.2,1.2,0.1,8,4096,512,1\n9,9,9,9,8,4096,512,2\n9,9,9,9,8,4096,256,1\n"
)
ATTENTION = (
    "time_stats.attn_prefill.median,n_embd,n_kv_head,num_tensor_parallel_workers,batch_size,prefill_chunk_size,"
    "kv_cache_size,is_prefill\n"
    "0.3,4096,8,1,1,512,0,True\n0.5,4096,8,1,1,512,1024,True\n9,4096,8,1,2,512,64,True\n,4096,8,1,1,512,0,False\n"
)


def test_vidur_sums_the_operations(tmp_path: Path) -> None:
    files = write(tmp_path / "mlp.csv", MLP), write(tmp_path / "attention.csv", ATTENTION)
    curve = read_vidur(*files, layers=4)
    dense = 4 * (1.1 + 2 * 0.1) + 0.2
    assert curve.prefix_tokens == (0, 1024)
    assert curve.cost_ms == pytest.approx((dense + 4 * 0.3, dense + 4 * 0.5))
    with pytest.raises(pp.InputError, match="nothing measured for chunks of 128 tokens"):
        read_vidur(*files, layers=4, chunk_tokens=128)
    other = write(tmp_path / "other.csv", ATTENTION.replace("4096,8,", "4096,32,"))
    with pytest.raises(pp.InputError, match="describe different models"):
        read_vidur(files[0], other, layers=4)


def test_real_vidur_files_of_two_models_are_not_mixed() -> None:
    mlp = shared_dir("profiles/vidur/a100_Llama-2-7b_mlp.csv.gz")
    attention = shared_dir("profiles/llmservingsim/v0_A6000_Llama-3.1-8B_tp1/attention.vidur_format.csv.gz")
    with pytest.raises(pp.InputError, match=r"different models: .* \(4096.0, 32.0\) and \(4096.0, 8.0\)"):
        read_vidur(mlp, attention, 32)
