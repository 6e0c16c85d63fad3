"""Recompute and transfer costs measured by others: plain tables and the files of three serving tools."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from prefixplace.costs.profiles import Affine, Interpolated
from prefixplace.errors import InputError

__all__ = ["read_dynamo_npz", "read_llmservingsim", "read_profiles_csv", "read_transfer_csv", "read_vidur"]

Row = tuple[int, dict[str, str]]


def read_profiles_csv(path: str | Path) -> dict[str, Interpolated]:
    """Profiles of a plain table with the columns ``worker, prefix_tokens, chunk_tokens, ms``.

    One row per measurement, in any order; all rows of a worker have one chunk length. Returns worker →
    profile in order of first appearance, with straight lines between the points and beyond them.

    Raises
    ------
    InputError
        With file and line number.
    """
    points: dict[str, dict[float, float]] = {}
    chunks: dict[str, int] = {}
    for line, row in _rows(path, ("worker", "prefix_tokens", "chunk_tokens", "ms")):
        worker = row["worker"].strip()
        prefix, cost = (_number(path, line, row, column) for column in ("prefix_tokens", "ms"))
        chunk = int(_number(path, line, row, "chunk_tokens"))
        if chunks.setdefault(worker, chunk) != chunk:
            raise InputError(
                f"{path}, line {line}: worker {worker} has chunks of {chunks[worker]} and {chunk} tokens"
            )
        if prefix in points.setdefault(worker, {}):
            raise InputError(
                f"{path}, line {line}: worker {worker} has a second cost after {prefix:g} tokens"
            )
        points[worker][prefix] = cost
    profiles = {}
    for worker, costs in points.items():
        prefixes = sorted(costs)
        profiles[worker] = Interpolated(tuple(prefixes), tuple(costs[p] for p in prefixes), chunks[worker])
    return profiles


def read_transfer_csv(path: str | Path, workers: Sequence[str], chunk_bytes: float) -> NDArray[np.float64]:
    """Fetch costs of one chunk from a plain table ``requester, holder, chunk_bytes, ms``.

    Returns
    -------
    float array, shape (M, M)
        ms for each requester (row) from each holder, diagonal 0. Between measured sizes the cost is linear
        in the size; a pair without rows is ``inf`` (no link).

    Raises
    ------
    InputError
        With file and line number; also when `chunk_bytes` lies outside the sizes measured for a pair, since
        goodput depends on the size.
    """
    number = {worker: m for m, worker in enumerate(workers)}
    links: dict[tuple[int, int], dict[float, float]] = {}
    for line, row in _rows(path, ("requester", "holder", "chunk_bytes", "ms")):
        pair = []
        for column in ("requester", "holder"):
            if row[column].strip() not in number:
                raise InputError(f"{path}, line {line}: {column} {row[column].strip()!r} is not a worker")
            pair.append(number[row[column].strip()])
        size = _number(path, line, row, "chunk_bytes")
        sizes = links.setdefault((pair[0], pair[1]), {})
        if size in sizes:
            raise InputError(f"{path}, line {line}: a second cost for {size:g} bytes on this link")
        sizes[size] = _number(path, line, row, "ms")
    cost = np.full((len(workers), len(workers)), np.inf)
    np.fill_diagonal(cost, 0.0)
    for (requester, holder), sizes in links.items():
        if requester == holder:
            continue
        measured = sorted(sizes)
        if not measured[0] <= chunk_bytes <= measured[-1]:
            raise InputError(
                f"{path}: a chunk of {chunk_bytes:g} bytes is outside the sizes from {workers[holder]} "
                f"to {workers[requester]}: {measured[0]:g} to {measured[-1]:g}"
            )
        cost[requester, holder] = np.interp(chunk_bytes, measured, [sizes[size] for size in measured])
    return cost


def read_dynamo_npz(path: str | Path, chunk_tokens: int = 512) -> Affine:
    """Profile from a Dynamo pre-deployment profile (``prefill_isl`` in tokens; ``prefill_ttft[_ms]`` in ms).

    The file has times T(isl) of whole prompts, no prefix axis. A quadratic fit T = a·isl² + b·isl + c, as
    Dynamo's own planner uses, gives w(p) = T(p + chunk) − T(p) = (b·chunk + a·chunk²) + 2·a·chunk·p; the
    fixed cost c of a step cancels. A negative a (no visible attention cost) is taken as 0 with a linear
    fit.
    """
    with np.load(path, allow_pickle=False) as archive:
        column = next((name for name in ("prefill_ttft", "prefill_ttft_ms") if name in archive), None)
        if column is None or "prefill_isl" not in archive:
            raise InputError(
                f"{path}: no prefill_isl and prefill_ttft in it, only {', '.join(archive.files)}"
            )
        tokens, ms = archive["prefill_isl"].astype(np.float64), archive[column].astype(np.float64)
    if tokens.shape != ms.shape or np.unique(tokens).size < 3:
        raise InputError(f"{path}: a quadratic fit needs at least three prompt lengths with one time each")
    a, b, _ = np.polyfit(tokens, ms, 2)
    if a < 0:
        a, b = 0.0, np.polyfit(tokens, ms, 1)[0]
    return Affine(float(b * chunk_tokens + a * chunk_tokens**2), float(2 * a * chunk_tokens), chunk_tokens)


def read_llmservingsim(folder: str | Path, layers: int, chunk_tokens: int = 512) -> Interpolated:
    """Profile from LLMServingSim kernel tables (``attention.csv``, ``dense.csv``; microseconds, one layer).

    w(p) = layers · (dense kernels at `chunk_tokens`, layer norm twice, + attention of the chunk over p
    cached tokens) + embedding + final norm. The language-model head is left out: the chunks of a prefix
    sample no token.
    """
    folder = Path(folder)
    once, per_layer = 0.0, 0.0
    for line, row in _rows(folder / "dense.csv", ("layer", "tokens", "time_us")):
        if _number(folder / "dense.csv", line, row, "tokens") == chunk_tokens:
            time = _number(folder / "dense.csv", line, row, "time_us")
            if row["layer"] in ("embedding", "final_layernorm"):
                once += time
            else:
                per_layer += 2 * time if row["layer"] == "layernorm" else time
    if per_layer == 0.0:
        raise InputError(f"{folder / 'dense.csv'}: no kernels for {chunk_tokens} tokens")
    path = folder / "attention.csv"
    attention: dict[float, float] = {}
    for line, row in _rows(path, ("prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us")):
        chunk, decodes = (_number(path, line, row, column) for column in ("prefill_chunk", "n_decode"))
        if chunk == chunk_tokens and decodes == 0:
            attention[_number(path, line, row, "kv_prefill")] = _number(path, line, row, "time_us")
    if not attention:
        raise InputError(f"{path}: no attention times for a prefill chunk of {chunk_tokens} tokens alone")
    prefixes = sorted(attention)
    cost = [(layers * (per_layer + attention[p]) + once) / 1e3 for p in prefixes]
    return Interpolated(tuple(prefixes), tuple(cost), chunk_tokens)


def read_vidur(
    mlp_csv: str | Path,
    attention_csv: str | Path,
    layers: int,
    chunk_tokens: int = 512,
    tensor_parallel: int = 1,
) -> Interpolated:
    """Profile from Vidur compute tables (``mlp.csv`` and ``attention.csv``, ms per layer, plain or ``.gz``).

    w(p) = layers · (all ``mlp.csv`` operations but ``emb`` at `chunk_tokens`, ``add`` twice, +
    ``attn_prefill`` of the chunk with ``kv_cache_size`` p) + ``emb``. Medians of repeated rows are
    averaged.

    Raises
    ------
    InputError
        When the two files describe different models (``n_embd``, key-value heads), or miss the chunk length.
    """
    shapes: dict[str, tuple[float, float]] = {}
    dense: list[float] = []
    for line, row in _rows(mlp_csv, ("num_tokens", "num_tensor_parallel_workers", "n_embd", "n_kv_head")):
        wanted = {"num_tokens": chunk_tokens, "num_tensor_parallel_workers": tensor_parallel}
        if all(_number(mlp_csv, line, row, column) == value for column, value in wanted.items()):
            shapes["mlp"] = _shape(mlp_csv, line, row)
            columns = [c for c in row if c.startswith("time_stats.") and c.endswith(".median")]
            weight = {"time_stats.emb.median": 1 / layers, "time_stats.add.median": 2.0}
            dense.append(sum(weight.get(c, 1.0) * _number(mlp_csv, line, row, c) for c in columns))
    attention: dict[float, list[float]] = {}
    needed = (
        "time_stats.attn_prefill.median",
        "prefill_chunk_size",
        "kv_cache_size",
        "batch_size",
        "is_prefill",
    )
    for line, row in _rows(attention_csv, (*needed, "num_tensor_parallel_workers", "n_embd", "n_kv_head")):
        wanted = {
            "prefill_chunk_size": chunk_tokens,
            "num_tensor_parallel_workers": tensor_parallel,
            "batch_size": 1,
        }
        if row["is_prefill"] == "True" and all(
            _number(attention_csv, line, row, column) == value for column, value in wanted.items()
        ):
            shapes["attention"] = _shape(attention_csv, line, row)
            prefix = _number(attention_csv, line, row, "kv_cache_size")
            attention.setdefault(prefix, []).append(_number(attention_csv, line, row, needed[0]))
    if not dense or not attention:
        raise InputError(
            f"{attention_csv if dense else mlp_csv}: nothing measured for chunks of {chunk_tokens} tokens"
        )
    if shapes["mlp"] != shapes["attention"]:
        raise InputError(
            f"{mlp_csv} and {attention_csv} describe different models: (n_embd, n_kv_head) = "
            f"{shapes['mlp']} and {shapes['attention']}"
        )
    prefixes = sorted(attention)
    per_layer = float(np.mean(dense))
    cost = [layers * (per_layer + float(np.mean(attention[p]))) for p in prefixes]
    return Interpolated(tuple(prefixes), tuple(cost), chunk_tokens)


def _shape(path: str | Path, line: int, row: dict[str, str]) -> tuple[float, float]:
    return _number(path, line, row, "n_embd"), _number(path, line, row, "n_kv_head")


def _open(path: str | Path) -> TextIO:
    if str(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return Path(path).open(encoding="utf-8", newline="")


def _rows(path: str | Path, columns: Sequence[str]) -> Iterator[Row]:
    """(line number, row) of a CSV file that has at least `columns`."""
    try:
        stream = _open(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    with stream:
        reader = csv.DictReader(stream, skipinitialspace=True)
        missing = [column for column in columns if column not in (reader.fieldnames or [])]
        if missing:
            raise InputError(
                f"{path}: no column {missing[0]!r}; it has {', '.join(reader.fieldnames or ['none'])}"
            )
        for row in reader:
            if None in row or None in row.values():
                raise InputError(f"{path}, line {reader.line_num}: not {len(reader.fieldnames or [])} fields")
            yield reader.line_num, row


def _number(path: str | Path, line: int, row: dict[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        raise InputError(f"{path}, line {line}: {column} is {row[column]!r}, not a number") from None
    if not 0 <= value < np.inf:
        raise InputError(f"{path}, line {line}: {column} is {value}: must be finite and ≥ 0")
    return value
