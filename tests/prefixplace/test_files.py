"""Instance and plan files: exact round trips, and one clear error for each broken rule."""

from __future__ import annotations

import copy
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prefixplace as pp
from tests.brute import random_instance, random_parents

DOCUMENT: dict[str, Any] = {
    "format": "prefixplace-instance",
    "version": 1,
    "name": "tiny",
    "parent": [1, -1, 0],
    "budgets": [2, 0],
    "demand": [[1, 3, 2], [0, 1, 1]],
    "recompute": [[10, 10, 10.5], [1, 1, 1]],
    "fetch": [[4, None, 3], [0, 1, 2]],
    "workers": ["l4", "t4"],
    "chunks": ["b", "a", "c"],
    "meta": {"origin": "made by hand"},
}


def written(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(document))
    return path


def test_reading_orders_by_preorder_and_keeps_names(tmp_path: Path) -> None:
    instance = pp.read_instance(written(tmp_path, DOCUMENT))
    assert instance.tree.labels == ("a", "b", "c") and instance.workers == ("l4", "t4")
    assert instance.demand.tolist() == [[3, 1, 2], [1, 0, 1]]
    assert np.isinf(np.asarray(instance.fetch)[0, 0])
    assert instance.meta == {"origin": "made by hand"}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["requester", "pairwise", "values", "transfer"]))
