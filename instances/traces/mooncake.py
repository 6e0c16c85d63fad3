"""Reader of request traces in Mooncake's JSONL format, strict and line by line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from prefixplace.documents import parse_json, read_json
from prefixplace.errors import InputError

__all__ = ["TraceRecords", "read_assignment", "read_mooncake"]

Tail = Literal["drop", "keep"]

LARGEST = 2**53
"""Numbers of a record stay below this: larger ones are no float64 and no int64."""

# Other tools write the same record under other names (aiperf loader, Dynamo replay).
_ALIASES = {
    "timestamp": ("created_time",),
    "input_length": ("input_tokens",),
    "output_length": ("output_tokens",),
}


@dataclass(frozen=True)
class TraceRecords:
    """The requests of a trace as they were read, in the order of the file.

    Attributes
    ----------
    paths : tuple of R lists
        Chunk ids of each request; without the partial last block when it was dropped.
    timestamp : float array, shape (R,)
        Seconds.
    input_length, output_length : int array, shape (R,)
        Tokens.
    session : int array, shape (R,), or None
        Session number in order of first appearance, -1 for a request without; None when no request has one.
    block_tokens : int
    tails_dropped : int
        Partial last blocks that were left out.
    """

    paths: tuple[list[int | str], ...]
    timestamp: NDArray[np.float64]
    input_length: NDArray[np.int64]
    output_length: NDArray[np.int64]
    session: NDArray[np.int64] | None
    block_tokens: int
    tails_dropped: int

    def __len__(self) -> int:
        return len(self.paths)

    def chunked(self, blocks: int) -> list[list[tuple[int | str, ...]]]:
        """The paths in placement chunks of `blocks` blocks each; a rest of fewer blocks is left out."""
        if blocks < 1:
            raise InputError(f"blocks_per_chunk = {blocks} violates blocks_per_chunk >= 1")
        return [
            [tuple(path[i : i + blocks]) for i in range(0, len(path) - blocks + 1, blocks)]
            for path in self.paths
        ]


def read_mooncake(path: str | Path, *, block_tokens: int = 512, tail: Tail = "drop") -> TraceRecords:
    """Read a trace: JSON lines with ``timestamp`` (ms), ``input_length``, ``output_length``, ``hash_ids``.

    ``session_id`` is optional; ``created_time``, ``input_tokens`` and ``output_tokens`` are accepted for
    the first three. Files may be gzipped (``.gz``).

    Parameters
    ----------
    path : path
    block_tokens : int
        Tokens per hash id. A record must have ``input_length / block_tokens`` ids, rounded up (the last
        block is partial) or down (full blocks only). One id less is accepted too: a chat template adds a
        few tokens that derived traces cover with no block. A file read with the wrong size thus fails at
        its first long request.
    tail : "drop" or "keep"
        Whether a partial last block is left out. Engines cache full blocks only, so "drop" is what they
        could hold.

    Raises
    ------
    InputError
        With the line number, for anything that is not as described.
    """
    if tail not in ("drop", "keep"):
        raise InputError(f"tail is {tail!r}, not 'drop' or 'keep'")
    if block_tokens < 1:
        raise InputError(f"block_tokens = {block_tokens} violates block_tokens >= 1")
    paths: list[list[int | str]] = []
    stamps: list[float] = []
    lengths: list[tuple[int, int]] = []
    sessions: list[int] = []
    numbers: dict[Any, int] = {}
    dropped = 0
    for place, record in _records(path):
        ids = _hash_ids(place, record)
        tokens = _count(place, record, "input_length")
        full, rest = divmod(tokens, block_tokens)
        if not full - 1 <= len(ids) <= full + (rest > 0):
            raise InputError(
                f"{place}: {len(ids)} hash_ids for input_length {tokens} with {block_tokens}-token blocks "
                f"(expected {full + (rest > 0)}); is block_tokens right?"
            )
        if tail == "drop" and len(ids) > full:
            ids.pop()
            dropped += 1
        paths.append(ids)
        stamps.append(_timestamp(place, record))
        lengths.append((tokens, _count(place, record, "output_length")))
        session = record.get("session_id")
        if session is not None and not isinstance(session, str | int):
            raise InputError(f"{place}: session_id is {session!r}, not a string or a whole number")
        sessions.append(-1 if session is None else numbers.setdefault(session, len(numbers)))
    if not paths:
        raise InputError(f"{path}: no requests in it")
    columns = np.array(lengths, np.int64)
    return TraceRecords(
        paths=tuple(paths),
        timestamp=np.array(stamps) / 1e3,
        input_length=columns[:, 0],
        output_length=columns[:, 1],
        session=np.array(sessions, np.int64) if numbers else None,
        block_tokens=block_tokens,
        tails_dropped=dropped,
    )


def read_assignment(path: str | Path) -> NDArray[np.int64]:
    """Workers of a trace's lines from a JSON file ``{"worker": [w_0, w_1, …]}``, plain or ``.gz``.

    Raises
    ------
    InputError
        When it is not such a file.
    """
    workers = read_json(path).get("worker")
    if not isinstance(workers, list) or not workers:
        raise InputError(f"{path}: an assignment is a JSON object with a non-empty list under 'worker'")
    for line, worker in enumerate(workers):
        if not isinstance(worker, int) or isinstance(worker, bool) or not 0 <= worker < LARGEST:
            raise InputError(
                f"{path}: worker of request {line} is {worker!r}, not a whole number ≥ 0 below 2^53"
            )
    return np.array(workers, np.int64)


def _open(path: str | Path) -> TextIO:
    try:
        if str(path).endswith(".gz"):
            return gzip.open(path, "rt", encoding="utf-8")
        return Path(path).open(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _records(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, record) of each non-empty line."""
    with _open(path) as stream:
        try:
            for number, text in enumerate(stream, 1):
                place = f"{path}, line {number}"
                if not text.strip():
                    continue
                yield place, parse_json(text, place)
        except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
            raise InputError(f"cannot read {path}: {error}") from None


def _field(place: str, record: dict[str, Any], name: str) -> Any:
    for key in (name, *_ALIASES.get(name, ())):
        if key in record:
            return record[key]
    raise InputError(f"{place}: no {name}")


def _count(place: str, record: dict[str, Any], name: str) -> int:
    value = _field(place, record, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise InputError(f"{place}: {name} is {value!r}, not a whole number ≥ 0 below 2^53")
    return value


def _timestamp(place: str, record: dict[str, Any]) -> float:
    value = _field(place, record, "timestamp")
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < LARGEST:
        raise InputError(f"{place}: timestamp is {value!r}, not a number of milliseconds")
    return float(value)


def _hash_ids(place: str, record: dict[str, Any]) -> list[int | str]:
    ids = _field(place, record, "hash_ids")
    if not isinstance(ids, list):
        raise InputError(f"{place}: hash_ids is {type(ids).__name__}, not a list")
    for i, chunk in enumerate(ids):
        if not isinstance(chunk, int | str) or isinstance(chunk, bool):
            raise InputError(f"{place}: hash_ids[{i}] is {chunk!r}, not a whole number or a string")
    return ids
