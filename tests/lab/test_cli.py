"""The command line as a user meets it: output, exit codes, one clear line for what is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import exact
import prefixplace as pp
from instances.registry import FAMILIES
from prefixplace.lab.cli.main import app, main

Outcome = tuple[int, str, str]
Run = Callable[..., Outcome]


def commands() -> list[list[str]]:
    """Every command that the application knows, with those of its groups."""
    found = []
    for name in app:
        if not name.startswith("-"):
            inner = [sub for sub in app[name] if not sub.startswith("-")]
            found += [[name, sub] for sub in inner] or [[name]]
    return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments: object) -> Outcome:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leaving:  # --help and --version
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def small(tmp_path: Path, run: Run) -> Path:
    """A RAG-shaped instance of 25 chunks on three workers."""
    path = tmp_path / "small.json"
    settings = ("documents=4", "document_chunks=2,4", "queries=3", "budget_chunks=5")
    code, _, _ = run("generate", "rag-shaped", "--seed", 3, *(f"--set={s}" for s in settings), "-o", path)
    assert code == 0
    return path


@pytest.fixture
def plan(tmp_path: Path, small: Path, run: Run) -> Path:
    """Algorithm 1's plan for it."""
    path = tmp_path / "plan.json"
    assert run("solve", small, "-o", path)[0] == 0
    return path


def parsed(outcome: Outcome) -> Any:
    """The one JSON document that stdout must be, with nothing on stderr."""
    code, out, err = outcome
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_has_an_example(command: list[str], run: Run) -> None:
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert f" prefixplace {' '.join(command)}" in out.replace("Usage: prefixplace", "")


def test_the_commands_that_others_call_are_there() -> None:
    named = "compare solve bound verify show generate families trace replay replan export solvers study lab"
    assert set(named.split()) <= {command[0] for command in commands()}


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"{pp.__version__}\n", "")


def test_solve_every_method_the_same_instance(small: Path, run: Run) -> None:
    instance = pp.read_instance(small)
    best = exact.solve(instance, "highs").value
    for method in ("greedy", "refined", "prefixplace", "independent", "highs"):
        document = parsed(run("solve", small, "--method", method, "--json"))
        assert document["method"] == method
        placement = pp.Placement.from_sets(instance.tree, document["plan"]["workers"], given=True)
        assert instance.value(placement) == document["value"] <= best * (1 + 1e-9)
        assert document["instance_digest"] == instance.digest
        assert {"bound", "bound_proof", "gap", "status", "stop_reason", "seconds", "seed"} <= set(document)
    assert document["status"] == "optimal" and document["value"] == pytest.approx(best)


def test_a_plan_goes_through_solve_verify_replay_and_show(small: Path, plan: Path, run: Run) -> None:
    value = json.loads(plan.read_text())["value"]
    code, out, _ = run("solve", small, "--start", plan, "-o", plan)
    assert code == 0 and str(plan) in out
    checked = parsed(run("verify", small, plan, "--json"))
    assert checked["holds"] is True and len(checked["checks"]) == 5
    served = parsed(run("replay", small, plan, "--json"))
    assert served["saved"] == pytest.approx(value, rel=1e-9)
    assert served["value"] == pytest.approx(value, rel=1e-12)
    assert parsed(run("show", small, plan, "--json"))["plan"]["value"] == served["value"]
    for command in (["verify", small, plan], ["replay", small, plan], ["show", small, plan]):
        code, out, err = run(*command)
        assert code == 0 and err == "" and len(out) > 100


def test_a_false_plan_exits_1(small: Path, plan: Path, run: Run, tmp_path: Path) -> None:
    document = json.loads(plan.read_text())
    broken = {
        "value": {**document, "value": document["value"] * (1 + 1e-6)},
        "parent": {**document, "workers": [[4], [], []]},
        "budget": {**document, "workers": [list(range(20)), [], []]},
        "twice": {**document, "workers": [[0, 0], [], []]},
        "no chunk": {**document, "workers": [[10_000], [], []]},
        "instance": {**document, "instance_digest": "0" * 64},
    }
    for name, false in broken.items():
        path = tmp_path / "false.json"
        path.write_text(json.dumps(false))
        code, out, err = run("verify", small, path, "--json")
        assert (code, err) == (1, ""), name
        assert json.loads(out)["holds"] is False
        code, out, err = run("verify", small, path)
        assert code == 1 and "FALSE" in out and err == "", name


