"""What README and docs say is true: code runs, links lead somewhere, commands exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import prefixplace as pp

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


def test_the_example_of_the_readme_runs() -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "README.md", "python"):
        exec(block, names)
    import exact

    plan, best, bound = names["plan"], names["best"], names["bound"]
    assert (
        isinstance(plan, pp.Result) and isinstance(best, pp.Result) and isinstance(bound, exact.bounds.Bound)
    )
    assert plan.value is not None and best.value is not None
    assert best.status == "optimal" and best.value / 2 <= plan.value <= best.value <= bound.bound
    assert exact.verify(names["instance"], names["proof"]).ok


def test_the_instance_of_the_file_page_is_one(tmp_path: Path) -> None:
    (text,) = (b for b in blocks(ROOT / "docs" / "files.md", "json") if "prefixplace-instance" in b)
    path = tmp_path / "example.json"
    path.write_text(text)
    instance = pp.read_instance(path)
    assert instance.workers == ("left", "right") and instance.num_chunks == 3
    for other in blocks(ROOT / "docs" / "files.md", "json"):
        json.loads(other)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            assert file.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.M)
                assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}, (
                    target
                )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_named_exist(page: Path) -> None:
    from prefixplace.lab.cli.main import app

    text = page.read_text("utf-8")
    named = re.findall(r"^    (?:uv run )?prefixplace ([a-z]+)", text, re.M)
    if page.name == "README.md":
        for cell in re.findall(r"^\| (`.+?`) \|", text, re.M):
            named += [part.split()[0] for part in re.findall(r"`([a-z]+[^`]*)`", cell)]
        assert {"compare", "solve", "verify"} <= set(named)
    for name in named:
        assert name in app, name


def test_no_page_names_a_machine() -> None:
    for page in [*PAGES, *sorted((ROOT / "notebooks").glob("*.ipynb"))]:
        text = page.read_text("utf-8")
        for private in ("/work/", "/tmp/", "/root/", "/home/", "/usr/lib", "site-packages"):
            assert private not in text, f"{page.name}: {private}"
