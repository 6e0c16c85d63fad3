"""What is printed never looks better than it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from prefixplace.html import number, table_html
from prefixplace.lab.tables import gap_text, ratio_text, seconds_text, text_table


@given(st.floats(0, 2))
def test_a_ratio_is_rounded_away_from_one(ratio: float) -> None:
    shown = float(ratio_text(ratio))
    assert shown == pytest.approx(ratio, abs=1.001e-4)
    if ratio < 1 - 1e-9:
        assert shown < 1
    if ratio > 1 + 1e-9:
        assert shown > 1


def test_ratio_text() -> None:
    assert [ratio_text(x) for x in (None, 1.0, 1 - 1e-12, 0.99999, 1.00001, 0.5)] == [
        "–",
        "1",
        "1",
        "0.9999",
        "1.0001",
        "0.5000",
    ]


@given(st.floats(0, 1))
def test_a_gap_of_zero_means_optimal(gap: float) -> None:
    assert (gap_text(gap) == "0") == (gap <= 1e-9)


def test_gap_and_seconds_text() -> None:
    assert [gap_text(x) for x in (None, 0.0, 1e-10, 3e-6, 0.0123)] == ["–", "0", "0", "3e-06", "1.23%"]
    assert [seconds_text(x) for x in (1e-5, 0.01234, 12.345, 1234.5)] == ["<0.001", "0.0123", "12.3", "1,234"]


def test_number() -> None:
    shown = [number(x) for x in (None, 3.0, 1234567.0, 0.1, 12345678901.5, float("inf"))]
    assert shown == ["–", "3", "1,234,567", "0.1", "12,345,678,902", "inf"]
    assert number(123456.789, 4) == "123,457"
    assert number(1e300, 4) == "1e+300"


def test_text_is_never_markup() -> None:
    console = Console(file=io.StringIO(), width=60)
    console.print(text_table(["[red]a"], [["[/]"], ["[bold]x[/bold]"]], title="[t]"))
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert all(part in printed for part in ("[red]a", "[/]", "[bold]x[/bold]", "[t]"))


def test_html_is_escaped() -> None:
    html = table_html("<i>", ["<b>"], [["<u>", "&"]], ["<s>"])
    assert not any(tag in html for tag in ("<i>", "<u>", "<s>"))
    assert "&lt;u&gt;" in html and "&amp;" in html
