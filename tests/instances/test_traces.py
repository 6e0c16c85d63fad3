"""Traces: strict reading, path-keyed chunks, what the report says, and the instance that comes out."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prefixplace as pp
from instances.fleet import Fleet
from instances.traces import read_assignment, read_mooncake, trace_instance
from prefixplace.costs import Affine
from prefixplace.demand import FirstChunkHash, HomeSharing, RoundRobin, StickySession
from tests.shared import shared_dir

CONVERSATION = "traces/mooncake_conversation_trace.jsonl"
SYNTHETIC = "traces/mooncake_synthetic_trace.jsonl"
RAGPULSE = "traces/ragpulse_blk128_mooncake.jsonl.gz"
DYNAMO = "traces/mooncake_conversation_dynamo_kvrouter_4w.json.gz"


def record(ids: list[Any], length: int, second: float = 0, **more: Any) -> dict[str, Any]:
    return {"timestamp": 1000 * second, "input_length": length, "output_length": 7, "hash_ids": ids, **more}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    text = "\n".join(json.dumps(r) for r in records) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def random_trace(seed: int, requests: int = 300) -> list[dict[str, Any]]:
    """Conversations of 4-token blocks under two system prompts; ids are numbers of paths: no violations."""
    rng = np.random.default_rng(seed)
    number: dict[tuple[int, ...], int] = {}
    records = []
    for r in range(requests):
        path, ids = (int(rng.integers(2)),), []
        for _ in range(int(rng.integers(1, 9))):
            path = (*path, int(rng.integers(3)))
            ids.append(number.setdefault(path, len(number)))
        records.append(record(ids, 4 * len(ids) - int(rng.integers(3)), r // 3, session_id=f"s{path[:3]}"))
    return records


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Five requests of 4-token blocks; id 7 is reached by two paths, id 2 ends a request with a partial block."""
    return write(
        tmp_path / "small.jsonl",
        [
            record([1, 2], 7, 0, session_id="a"),  # 2 is partial
            record([1, 5, 7], 12, 1, session_id="b"),
            record([6, 7], 8, 2, session_id="a"),
            record([9], 3, 3),  # no full block
            record([1, 5], 8, 4, session_id="b"),
        ],
    )


def test_tails_are_dropped_or_kept(small: Path) -> None:
    dropped = read_mooncake(small, block_tokens=4)
    assert dropped.paths == ([1], [1, 5, 7], [6, 7], [], [1, 5])
    assert dropped.tails_dropped == 2
    kept = read_mooncake(small, block_tokens=4, tail="keep")
    assert kept.paths == ([1, 2], [1, 5, 7], [6, 7], [9], [1, 5])
    assert kept.tails_dropped == 0
    assert kept.timestamp.tolist() == [0, 1, 2, 3, 4]
    assert kept.session is not None
    assert kept.session.tolist() == [0, 1, 0, -1, 1]
    assert (kept.input_length.tolist(), kept.output_length.tolist()) == ([7, 12, 8, 3, 8], [7] * 5)


def test_small_trace_to_instance(small: Path) -> None:
    built = trace_instance(
        small, block_tokens=4, fleet=Fleet(workers=2, gpus=("L4", "A100"), budget_chunks=(2,))
    )
    instance, requests, report = built.instance, built.requests, built.report
    assert requests.tree is instance.tree
    # Round robin over the lines of the file: 0 and 2 and 4 to worker 0, 1 and 3 to worker 1.
    assert requests.records.tolist() == [0, 1, 2, 4]
    assert requests.worker is not None
    assert requests.worker.tolist() == [0, 1, 0, 0]
    assert requests.chunk_ids == (1, 5, 7, 6, 7)
    assert instance.demand.tolist() == [[2, 1, 0, 1, 1], [1, 1, 1, 0, 0]]
    assert not instance.tree.has_labels  # 7 would name two chunks
    assert instance.budgets.tolist() == [2, 2]
    assert instance.recompute[1].tolist() == pytest.approx(
        (Affine(48.1, 0.005).for_chunk(4).ms(4 * instance.tree.depth)).tolist()
    )
    assert (report.requests_read, report.requests_used, report.without_full_chunk) == (5, 4, 1)
    assert (report.ids_on_several_paths, report.ids_with_several_predecessors) == (1, 1)
    assert (report.chunks, report.repeated_chunks, report.segments, report.cells) == (5, 2, 4, 20)
    assert report.shared_accesses == pytest.approx((3 + 2) / 8)
    assert report.partial_tails_dropped == 2
    assert instance.meta["trace"]["chunks"] == 5
    json.dumps(instance.meta)
    lines = dict(report.lines())
    assert lines["requests"] == "4 of 5 (1 no full chunk)"
    assert "1 on several paths" in lines["ids that are no prefix hash"]


