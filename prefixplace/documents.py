"""JSON objects on disk: strict reading, writing that leaves a whole file or none."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from prefixplace.errors import InputError

__all__ = ["parse_json", "read_json", "write_json"]


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """One JSON object from a plain or gzipped file; see :func:`parse_json` for what is refused."""
    file = Path(path)
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except (ValueError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: not readable as text: {error}") from None
    return parse_json(text, str(file))


def parse_json(text: str, place: str) -> dict[str, Any]:
    """The JSON object that `text` is, with double keys, NaN and infinities refused; `place` begins every error."""
    try:
        document: Any = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        raise InputError(f"{place}: not readable as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{place}: holds a {type(document).__name__}, not a JSON object")
    return document


def write_json(document: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a JSON object, gzipped when the name ends in ``.gz``; the file appears whole or not at all."""
    file = Path(path)
    try:
        raw = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise InputError(f"{file}: names, labels and meta must be JSON data: {error}") from None
    # mtime=0: the same content gives the same bytes
    _write_whole(file, gzip.compress(raw, mtime=0) if file.suffix == ".gz" else raw + b"\n")


def _write_whole(file: Path, content: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        raise InputError(
            f"the field {next(k for k in keys if keys.count(k) > 1)!r} occurs twice in one object"
        )
    return document


def _refuse_constant(text: str) -> NoReturn:
    raise InputError(f"{text} is not a number that JSON allows; a fetch that cannot happen is null")