@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".npz"])
def test_round_trip_is_exact(tmp_path: Path, suffix: str, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n, workers = int(rng.integers(0, 9)), int(rng.integers(1, 4))
    instance = random_instance(rng, n=n, workers=workers, pairwise=kind == "pairwise")
    if kind == "values":
        instance = pp.Instance.from_values(
            pp.PrefixTree.from_parents(random_parents(rng, n)),
            local=rng.random((workers, n)) * 10.0 ** rng.integers(-9, 10, (workers, n)),
            coverage=rng.random(n),
            budgets=instance.budgets,
        )
    elif kind == "transfer":
        instance = pp.Instance(
            instance.tree,
            demand=instance.demand,
            recompute=instance.recompute,
            fetch=pp.TransferModel(rng.random(n) * 1e8, rng.random((workers, workers)) * 1e10),
            budgets=instance.budgets,
        )
    path = tmp_path / f"x{suffix}"
    pp.write_instance(instance, path)
    back = pp.read_instance(path)
    assert back.digest == instance.digest and back.tree == instance.tree
    assert np.array_equal(back.demand, instance.demand) and np.array_equal(back.recompute, instance.recompute)
    assert back.pairwise == instance.pairwise and back.has_values == instance.has_values
    first = path.read_bytes()
    if suffix != ".npz":
        pp.write_instance(back, path)
        assert path.read_bytes() == first


def _change(field: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.__setitem__(field, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change("parents", [1]), "unknown field 'parents'"),
        (lambda d: d.pop("demand"), "field 'demand' is missing"),
        (_change("format", "other"), "format is 'other'"),
        (_change("version", 2), "version is 2"),
        (_change("version", True), "version is True"),
        (_change("chunks", []), "0 labels for 3"),
        (_change("chunks", [{"a": 1}, 2, 3]), "not hashable"),
        (_change("name", "\ud800"), "lone surrogate"),
        (_change("parent", [1, 0, -1]), "cycle"),
        (_change("parent", [1, -1, 7]), "parent of node 2 is 7"),
        (_change("budgets", [2.5, 0]), "budget of worker 0 is 2.5"),
        (_change("budgets", ["2", 0]), r'budgets\[0\] is "2", not a number'),
        (_change("budgets", [True, 0]), r"budgets\[0\] is true"),
        (_change("budgets", [10**30, 0]), "64 bits|below 2"),
        (_change("demand", [[1, 3], [0, 1, 1]]), r"demand\[0\] has 2 entries, not 3"),
        (_change("demand", [[1, 3, 2]]), "demand has 1 entries, not 2"),
        (_change("demand", 1), "demand has a int, not 2"),
        (_change("demand", [[1, 3, -2], [0, 1, 1]]), r"demand of worker 0 \(l4\), chunk 2 \('c'\) is -2.0"),
        (_change("demand", [[1, 3, None], [0, 1, 1]]), r"demand\[0\]\[2\] is null"),
        (_change("demand", [[1, 3, "2"], [0, 1, 1]]), r'demand\[0\]\[2\] is "2"'),
        (_change("fetch", [[1, 2, True], [0, 1, 1]]), r"fetch\[0\]\[2\] is true"),
        (_change("fetch", [[[0, 0, 0]], [[0, 0, 0]]]), r"fetch\[0\] has 1 entries, not 2"),
        (_change("fetch", {"chunk_bytes": [1]}), "transfer model has the fields"),
        (_change("workers", ["a"]), "1 worker names for 2"),
        (_change("chunks", ["a", "b"]), "2 labels for 3"),
        (_change("local", [[1, 2, 3], [1, 2, 3]]), "unknown field 'demand'"),
        (_change("meta", 3), "meta must be an object"),
        (_change("name", 3), "name is 3, not a string"),
    ],
)
def test_broken_files_name_file_field_and_place(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    path = written(tmp_path, document)
    with pytest.raises(pp.InputError, match=message) as caught:
        pp.read_instance(path)
    assert str(caught.value).startswith(str(path)) and str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not readable as JSON"),
        ("[1]", "holds a list"),
        ('{"format": NaN}', "NaN is not a number that JSON allows"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ("\x00", "not readable as JSON"),
        ("[" * 100_000, "not readable as JSON"),
        ('{"parent": [' + "9" * 5000 + "]}", "not readable as JSON"),
    ],
)
def test_text_that_is_no_instance(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(pp.InputError, match=message):
        pp.read_instance(path)


def test_unreadable_files(tmp_path: Path) -> None:
    corrupt = bytearray(gzip.compress(b"{" + b"1" * 99))
    corrupt[12:16] = b"\xff\xff\xff\xff"
    table = io.BytesIO()
    np.save(table, np.zeros(3))
    for name, content in (
        ("a.json.gz", b"not gzip"),
        ("b.npz", b"not a zip"),
        ("c.json.gz", gzip.compress(b"{}")[:-9]),
        ("d.json.gz", bytes(corrupt)),
        ("e.npz", b""),
        ("f.npz", table.getvalue()),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(pp.InputError, match=name):
            pp.read_instance(tmp_path / name)
    with pytest.raises(pp.InputError, match="No such file"):
        pp.read_instance(tmp_path / "missing.json")
    with pytest.raises(pp.InputError, match="Is a directory"):
        pp.read_instance(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    instance = pp.read_instance(written(tmp_path, DOCUMENT))
    path = tmp_path / "kept.json"
    pp.write_instance(instance, path)
    before = path.read_bytes()
    instance.meta["bad"] = object()
    with pytest.raises(pp.InputError, match="must be JSON data"):
        pp.write_instance(instance, path)
    assert path.read_bytes() == before and list(tmp_path.glob(".*part*")) == []
    with pytest.raises(pp.InputError, match="cannot be written"):
        pp.write_instance(pp.read_instance(path), tmp_path / "no" / "such" / "folder.json")


def test_plan_round_trip_uses_the_numbers_of_the_file(tmp_path: Path) -> None:
    instance = pp.read_instance(written(tmp_path, DOCUMENT))
    result = pp.solve(instance)
    path = tmp_path / "plan.json"
    pp.write_plan(result, path, instance)
    document = json.loads(path.read_text())
    assert document["workers"] == [s.tolist() for s in result.placement.sets(given=True)]  # type: ignore[union-attr]
    assert document["value"] == result.value and document["method"] == "prefixplace"
    assert pp.read_plan(path, instance) == result.placement


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance_digest": "00"}, "belongs to an instance with digest"),
        ({"workers": [[2], []]}, "keeps chunk 2 without its parent chunk 0"),
        ({"workers": [[1, 0, 2], []]}, "keeps 3 chunks with a budget of 2"),
        ({"workers": [[1, 1], []]}, "twice"),
        ({"workers": [[9], []]}, "below 3"),
        ({"workers": [[1.0], []]}, "not a chunk number"),
        ({"workers": [[1]]}, "list the chunks of 2 workers"),
        ({"workers": [1, []]}, r"workers\[0\] is 1"),
        ({"format": "x"}, "format is 'x'"),
    ],
)
def test_broken_plans(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    instance = pp.read_instance(written(tmp_path, DOCUMENT))
    path = tmp_path / "plan.json"
    pp.write_plan(pp.Placement.empty(instance.tree, 2), path, instance)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(pp.InputError, match=message):
        pp.read_plan(path, instance)