def test_chained_ids_label_the_chunks(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl.gz", random_trace(0))
    built = trace_instance(path, block_tokens=4, tail="keep")
    assert built.report.ids_on_several_paths == 0
    assert dict(built.report.lines())["ids that are no prefix hash"] == "none"
    assert built.instance.tree.labels == built.requests.chunk_ids
    assert built.instance.name == "trace"
    assert built.instance.budgets.tolist() == [built.report.chunks * 2 // 100] * 4


def test_demand_is_what_counting_gives(tmp_path: Path) -> None:
    records = random_trace(1)
    path = write(tmp_path / "t.jsonl", records)
    built = trace_instance(path, block_tokens=4, tail="keep", min_demand=3, fleet=Fleet(workers=3))
    count = Counter((i % 3, chunk) for i, r in enumerate(records) for chunk in r["hash_ids"])
    total = Counter(chunk for r in records for chunk in r["hash_ids"])
    labels = built.instance.tree.labels
    assert set(labels) == {chunk for chunk, times in total.items() if times >= 3}
    for node, chunk in enumerate(labels):
        assert built.instance.demand[:, node].tolist() == [count[m, chunk] for m in range(3)]
    both = sum(t for c, t in total.items() if t >= 3 and sum(count[m, c] > 0 for m in range(3)) >= 2)
    assert built.report.shared_accesses == pytest.approx(both / built.instance.demand.sum())


def test_windows_split_the_trace(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", random_trace(2))
    whole = trace_instance(path, block_tokens=4, tail="keep")
    parts = [trace_instance(path, block_tokens=4, tail="keep", window_s=25, window_index=i) for i in range(4)]
    assert sum(len(p.requests) for p in parts) == len(whole.requests) == 300
    assert parts[0].report.outside_window == 225
    assert parts[1].instance.name == "t [1×25 s]"
    assert np.concatenate([p.requests.worker for p in parts]).tolist() == (np.arange(300) % 4).tolist()
    demand: Counter[Any] = Counter()
    for part in parts:
        demand.update(dict(zip(part.instance.tree.labels, part.instance.demand.sum(0), strict=True)))
    assert demand == dict(zip(whole.instance.tree.labels, whole.instance.demand.sum(0), strict=True))
    with pytest.raises(pp.InputError, match="window_index = 4 violates 0 <= window_index < 4"):
        trace_instance(path, block_tokens=4, tail="keep", window_s=25, window_index=4)
    with pytest.raises(pp.InputError, match="window_index = 1 needs a window length"):
        trace_instance(path, block_tokens=4, window_index=1)


def test_routing_rules_and_assignment_files(tmp_path: Path) -> None:
    records = random_trace(3)
    path = write(tmp_path / "t.jsonl", records)
    rng = np.random.default_rng(0)
    worker = rng.integers(4, size=300)
    log = tmp_path / "workers.json.gz"
    log.write_bytes(gzip.compress(json.dumps({"source": "here", "worker": worker.tolist()}).encode()))
    given = trace_instance(path, block_tokens=4, tail="keep", assignment=log)
    assert given.requests.worker is not None
    assert given.requests.worker.tolist() == worker.tolist()
    shared = {}
    for rule in (RoundRobin(), StickySession(), FirstChunkHash(), HomeSharing(0.0, depth=0)):
        built = trace_instance(path, block_tokens=4, tail="keep", routing=rule)
        shared[type(rule).__name__] = built.report.shared_accesses
    assert shared["FirstChunkHash"] == shared["HomeSharing"] == 0.0  # a prefix never meets two workers
    assert shared["RoundRobin"] > shared["StickySession"] > 0
    with pytest.raises(pp.InputError, match="not both"):
        trace_instance(path, block_tokens=4, assignment=log, routing=RoundRobin())


def test_measured_profiles_replace_named_ones(small: Path) -> None:
    fleet = Fleet(workers=2, gpus=("H100 of our own",))
    built = trace_instance(small, block_tokens=4, fleet=fleet, profiles=[Affine(1, 0, 4), Affine(2, 0, 4)])
    assert built.instance.recompute.tolist() == [[1] * 5, [2] * 5]
    with pytest.raises(pp.InputError, match="1 recompute profiles for 2 workers"):
        trace_instance(small, block_tokens=4, fleet=fleet, profiles=[Affine(1, 0, 4)])


def test_instance_survives_the_file(small: Path, tmp_path: Path) -> None:
    built = trace_instance(small, block_tokens=4, tail="keep")
    pp.write_instance(built.instance, tmp_path / "i.json")
    again = pp.read_instance(tmp_path / "i.json")
    assert again.digest == built.instance.digest
    assert again.meta == built.instance.meta


GOOD = record([1], 4)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not readable as JSON"),
        ("[1]", "line 2: holds a list, not a JSON object"),
        (json.dumps({**GOOD, "hash_ids": 5}), "line 2: hash_ids is int, not a list"),
        (json.dumps({**GOOD, "hash_ids": [1.5]}), "line 2: hash_ids[0] is 1.5"),
        (json.dumps({**GOOD, "hash_ids": [True]}), "line 2: hash_ids[0] is True"),
        (json.dumps({**GOOD, "input_length": -4}), "line 2: input_length is -4, not a whole number ≥ 0"),
        (json.dumps({**GOOD, "output_length": "x"}), "line 2: output_length is 'x'"),
        (json.dumps({**GOOD, "timestamp": None}), "line 2: timestamp is None"),
        (json.dumps({**GOOD, "timestamp": float("nan")}), "line 2: NaN is not a number"),
        (json.dumps({**GOOD, "session_id": [1]}), "line 2: session_id is [1]"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "hash_ids"}), "line 2: no hash_ids"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "timestamp"}), "line 2: no timestamp"),
        (
            json.dumps(record([1, 2], 4)),
            "line 2: 2 hash_ids for input_length 4 with 4-token blocks (expected 1)",
        ),
        (
            json.dumps(record([1], 12)),
            "line 2: 1 hash_ids for input_length 12 with 4-token blocks (expected 3)",
        ),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + line + "\n")
    with pytest.raises(pp.InputError) as error:
        read_mooncake(path, block_tokens=4)
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_other_names_of_the_fields_and_string_ids(tmp_path: Path) -> None:
    renamed = {"created_time": 2500, "input_tokens": 8, "output_tokens": 1, "hash_ids": ["0xa", "0xb"]}
    path = tmp_path / "t.jsonl"
    path.write_text("\n" + json.dumps(renamed) + "\n\n")
    records = read_mooncake(path, block_tokens=4)
    assert records.timestamp.tolist() == [2.5]
    assert records.paths == (["0xa", "0xb"],)
    assert records.session is None


