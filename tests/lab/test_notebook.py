"""The first notebook runs from top to bottom, and is committed with what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def outputs(notebook: object) -> list[list[str]]:
    """What each code cell shows: the kinds of its outputs."""
    return [
        sorted(kind for out in cell.outputs for kind in out.get("data", {"text": 0}))
        for cell in notebook.cells  # type: ignore[attr-defined]
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs_and_shows_what_is_committed(path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    nbformat.validate(committed)
    numbers = [cell.execution_count for cell in committed.cells if cell.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1)), "run it from top to bottom before committing"
    fresh = nbformat.read(path, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbclient.NotebookClient(fresh, timeout=300, kernel_name="python3").execute()
    assert outputs(fresh) == outputs(committed)
    assert sum("image/png" in kinds for kinds in outputs(fresh)) >= 3
