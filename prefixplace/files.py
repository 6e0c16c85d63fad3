"""Reading and writing instances and plans: JSON, gzipped JSON, NumPy archives."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.documents import read_json, write_json
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.result import Result
from prefixplace.transfer import TransferModel
from prefixplace.tree import PrefixTree

__all__ = ["plan_of", "read_instance", "read_plan", "write_instance", "write_plan"]

PathLike = str | os.PathLike[str]

INSTANCE_FORMAT, PLAN_FORMAT, VERSION = "prefixplace-instance", "prefixplace-plan", 1
_COMMON = {"format", "version", "name", "parent", "budgets", "workers", "chunks", "meta"}
_COSTS = ("demand", "recompute", "fetch")
_VALUES = ("local", "coverage")
_TRANSFER = ("chunk_bytes", "goodput_bps", "overhead_ms")


def read_instance(path: PathLike) -> Instance:
    """Read an instance from ``.json``, ``.json.gz`` or ``.npz``.

    Raises
    ------
    InputError
        Naming the file, the field and the place of whatever breaks the format: an unknown or missing field, a
        wrong shape, a number that is negative or not a number, a cycle, a fractional budget.
    """
    file = Path(path)
    try:
        fields = _read_npz(file) if file.suffix == ".npz" else read_json(file)
        return _instance_of(fields)
    except InputError as error:
        raise InputError(f"{file}: {_without_prefix(error, file)}") from None


def write_instance(instance: Instance, path: PathLike) -> None:
    """Write `instance`; the suffix ``.json``, ``.json.gz`` or ``.npz`` chooses the form. Reading it back is exact."""
    file = Path(path)
    tree = instance.tree
    fields: dict[str, Any] = {
        "format": INSTANCE_FORMAT,
        "version": VERSION,
        "name": instance.name,
        "parent": tree.given_parents,
        "budgets": instance.budgets,
    }
    if instance.has_values:
        fields["local"] = tree.to_given(instance.local_value)
        fields["coverage"] = tree.to_given(instance.coverage_value)
    else:
        fields["demand"] = tree.to_given(instance.demand)
        fields["recompute"] = tree.to_given(instance.recompute)
        if isinstance(instance.fetch, TransferModel):
            links = {name: getattr(instance.fetch, name) for name in _TRANSFER}
            fields["fetch"] = {**links, "chunk_bytes": tree.to_given(links["chunk_bytes"])}
        else:
            fields["fetch"] = tree.to_given(instance.fetch)
    if instance.named_workers:
        fields["workers"] = list(instance.workers)
    if tree.has_labels:
        fields["chunks"] = [tree.labels[i] for i in tree.position]
    fields["meta"] = instance.meta
    if file.suffix == ".npz":
        _write_npz(fields, file)
    else:
        write_json(_jsonable(fields), file)


def read_plan(path: PathLike, instance: Instance, *, any_digest: bool = False) -> Placement:
    """Read a plan for `instance`: chunk numbers are those of the instance's file.

    With `any_digest` the plan may have been made for other numbers on the same forest, such as the demand of an
    earlier epoch; it still has to be parent-closed and within the budgets.

    Raises
    ------
    InputError
        When the file is no plan, belongs to another instance (digest), names a chunk that does not exist, or is
        not parent-closed or over budget.
    """
    file = Path(path)
    try:
        return plan_of(read_json(file), instance, any_digest=any_digest)
    except InputError as error:
        raise InputError(f"{file}: {_without_prefix(error, file)}") from None


def plan_of(fields: Mapping[str, Any], instance: Instance, *, any_digest: bool = False) -> Placement:
    """Placement of a parsed plan document (see :func:`read_plan`)."""
    _check_header(fields, PLAN_FORMAT)
    digest = fields.get("instance_digest")
    if digest is not None and digest != instance.digest and not any_digest:
        raise InputError(
            f"the plan belongs to an instance with digest {str(digest)[:12]}…, not {instance.digest[:12]}…"
        )
    sets = fields.get("workers")
    if not isinstance(sets, list) or len(sets) != instance.num_workers:
        raise InputError(f"workers must list the chunks of {instance.num_workers} workers")
    for m, chunks in enumerate(sets):
        if not isinstance(chunks, list):
            raise InputError(f"workers[{m}] is {chunks!r}, not a list of chunk numbers")
        for chunk in chunks:
            if type(chunk) is not int:
                raise InputError(f"workers[{m}] names {chunk!r}, which is not a chunk number")
    placement = Placement.from_sets(instance.tree, sets, given=True)
    instance.check(placement)
    return placement


def write_plan(plan: Placement | Result, path: PathLike, instance: Instance, *, method: str = "") -> None:
    """Write a plan of `instance` with its recomputed value; `method` says where a bare placement comes from."""
    placement = plan.placement if isinstance(plan, Result) else plan
    if placement is None:
        raise InputError("the result holds no placement to write")
    document = {
        "format": PLAN_FORMAT,
        "version": VERSION,
        "instance_digest": instance.digest,
        "method": plan.method if isinstance(plan, Result) else method,
        "value": instance.value(placement),
        "workers": [chunks.tolist() for chunks in placement.sets(given=True)],
    }
    write_json(document, Path(path))


def _instance_of(fields: Mapping[str, Any]) -> Instance:
    _check_header(fields, INSTANCE_FORMAT)
    values = any(name in fields for name in _VALUES)
    wanted = _VALUES if values else _COSTS
    for name in fields:
        if name not in _COMMON and name not in wanted:
            known = "known fields are " + ", ".join(sorted(_COMMON | set(wanted)))
            raise InputError(f"unknown field {name!r}; {known}")
    for name in ("parent", "budgets", *wanted):
        if name not in fields:
            raise InputError(f"field {name!r} is missing")
    parent = _numbers("parent", fields["parent"], 1)
    budgets = _numbers("budgets", fields["budgets"], 1)
    labels = _labels(fields.get("chunks"))
    workers = fields.get("workers")
    if workers is not None and not isinstance(workers, list):
        raise InputError(f"workers must list the names, not be {type(workers).__name__}")
    meta = fields.get("meta", {})
    if not isinstance(meta, dict):
        raise InputError(f"meta must be an object, not {type(meta).__name__}")
    tree = PrefixTree.from_parents(parent, labels)
    shape = (budgets.size, tree.n)
    common: dict[str, Any] = {
        "budgets": budgets,
        "name": fields.get("name", ""),
        "workers": workers,
        "meta": meta,
    }
    if values:
        local = _table("local", fields["local"], shape)
        coverage = _table("coverage", fields["coverage"], shape[1:])
        return Instance.from_values(
            tree, local=tree.to_preorder(local), coverage=tree.to_preorder(coverage), **common
        )
    return Instance(
        tree,
        demand=tree.to_preorder(_table("demand", fields["demand"], shape)),
        recompute=tree.to_preorder(_table("recompute", fields["recompute"], shape)),
        fetch=_fetch(fields["fetch"], tree, shape),
        **common,
    )


def _labels(raw: Any) -> list[Hashable] | None:
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise InputError(f"chunks must list the labels, not be {type(raw).__name__}")
    return [tuple(label) if isinstance(label, list) else label for label in raw]  # tuples are lists in JSON


def _fetch(raw: Any, tree: PrefixTree, shape: tuple[int, int]) -> NDArray[np.float64] | TransferModel:
    workers, chunks = shape
    if isinstance(raw, dict):
        if set(raw) != set(_TRANSFER):
            raise InputError(
                f"fetch as a transfer model has the fields {', '.join(_TRANSFER)}, not {', '.join(raw)}"
            )
        size = tree.to_preorder(_table("fetch.chunk_bytes", raw["chunk_bytes"], (chunks,)))
        links = [_table(f"fetch.{name}", raw[name], (workers, workers)) for name in _TRANSFER[1:]]
        return TransferModel(size, *links)
    deep = raw.ndim == 3 if isinstance(raw, np.ndarray) else _depth(raw) == 3
    wanted = (workers, workers, chunks) if deep else (workers, chunks)
    return tree.to_preorder(_table("fetch", raw, wanted, null=np.inf))


def _depth(raw: Any) -> int:
    depth = 0
    while isinstance(raw, list):
        depth, raw = depth + 1, (raw[0] if raw else None)
    return depth


def _numbers(field: str, raw: Any, dimensions: int) -> NDArray[Any]:
    """A list of numbers as given, kept whole or fractional so that the door of the library can judge it."""
    if isinstance(raw, np.ndarray):
        if raw.ndim != dimensions:
            raise InputError(f"{field} has shape {raw.shape}, not one dimension")
        return raw
    if not isinstance(raw, list):
        raise InputError(f"{field} must be a list of numbers, not {type(raw).__name__}")
    for i, entry in enumerate(raw):
        if type(entry) not in (int, float):
            raise InputError(f"{field}[{i}] is {json.dumps(entry)}, not a number")
    try:
        return np.array(raw) if raw else np.zeros(0, np.int64)
    except OverflowError:
        raise InputError(f"{field} holds a number that does not fit in 64 bits") from None


def _table(field: str, raw: Any, shape: tuple[int, ...], null: float | None = None) -> NDArray[np.float64]:
    """Nested lists of exactly `shape` as float64; JSON ``null`` is `null` where that is allowed."""
    if isinstance(raw, np.ndarray):
        if raw.shape != shape or raw.dtype.kind not in "iuf":
            raise InputError(f"{field} has shape {raw.shape} and type {raw.dtype}, not {shape} numbers")
        return raw.astype(np.float64)
    array = np.empty(shape)
    rows: list[tuple[tuple[int, ...], Any]] = [((), raw)]
    for length in shape[:-1]:
        _check_lists(field, rows, length)
        rows = [((*index, i), entry) for index, row in rows for i, entry in enumerate(row)]
    _check_lists(field, rows, shape[-1])
    allowed = {int, float} if null is None else {int, float, type(None)}
    for index, row in rows:
        if not set(map(type, row)) <= allowed:
            i = next(i for i, entry in enumerate(row) if type(entry) not in allowed)
            raise InputError(f"{field}{_brackets((*index, i))} is {json.dumps(row[i])}, not a number")
        try:
            array[index] = [null if x is None else x for x in row] if null is not None else row
        except OverflowError:
            raise InputError(
                f"{field}{_brackets(index)} holds a number that does not fit in a float64"
            ) from None
    return array


def _check_lists(field: str, rows: Sequence[tuple[tuple[int, ...], Any]], length: int) -> None:
    for index, row in rows:
        if not isinstance(row, list) or len(row) != length:
            found = f"{len(row)} entries" if isinstance(row, list) else f"a {type(row).__name__}"
            raise InputError(f"{field}{_brackets(index)} has {found}, not {length}")


def _brackets(index: tuple[int, ...]) -> str:
    return "".join(f"[{i}]" for i in index)


def _check_header(fields: Mapping[str, Any], wanted: str) -> None:
    found, version = fields.get("format"), fields.get("version")
    if not isinstance(found, str) or found != wanted:
        raise InputError(f"format is {found!r}, not {wanted!r}")
    if type(version) is not int or version != VERSION:
        raise InputError(f"version is {version!r}; this program reads version {VERSION}")


def _without_prefix(error: InputError, file: Path) -> str:
    return str(error).removeprefix(f"{file}: ")


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            return [_jsonable(row) for row in value]
        numbers = value.tolist()
        if value.dtype.kind == "f":
            return [
                None if x == np.inf else int(x) if x.is_integer() and abs(x) < 2**53 else x for x in numbers
            ]
        return numbers
    if isinstance(value, dict):
        return {key: _jsonable(entry) for key, entry in value.items()}
    return value


def _write_npz(fields: Mapping[str, Any], file: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in fields.items():
        if isinstance(entry, np.ndarray):
            arrays[name] = entry
        elif name == "fetch":
            arrays.update({f"fetch.{key}": value for key, value in entry.items()})
        else:
            arrays[name] = np.array(json.dumps(entry, ensure_ascii=False, allow_nan=False))
    draft = file.with_name(f".{file.name}.{os.getpid()}.part.npz")
    try:
        np.savez_compressed(draft, allow_pickle=False, **arrays)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from None


def _read_npz(file: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    try:
        with np.load(file, allow_pickle=False) as archive:
            for name in archive.files:
                array = archive[name]
                if array.ndim == 0 and array.dtype.kind == "U":
                    fields[name] = json.loads(str(array))
                elif name.startswith("fetch."):
                    parts = fields.setdefault("fetch", {})
                    if not isinstance(parts, dict):
                        raise InputError(f"fetch is given twice, as a table and as {name}")
                    parts[name.removeprefix("fetch.")] = array
                elif name in fields:
                    raise InputError(f"{name} is given twice, as a table and as a transfer model")
                else:
                    fields[name] = array
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except InputError:
        raise
    except (ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{file}: not readable as a NumPy archive: {error}") from None
    return fields
