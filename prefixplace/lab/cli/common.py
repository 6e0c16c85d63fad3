"""What the commands share: option types, reading, printing."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

__all__ = [
    "Json",
    "Names",
    "Output",
    "Seed",
    "Threads",
    "TimeLimit",
    "facts",
    "print_json",
    "show",
    "split_names",
]

Json = Annotated[
    bool, Parameter(name="--json", negative="", help="Print one JSON document and nothing else.")
]
Names = Annotated[str | None, Parameter(help="Names, separated by commas.")]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"], help="File to write.")]
Seed = Annotated[
    int, Parameter(help="Seed of whatever is drawn at random.", validator=validators.Number(gte=0))
]
Threads = Annotated[int, Parameter(help="Threads of an exact back-end.")]
TimeLimit = Annotated[float | None, Parameter(name="--time-limit", help="Seconds for each run.")]


def split_names(text: str | None) -> list[str] | None:
    """``"a,b"`` as a list; None stays None, and an empty text is an empty list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on one line."""
    print(json.dumps(document, ensure_ascii=False, allow_nan=False))


class _Terminal(Console):
    """A console that leaves it to the entry point what a broken pipe means."""

    def on_broken_pipe(self) -> None:
        raise  # rich calls this while it handles the BrokenPipeError


def show(*parts: RenderableType) -> None:
    """Print to stdout for reading."""
    # the default width off a terminal is 80, which would cut tables in a file or a pager
    console = _Terminal(width=None if sys.stdout.isatty() else 120)
    for part in parts:
        console.print(part, highlight=False, markup=False)


def facts(title: str, rows: Mapping[str, str]) -> Table:
    """A two-column table of named facts, as plain text."""
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=None, show_header=False, pad_edge=False
    )
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table