def test_unreadable_and_empty_files(tmp_path: Path) -> None:
    with pytest.raises(pp.InputError, match="cannot read"):
        read_mooncake(tmp_path / "absent.jsonl")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    with pytest.raises(pp.InputError, match="no requests in it"):
        read_mooncake(empty)
    fake = tmp_path / "fake.jsonl.gz"
    fake.write_text("not gzip")
    with pytest.raises(pp.InputError, match="cannot read"):
        read_mooncake(fake)
    path = write(tmp_path / "t.jsonl", [record([1], 4)])
    with pytest.raises(pp.InputError, match="no chunk is wanted by 2 requests"):
        trace_instance(path, block_tokens=4, min_demand=2)
    with pytest.raises(pp.InputError, match="tail is 'cut'"):
        read_mooncake(path, tail="cut")  # type: ignore[arg-type]
    with pytest.raises(pp.InputError, match="block_tokens = 0 violates"):
        read_mooncake(path, block_tokens=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "non-empty list under 'worker'"),
        ("[0]", "holds a list"),
        ('{"worker": []}', "non-empty list"),
        ('{"worker": [0, -1]}', "worker of request 1 is -1"),
        ('{"worker": [0, 1.0]}', "worker of request 1 is 1.0"),
        ("nonsense", "not readable as JSON"),
    ],
)
def test_bad_assignment_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(pp.InputError, match=message):
        read_assignment(path)


