"""The table realism × target → worst ratio found, each cell a resumable search of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from instances.known import exact_number
from instances.search.realism import LEVELS
from instances.search.records import Record
from instances.search.run import SearchParams, SearchProgress, search
from instances.search.targets import TARGETS

__all__ = ["Cells", "search_table", "table_markdown"]

Cells = dict[tuple[str, str], Record | None]
"""(realism, target) → the record of that cell."""


def search_table(
    params: SearchParams | None = None,
    *,
    seed: int = 0,
    restarts: int = 40,
    folder: str | Path | None = None,
    targets: Iterable[str] | None = None,
    progress: Callable[[str, str, SearchProgress], None] | None = None,
) -> Cells:
    """Search every target at every realism level for the same number of restarts.

    Parameters
    ----------
    params : SearchParams, optional
        Its realism is replaced by each level in turn.
    seed, restarts
        As in :func:`~instances.search.run.search`; the same for each cell.
    folder : path, optional
        One sub-folder ``<target>-<realism>-m<workers>`` a cell; a table that was stopped goes on from there.
    targets : names, optional
        All of :data:`TARGETS` when left out.
    progress : callable, optional
        Called with level, target and the progress of the cell after every restart.
    """
    params = params or SearchParams()
    cells: Cells = {}
    for realism in LEVELS:
        for target in TARGETS if targets is None else targets:
            place = None if folder is None else Path(folder) / f"{target}-{realism}-m{params.workers}"

            def report(state: SearchProgress, cell: tuple[str, str] = (realism, target)) -> None:
                if progress is not None:
                    progress(*cell, state)

            cells[realism, target] = search(
                target,
                replace(params, realism=realism),
                seed=seed,
                restarts=restarts,
                folder=place,
                progress=report,
            )
    return cells


def table_markdown(cells: Cells) -> str:
    """The table as Markdown: the limit of each cell as a fraction, and the verified ratio."""
    targets = list(dict.fromkeys(target for _, target in cells))
    lines = [
        "| realism | " + " | ".join(targets) + " |",
        "|---" * (1 + len(targets)) + "|",
    ]
    for realism in dict.fromkeys(level for level, _ in cells):
        entries = []
        for target in targets:
            record = cells[realism, target]
            if record is None:
                entries.append("–")
            elif record.limit == record.ratio:
                entries.append(f"{exact_number(record.ratio)} = {float(record.ratio):.4f}")
            else:
                entries.append(f"→ {float(record.limit):.4f} ({float(record.ratio):.4f})")
        lines.append(f"| {realism} | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"
