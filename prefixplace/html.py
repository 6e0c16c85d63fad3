"""Light HTML for notebooks: what an instance or a result shows when it ends a cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prefixplace.instance import Instance
    from prefixplace.result import Result

__all__ = ["counted", "instance_html", "number", "result_html", "table_html"]


def number(value: float | None, digits: int = 10) -> str:
    """A number for reading: `digits` significant digits, never cut before the point; a dash for None."""
    if value is None:
        return "–"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    whole = len(str(int(abs(value)))) if abs(value) < 1e15 else digits
    return f"{value:,.{digits}g}" if whole <= digits else f"{value:,.0f}"


def counted(count: int, noun: str) -> str:
    """``1 worker``, ``2 workers``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def table_html(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> str:
    """A table of text cells, everything escaped; the first column left-aligned, the others right-aligned."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if i else "left"}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(row)
        )

    head = f"<thead><tr>{cells(header, 'th')}</tr></thead>" if header else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    after = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return (
        f'<table><caption style="text-align:left"><b>{escape(caption)}</b></caption>'
        f"{head}<tbody>{body}</tbody></table>{after}"
    )


def instance_html(instance: Instance) -> str:
    """Name, size and objective of an instance, and one row per worker."""
    tree = instance.tree
    deepest = int(tree.depth.max()) + 1 if tree.n else 0
    kind = "pairwise (source-dependent)" if instance.pairwise else "requester-side"
    caption = (
        f"{instance.name or 'Instance'}: {counted(tree.n, 'chunk')} in {counted(tree.roots.size, 'tree')}, "
        f"depth {deepest:,}, {counted(instance.num_workers, 'worker')}, {kind}"
    )
    rows = [
        [
            worker,
            number(int(instance.budgets[m])),
            f"{instance.budgets[m] / tree.n:.1%}" if tree.n else "–",
            number(float(instance.demand[m].sum()), 6),
            number(float(np.dot(instance.demand[m], instance.recompute[m])), 6),
        ]
        for m, worker in enumerate(instance.workers)
    ]
    header = ["worker", "budget", "share of n", "chunk requests", "recompute all, ms"]
    return table_html(caption, header, rows)


def result_html(result: Result) -> str:
    """What a run found, what is proved about it, and what it took."""
    rows = [
        ["value, ms saved per epoch", number(result.value)],
        ["bound", f"{number(result.bound)} ({result.bound_proof})" if result.bound is not None else "–"],
        ["gap", "–" if result.gap is None else f"{result.gap:.3%}"],
        ["status", result.status],
        ["stopped because", result.stop_reason],
        ["seconds", f"{result.seconds:.3g}"],
        *([name.replace("_", " "), number(count)] for name, count in result.counters.items()),
    ]
    if result.placement is not None:
        sizes = result.placement.sizes
        each = ", ".join(map(str, sizes[:8].tolist())) + (", …" if sizes.size > 8 else "")
        rows.append(["chunks kept", f"{number(int(sizes.sum()))} ({each})"])
    return table_html(f"Result of {result.method}", [], rows)