@pytest.mark.parametrize("kind", exact.BOUNDS)
def test_bound_and_certificate(kind: str, small: Path, plan: Path, run: Run, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json.gz"
    document = parsed(run("bound", small, "--kind", kind, "--start", plan, "--certificate", proof, "--json"))
    assert {"kind", "bound", "proof", "seconds", "counters"} <= set(document)
    assert document["kind"] == kind and document["bound"] >= json.loads(plan.read_text())["value"]
    assert parsed(run("verify", small, proof, "--json"))["holds"] is True
    false = json.loads(gzip.decompress(proof.read_bytes()))
    false["bound"] = "1"
    proof.write_bytes(gzip.compress(json.dumps(false).encode()))
    assert run("verify", small, proof)[0] == 1


def test_compare_files(small: Path, run: Run) -> None:
    arguments = ("compare", small, small, "--methods", "greedy,highs", "--bounds", "compact-lp")
    document = parsed(run(*arguments, "--json"))
    for one in document["instances"]:
        assert [row["method"] for row in one["rows"]] == ["greedy", "highs", "compact-lp"]
        assert {"name", "n", "workers", "best_value", "best_bound"} <= set(one)
        assert one["workers"] == 3
        for row in one["rows"]:
            assert {"method", "value", "bound", "ratio", "gap", "seconds", "status"} <= set(row)
    code, out, err = run(*arguments, "--csv")
    assert (code, err) == (0, "")
    assert [row["method"] for row in csv.DictReader(io.StringIO(out))] == [
        "greedy",
        "highs",
        "compact-lp",
    ] * 2
    code, out, err = run(*arguments)
    rows = [line for line in out.splitlines() if line.startswith("compact-lp")]
    assert code == 0 and err == "" and len(rows) == 2


def test_compare_without_a_file_uses_the_embedded_instance(run: Run) -> None:
    document = parsed(run("compare", "--methods", "greedy,prefixplace", "--bounds", "", "--json"))
    assert document["instances"][0]["n"] > 100


def test_compare_with_a_failed_row_exits_1(small: Path, run: Run) -> None:
    code, out, _ = run("compare", small, "--methods", "mean-rate,greedy", "--bounds", "")
    assert code == 1 and "mean-rate: method 'mean-rate' is defined for pairwise instances only" in out


def test_ctrl_c_during_solve_prints_what_there_is(
    small: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pressed = iter([True])

    def report(*_: object) -> None:
        if next(pressed, False):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("prefixplace.lab.progress.Activity.report", report)
    path = tmp_path / "unfinished.json"
    code, out, err = run("solve", small, "-o", path)
    assert code == 130 and err == "prefixplace: interrupted\n"
    assert "user" in out
    assert run("verify", small, path)[0] == 0


def test_ctrl_c_during_compare_prints_finished_rows(
    small: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefixplace.lab import compare

    real = compare.run_method

    def once(instance: pp.Instance, name: str, *rest: Any) -> Any:
        if name == "refined":
            raise KeyboardInterrupt
        return real(instance, name, *rest)

    monkeypatch.setattr(compare, "run_method", once)
    code, out, err = run("compare", small, "--json")
    assert code == 130 and err == "prefixplace: interrupted\n"
    document = json.loads(out)
    assert document["interrupted"] is True
    assert [row["method"] for row in document["instances"][0]["rows"]] == ["greedy"]


def test_solvers_runs_every_back_end_on_a_tiny_instance(run: Run) -> None:
    rows = {row["name"]: row for row in parsed(run("solvers", "--json"))["solvers"] if row["kind"] == "exact"}
    assert set(rows) == set(exact.BACKENDS)
    for row in rows.values():
        assert row["verdict"] == ("works" if row["usable"] else "unavailable")
        assert row["start"] in ("accepted", "kept", "not taken") and row["note"]


def test_families_and_solvers_list_everything(run: Run) -> None:
    assert [f["name"] for f in parsed(run("families", "--json"))["families"]] == list(FAMILIES)
    listed = [s["name"] for s in parsed(run("solvers", "--json"))["solvers"]]
    assert listed == [*pp.METHODS, *exact.BACKENDS, *exact.BOUNDS]
    for command, names in (
        ("families", FAMILIES),
        ("solvers", [*pp.METHODS, *exact.BACKENDS, *exact.BOUNDS]),
    ):
        code, out, err = run(command)
        assert code == 0 and err == ""
        assert all(name in out for name in names)


def test_the_same_seed_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.json.gz" for i in range(3)]
    for file, seed in zip(files, (5, 5, 6), strict=True):
        assert run("generate", "multi-turn", "--seed", seed, "--set", "sessions=9", "-o", file)[0] == 0
    first, second, third = (file.read_bytes() for file in files)
    assert first == second != third
    document = parsed(run("generate", "multi-turn", "--seed", 5, "--set", "sessions=9", "--json"))
    assert document["instance_digest"] == pp.read_instance(files[0]).digest
    assert document["file"] is None


def trace_lines() -> str:
    records = [
        {"timestamp": 1000 * i, "input_length": 512 * len(ids), "output_length": 1, "hash_ids": ids}
        for i, ids in enumerate([[1, 2, 3], [1, 2, 4], [1, 2], [5, 6], [1, 2, 3], [5, 6, 7]])
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def test_trace_to_plan_to_replay(run: Run, tmp_path: Path) -> None:
    trace, file, plan = tmp_path / "t.jsonl", tmp_path / "t.npz", tmp_path / "p.json"
    trace.write_text(trace_lines())
    options = ("--workers", 2, "--routing", "home-sharing", "--sharing", 0.5)
    document = parsed(run("trace", trace, *options, "--budgets", "2,3", "-o", file, "--json"))
    assert (document["n"], document["budgets"], document["report"]["requests_used"]) == (7, [2, 3], 6)
    assert run("solve", file, "-o", plan)[0] == 0
    served = parsed(run("replay", file, plan, "--trace", trace, *options, "--json"))
    assert served["requests"] == 6
    assert served["saved"] == pytest.approx(served["value"], rel=1e-9)
    code, out, err = run("trace", trace, "--workers", 2)
    assert code == 0 and "6 of 6" in out and err == ""


def test_workers_follow_the_assignment(run: Run, tmp_path: Path) -> None:
    trace, assignment = tmp_path / "t.jsonl", tmp_path / "a.json"
    trace.write_text(trace_lines())
    assignment.write_text(json.dumps({"worker": [0, 1, 2, 0, 1, 2]}))
    document = parsed(run("trace", trace, "--assignment", assignment, "--json"))
    assert len(document["workers"]) == 3


@pytest.mark.parametrize("form", ["mps", "lp"])
def test_an_exported_programme_has_the_same_optimum(form: str, small: Path, run: Run, tmp_path: Path) -> None:
    from exact.backends.highs import new_highs

    path, solution = tmp_path / f"model.{form}", tmp_path / "model.sol"
    assert parsed(run("export", small, "--to", form, "-o", path, "--json"))["form"] == form
    highs = new_highs()
    highs.readModel(str(path))
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.run()
    instance = pp.read_instance(small)
    best = exact.solve(instance, "highs").value
    # an LP file has no direction in MPS terms: HiGHS reads a maximisation as one or as a negated minimisation
    assert abs(highs.getInfo().objective_function_value) == pytest.approx(best, rel=1e-7)
    highs.writeSolution(str(solution), 0)
    read = parsed(run("plan", small, solution, "-o", tmp_path / "plan.json", "--json"))
    assert read["value"] == pytest.approx(best, rel=1e-9)
    assert run("verify", small, tmp_path / "plan.json")[0] == 0


def test_show_writes_a_picture(small: Path, plan: Path, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plan.png"
    assert run("show", small, plan, "--png", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def bad_input(small: Path, plan: Path, folder: Path) -> list[tuple[list[object], str]]:
    """Command lines that are wrong, with what the one line must say."""
    broken = folder / "broken.json"
    broken.write_text('{"format": "prefixplace-instance", "version": 1, "parent": [-1')
    binary = folder / "binary.npz"
    binary.write_bytes(b"\x00\x01\x02")
    text = folder / "text.json"
    text.write_text("[1, 2]")
    secret = folder / "no such file.json"
    return [
        (["solve", secret], "no such file.json: No such file or directory"),
        (["solve", folder], "Is a directory"),
        (["compare", broken], "broken.json: not readable as JSON"),
        (["show", binary], "binary.npz: not readable as a NumPy archive"),
        (["show", text], "text.json: holds a list, not a JSON object"),
        (["verify", small, text], "not a JSON object"),
        (["verify", small, small], "format is 'prefixplace-instance'"),
        (["replay", small, small], "format is 'prefixplace-instance'"),
        (["solve", small, "--method", "nope"], "unknown method 'nope'; known are greedy"),
        (["compare", small, "--methods", "nope"], "unknown method 'nope'"),
        (["compare", small, "--bounds", "nope"], "unknown bound 'nope'"),
        (["compare", small, "--json", "--csv"], "--json or --csv"),
        (["bound", small, "--kind", "nope"], "unknown bound 'nope'"),
        (["solve", small, "--time-limit", "soon"], "--time-limit"),
        (["solve", small, "--time-limit", "-1"], "seconds is -1"),
        (["solve", small, "--method", "highs", "--threads", "0"], "threads is 0"),
        (["solve", small, "-o", folder / "none" / "p.json"], "cannot be written"),
        (["generate", "nope"], "unknown family 'nope'; known: rag-shaped"),
        (["generate", "rag-shaped", "--set", "wrkers=3"], "no parameter 'wrkers'; it has workers"),
        (["generate", "rag-shaped", "--set", "workers"], "write it as name=value"),
        (["generate", "rag-shaped", "--set", "workers=two"], "is 'two', not a whole number"),
        (["generate", "rag-shaped", "--set", "workers=0"], "violates workers >= 1"),
        (["generate", "rag-shaped", "--set", "workers=1", "--set", "workers=2"], "given twice"),
        (["trace", secret], "no such file.json"),
        (["replay", small, plan, "--workers", "3"], "need --trace"),
        (["export", small, "--to", "mps", "-o", folder / "none" / "m.mps"], "cannot be written"),
        (["export", small, "--to", "xls", "-o", folder / "m"], "--to"),
        (["export", small, "--to", "lp", "-o", folder / "m.mps"], "ends in .lp"),
        (["plan", small, plan], "no value of any variable"),
        (["lab", folder / "none"], "no such folder"),
        (["sovle", small], 'Unknown command "sovle"'),
        (["solve"], '"solve" parameter FILE requires an argument'),
        (["solve", small, "--bogus", "1"], "--bogus"),
        (["study", "table2", "--processes", "0", "-o", folder / "t"], "processes is 0"),
    ]


def test_bad_input_is_one_clear_line_and_exit_2(small: Path, plan: Path, run: Run, tmp_path: Path) -> None:
    for arguments, said in bad_input(small, plan, tmp_path):
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), arguments
        assert err.startswith("prefixplace: ") and err.count("\n") == 1, err
        assert said in err, f"{arguments}: {err}"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    code = "import sys; from prefixplace.lab.cli import main; sys.stdin.read(); sys.exit(main(['families']))"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()  # only now does it begin to write
        assert process.stderr.read() == ""
        assert process.wait() == 141


def test_the_entry_point_is_installed() -> None:
    from importlib.metadata import entry_points

    from prefixplace.lab import entry

    (script,) = entry_points(group="console_scripts", name="prefixplace")
    assert script.load() is entry.main
