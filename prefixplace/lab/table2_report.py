"""Table II as a job: run or resume, and write it beside the paper's figures."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Group
from rich.text import Text

from prefixplace.errors import InputError
from prefixplace.lab.jobs import Record, Records, run_jobs
from prefixplace.lab.study_table2 import (
    APC_REQUESTS,
    COMPARATORS,
    OWN,
    PAPER,
    complete,
    gain_rows,
    settings,
    solved,
    table_rows,
)
from prefixplace.lab.tables import seconds_text, text_table
from prefixplace.result import package_versions

__all__ = ["records_of", "run_table2", "table2_document", "table2_markdown", "table2_tables", "write_table2"]


def run_table2(
    folder: Path,
    *,
    short: bool = False,
    processes: int = 1,
    backend: str = "branch-and-bound",
    time_limit: float | None = 120.0,
    begin: Callable[[int, int], None] = lambda done, total: None,
    finished: Callable[[str], None] = lambda name: None,
) -> list[str]:
    """Solve the instances of Table II that `folder` does not hold yet, and keep every record there.

    Parameters
    ----------
    folder : Path
        Made when it does not exist; records are in ``table2.jsonl``.
    short : bool
        24 instances instead of 432.
    processes : int
    backend : str
        The exact back-end that proves the optima.
    time_limit : float or None
        Seconds for each proof.
    begin, finished : callable
        Told how many instances are done of how many, and the name of each that is done after that.

    Returns
    -------
    list of str
        A line for each job that failed; what was solved is in `folder` (see :func:`records_of`).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None
    kept = Records(folder / "table2.jsonl")
    wanted = settings(short=short)
    known = {record["name"] for record in kept.records if record["backend"] == backend and complete(record)}
    todo = [setting for setting in wanted if setting.name not in known]
    begin(len(wanted) - len(todo), len(wanted))
    failures = []
    for outcome in run_jobs(
        solved, [(setting, backend, time_limit) for setting in todo], processes=processes
    ):
        if isinstance(outcome, BaseException):
            failures.append(f"{type(outcome).__name__}: {outcome}")
            finished("a failed job")
        else:
            kept.add(outcome)
            finished(outcome["name"])
    return failures


def records_of(folder: Path, *, backend: str, short: bool) -> list[Record]:
    """What `folder` holds of the study, in the order of the settings."""
    kept = Records(folder / "table2.jsonl").records
    by_name = {record["name"]: record for record in kept if record["backend"] == backend and complete(record)}
    return [by_name[setting.name] for setting in settings(short=short) if setting.name in by_name]


def write_table2(folder: Path, records: list[Record]) -> None:
    """Write ``table2.md``, ``table2.csv`` (one line per instance) and ``table2.json`` to `folder`."""
    (folder / "table2.md").write_text(table2_markdown(records), encoding="utf-8")
    document = json.dumps(table2_document(records), ensure_ascii=False, allow_nan=False, indent=1)
    (folder / "table2.json").write_text(document + "\n", encoding="utf-8")
    methods = [*PAPER, *OWN, *(name for name in COMPARATORS if name not in PAPER)]
    facts = ("name", "n", "status", "optimum", "bound", "certified", "seconds", "nodes")
    with (folder / "table2.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*facts, *methods])
        for record in records:
            values = (record["values"][method] for method in methods)
            writer.writerow([*(record[fact] for fact in facts), *values])


def table2_document(records: list[Record]) -> dict[str, Any]:
    """Everything as JSON-able data."""
    return {
        "study": "table2",
        "instances": len(records),
        "proven": _proven(records),
        "certified": _certified(records),
        "proof_seconds": sum(record["seconds"] for record in records),
        "rows": [asdict(row) for row in table_rows(records)],
        "gain": [asdict(row) for row in gain_rows(records)],
        "apc_requests": APC_REQUESTS,
        "versions": package_versions("highspy", "ortools"),
        "records": records,
    }


def table2_tables(records: list[Record]) -> Group:
    """Both tables for the terminal."""
    return Group(
        text_table(_COLUMNS, _table_cells(records), title=_title(records)),
        "",
        text_table(_GAIN_COLUMNS, _gain_cells(records), title=_GAIN),
        Text(_seconds(records), style="dim"),
    )


def table2_markdown(records: list[Record]) -> str:
    """Both tables as Markdown."""
    return "\n".join(
        [
            f"# {_title(records)}",
            "",
            *_markdown(_COLUMNS, _table_cells(records)),
            "",
            f"## {_GAIN}",
            "",
            *_markdown(_GAIN_COLUMNS, _gain_cells(records)),
            "",
            _seconds(records),
            "The instances have the paper's shapes and counts, not its random numbers, so the figures agree in kind, "
            "not in digits.",
            f"vLLM-APC: per-worker LRU caches after {APC_REQUESTS:,} requests drawn from the demand, frozen.",
            "",
        ]
    )


_COLUMNS = ("method", "mean %", "min %", "optima", "paper: mean %", "min %", "optima of 432")
_GAIN = "Gain in per cent: 100·(F(P) − F(B)) / F(B)"
_GAIN_COLUMNS = ("over comparator B", "Algorithm 1: mean", "largest", "optimum: mean", "largest")


def _proven(records: list[Record]) -> int:
    return sum(record["status"] == "optimal" for record in records)


def _certified(records: list[Record]) -> int | None:
    """Optima with a certificate that verifies; None when the back-end writes none."""
    told = [record["certified"] for record in records if record["certified"] is not None]
    return sum(told) if told else None


def _title(records: list[Record]) -> str:
    return f"Table II: {len(records)} instances, {_proven(records)} with a proven optimum"


def _seconds(records: list[Record]) -> str:
    seconds = sorted(record["seconds"] for record in records)
    if not seconds:
        return "No instance is solved yet."
    backend, total = records[0]["backend"], sum(seconds)
    line = f"Proofs by {backend}: {_proven(records)} of {len(records)}, {total:,.0f} s in all, "
    line += f"median {seconds_text(median(seconds))} s, longest {seconds_text(seconds[-1])} s."
    certified = _certified(records)
    if certified is not None:
        line += f" Certificates verified in exact arithmetic: {certified}."
    return line


def _table_cells(records: list[Record]) -> list[tuple[str, ...]]:
    return [
        (
            row.label,
            _per_cent(row.mean),
            _per_cent(row.minimum),
            f"{row.found} of {row.instances}",
            "–" if row.paper_mean is None else f"{row.paper_mean:.2f}",
            "–" if row.paper_minimum is None else f"{row.paper_minimum:.2f}",
            "–" if row.paper_found is None else str(row.paper_found),
        )
        for row in table_rows(records)
    ]


def _per_cent(value: float) -> str:
    """Two decimals, or as many as keep what is below 100 below it."""
    digits = 2
    while value < 100 and digits < 9 and float(f"{value:.{digits}f}") >= 100:
        digits += 1
    return f"{value:.{digits}f}"


def _gain_cells(records: list[Record]) -> list[tuple[str, ...]]:
    return [
        (
            row.comparator,
            f"{row.mean:.2f}",
            f"{row.largest:.2f}",
            f"{row.optimum_mean:.2f}",
            f"{row.optimum_largest:.2f}",
        )
        for row in gain_rows(records)
    ]


def _markdown(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    line = "| {} |".format
    rule = "|" + "|".join("---:" if i else "---" for i in range(len(header))) + "|"
    return [line(" | ".join(header)), rule, *(line(" | ".join(cells)) for cells in rows)]
