"""What instances and results show in a notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import prefixplace as pp


def instance(worker: str = "a<b>") -> pp.Instance:
    tree = pp.PrefixTree.from_parents([-1, 0, 0])
    return pp.Instance(
        tree,
        demand=[[3, 1, 2], [4, 0, 4]],
        recompute=[[5, 5, 5], [9, 9, 9]],
        fetch=[[2, 2, 2], [3, 3, 3]],
        budgets=[1, 2],
        name="<script>x</script>",
        workers=[worker, "second"],
    )


def cells(html: str) -> list[list[str]]:
    """Rows of the table in `html`, which must be well-formed."""
    root = ET.fromstring(f"<div>{html}</div>")
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_instance() -> None:
    html = instance()._repr_html_()
    assert "<script>" not in html
    header, first, second = cells(html)
    assert header[0] == "worker"
    assert first == ["a<b>", "1", "33.3%", "6", "30"]
    assert second == ["second", "2", "66.7%", "8", "72"]


def test_empty_forest() -> None:
    empty = pp.Instance(
        pp.PrefixTree.from_parents([]), demand=[[]], recompute=[[]], fetch=[[]], budgets=[0], name="empty"
    )
    assert cells(empty._repr_html_())[1] == ["worker-0", "0", "–", "0", "0"]


def test_result() -> None:
    result = pp.solve(instance(), "greedy")
    rows = dict(row for row in cells(result._repr_html_()))
    assert rows["value, ms saved per epoch"] == f"{result.value:g}"
    assert rows["bound"] == rows["gap"] == "–"
    assert rows["status"] == "feasible"
    assert rows["oracle calls"] == "2"
    assert rows["chunks kept"].startswith("3 (1, 2")