@pytest.mark.parametrize(
    ("trace", "tail", "requests", "chunks", "repeated", "segments"),
    [
        (CONVERSATION, "keep", 12_031, 182_790, 44_144, 15_787),
        (CONVERSATION, "drop", 12_031, 170_899, None, None),
        (SYNTHETIC, "keep", 3_993, 43_924, 18_251, None),
        (SYNTHETIC, "drop", 2_886, 40_148, None, None),
    ],
)
def test_real_mooncake_traces(
    trace: str, tail: Any, requests: int, chunks: int, repeated: int | None, segments: int | None
) -> None:
    built = trace_instance(shared_dir(trace), tail=tail)
    report = built.report
    assert (report.requests_used, report.chunks, report.trace_chunks) == (requests, chunks, chunks)
    assert (report.ids_on_several_paths, report.ids_with_several_predecessors) == (0, 0)
    assert repeated is None or report.repeated_chunks == repeated
    assert segments is None or report.segments == segments
    assert built.instance.num_chunks == chunks


def test_real_threshold_and_routing_figures() -> None:
    threshold = trace_instance(shared_dir(CONVERSATION), tail="keep", min_demand=2).report
    assert (threshold.chunks, threshold.segments) == (44_144, 3_970)
    dynamo = trace_instance(shared_dir(CONVERSATION), tail="keep", assignment=shared_dir(DYNAMO))
    assert dynamo.report.shared_accesses == pytest.approx(0.385, abs=5e-4)
    round_robin = trace_instance(shared_dir(CONVERSATION), tail="keep")
    assert round_robin.report.shared_accesses == pytest.approx(0.466, abs=5e-4)


def test_blocks_are_grouped_into_chunks(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        [record([1, 2, 3, 4, 5], 20), record([1, 2, 3, 9], 16), record([1], 4), record([1, 7, 3, 4], 16)],
    )
    built = trace_instance(path, block_tokens=4, blocks_per_chunk=2, fleet=Fleet(workers=1))
    assert built.requests.chunk_ids == (2, 4, 9, 7, 4)
    assert built.instance.demand.tolist() == [[2, 1, 1, 1, 1]]
    assert built.instance.meta["chunk_tokens"] == 8
    assert built.report.without_full_chunk == 1
    assert built.report.ids_on_several_paths == 2  # blocks 3 and 4, each under 2 and under 7
    assert built.report.ids_with_several_predecessors == 1  # 4 always comes after 3
    one = trace_instance(path, block_tokens=4, fleet=Fleet(workers=1))
    assert one.report.chunks == 9
    assert built.instance.recompute[0, 1] == pytest.approx(one.instance.recompute[0, 2:4].sum())
    with pytest.raises(pp.InputError, match="blocks_per_chunk = 0 violates"):
        trace_instance(path, block_tokens=4, blocks_per_chunk=0)


def test_real_ragpulse_in_chunks_of_512_tokens() -> None:
    built = trace_instance(shared_dir(RAGPULSE), block_tokens=128, blocks_per_chunk=4)
    assert (built.report.chunks, built.report.repeated_chunks) == (24_709, 32)
    assert int(built.instance.tree.depth.max()) + 1 == 15


def test_real_ragpulse() -> None:
    built = trace_instance(shared_dir(RAGPULSE), block_tokens=128, routing=StickySession())
    assert (built.report.chunks, built.report.repeated_chunks, built.report.partial_tails_dropped) == (
        108_195,
        255,
        0,
    )
    with pytest.raises(pp.InputError, match="is block_tokens right"):
        read_mooncake(shared_dir(RAGPULSE), block_tokens=512)


@pytest.mark.parametrize("min_demand", [1, 4])
def test_replaying_the_requests_gives_the_objective(tmp_path: Path, min_demand: float) -> None:
    path = write(tmp_path / "t.jsonl", random_trace(4))
    fleet = Fleet(workers=3, budget_fraction=0.3, goodput_gbps=2.0)
    built = trace_instance(path, block_tokens=4, fleet=fleet, min_demand=min_demand)
    placement = pp.solve(built.instance, "refined").placement
    assert placement is not None
    replayed = pp.replay(built.instance, placement, built.requests)
    assert replayed.requests == len(built.requests)
    assert replayed.saved == pytest.approx(built.instance.value(placement), rel=1e-9)
    assert replayed.saved > 0
