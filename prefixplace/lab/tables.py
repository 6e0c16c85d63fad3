"""Tables for the terminal and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from prefixplace.html import counted, number, table_html
from prefixplace.lab.auditing import audit_lines

if TYPE_CHECKING:
    from prefixplace.lab.compare import Comparison, InstanceComparison

__all__ = ["comparison_html", "comparison_tables", "gap_text", "ratio_text", "seconds_text", "text_table"]

_SILENT = ("finished", "error", "unavailable")  # a reason below the table says more
_STYLES = {"optimal": "green", "none": "red", "bound": "dim"}


def ratio_text(ratio: float | None) -> str:
    """A ratio with four decimals, rounded away from 1: what is below the optimum never reads 1.0000."""
    if ratio is None:
        return "–"
    if abs(ratio - 1) <= 1e-9:
        return "1"
    scaled = ratio * 1e4
    return f"{(math.floor(scaled) if ratio < 1 else math.ceil(scaled)) / 1e4:.4f}"


def gap_text(gap: float | None) -> str:
    """A relative gap: 0 within the tolerance of optimality, else percent."""
    if gap is None:
        return "–"
    if gap <= 1e-9:
        return "0"
    return f"{gap:.2%}" if gap >= 5e-5 else f"{gap:.0e}"


def seconds_text(seconds: float) -> str:
    """Three significant digits, more before the point when there are."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}" if seconds >= 1e-3 else "<0.001"


def comparison_tables(comparison: Comparison) -> RenderableType:
    """One table per instance, and a line when the comparison was interrupted."""
    parts: list[RenderableType] = [_table(one) for one in comparison.instances]
    if comparison.interrupted:
        parts.append(Text("interrupted: only what was finished is shown", style="yellow"))
    return Group(*parts)


def comparison_html(comparison: Comparison) -> str:
    """The same tables as HTML."""
    parts = [
        table_html(_title(one), _HEADER, _cells(one), [*_notes(one), *_reasons(one)])
        for one in comparison.instances
    ]
    if comparison.interrupted:
        parts.append("<div>interrupted: only what was finished is shown</div>")
    return "".join(parts)


def text_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    left: Container[int] = (0,),
    styles: Iterable[str | None] = repeat(None),
) -> Table:
    """A table of plain text: nothing in it is taken for markup, whatever workers and instances are called.

    Parameters
    ----------
    header : sequence of str
        Empty for a table without one.
    rows : iterable of sequences of str
    title : str
    left : collection of int
        Columns aligned to the left; the others are aligned to the right.
    styles : iterable of str or None
        Rich style of each row.
    """
    table = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        show_header=bool(header),
    )
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i in left else "right", overflow="fold")
    for cells, style in zip(rows, styles, strict=False):
        table.add_row(*map(Text, cells), style=style)
    return table


def _table(one: InstanceComparison) -> RenderableType:
    table = text_table(
        _HEADER,
        _cells(one),
        title=_title(one),
        left=(0, len(_HEADER) - 1),
        styles=[_STYLES.get(row.status) for row in one.rows],
    )
    notes = [Text(line) for line in _notes(one)]
    notes += [Text(reason, style="red") for reason in _reasons(one)]
    return Group(table, *notes, Text(""))


def _title(one: InstanceComparison) -> str:
    instance = one.instance
    kind = "pairwise" if instance.pairwise else "requester-side"
    name = instance.name or "instance"
    size = f"{counted(instance.num_chunks, 'chunk')}, {counted(instance.num_workers, 'worker')}"
    return f"{name}: {size}, {kind}"


def guarantee_text(factor: float | None) -> str:
    """An a-priori factor as it is written in the literature where it has a name."""
    if factor is None:
        return "–"
    named = {0.5: "½", 1 - 1 / math.e: "1 − 1/e"}
    return f"≥ {named.get(factor, f'{factor:g}')}"


_HEADER = ["method", "value", "ratio", "guarantee", "gap", "seconds", "status"]


def _cells(one: InstanceComparison) -> list[list[str]]:
    shown = [row.bound if row.kind == "bound" else row.value for row in one.rows]
    decimals = _decimals([value for value in shown if value is not None])
    return [
        [
            row.method,
            "–" if value is None else f"{'≤ ' if row.kind == 'bound' else ''}{value:,.{decimals}f}",
            ratio_text(row.ratio),
            guarantee_text(row.guarantee),
            gap_text(row.gap),
            seconds_text(row.seconds),
            row.status if row.stop_reason in _SILENT else f"{row.status}, {row.stop_reason}",
        ]
        for row, value in zip(one.rows, shown, strict=True)
    ]


def _decimals(values: list[float]) -> int:
    """Decimals with which a column shows nine digits of its largest number; none where all are whole."""
    largest = max(map(abs, values), default=0.0)
    if largest == 0 or all(float(value).is_integer() for value in values):
        return 0
    return max(0, 8 - math.floor(math.log10(largest)))


def _notes(one: InstanceComparison) -> list[str]:
    return [_verdict(one), *(audit_lines(*one.audit) if one.audit is not None else [])]


def _verdict(one: InstanceComparison) -> str:
    if one.best_value is None:
        return "No placement was found."
    if one.best_bound is None:
        return f"Best value {number(one.best_value, 12)} ({one.best_value_by}); no bound, so no ratio."
    if one.optimum_known:
        return (
            f"Ratio to the optimum {number(one.best_value, 12)} ms per epoch (proved by {one.best_bound_by})."
        )
    return (
        f"Ratio to the best bound {number(one.best_bound, 12)} ms per epoch ({one.best_bound_by}); "
        f"best value {number(one.best_value, 12)} ({one.best_value_by})."
    )


def _reasons(one: InstanceComparison) -> list[str]:
    return [f"{row.method}: {row.reason}" for row in one.rows if row.reason]
