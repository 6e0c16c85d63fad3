"""``prefixplace library …`` and ``prefixplace import``: known values, and instances of the literature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from prefixplace.lab.cli.common import Json, Output, TimeLimit, facts, print_json, show

__all__ = ["import_file", "library"]

Folder = Annotated[
    Path | None, Parameter(name="--library", help="A library of your own instead of the packaged one.")
]

library = App(name="library", help="Instances with the best bounds known, and what proves them.")


@library.command(name="list")
def list_rows(*, library: Folder = None, markdown: bool = False, json: Json = False) -> int:
    """List the rows: bounds, gap, and what proves them.

    ```
    prefixplace library list
    prefixplace library list --markdown > library.md
    ```

    Parameters
    ----------
    markdown
        Print the page of tables that the documentation holds.
    """
    from instances.library import Library
    from instances.library.page import library_markdown
    from prefixplace.lab.tables import gap_text, text_table
    from prefixplace.result import relative_gap

    rows = Library(library) if library is not None else Library()
    if json:
        print_json({"rows": [row.to_dict() for row in rows]})
    elif markdown:
        print(library_markdown(rows), end="")
    else:
        lines = [
            [
                row.name,
                row.group,
                f"{float(row.lower):.10g}",
                f"{float(row.upper):.10g}",
                gap_text(relative_gap(float(row.lower), float(row.upper))),
                row.proof,
            ]
            for row in rows
        ]
        show(text_table(("row", "group", "lower", "upper", "gap", "proof"), lines, left=(0, 1, 5)))
    return 0


@library.command(name="show")
def show_row(name: str, /, *, library: Folder = None, output: Output = None, json: Json = False) -> int:
    """Show a row in full, with its statistics; -o writes the instance.

    ```
    prefixplace library show parity-blocked-6-31 -o parity.json
    ```
    """
    from instances.library import Library
    from instances.statistics import instance_statistics
    from prefixplace.files import write_instance

    rows = Library(library) if library is not None else Library()
    row, instance = rows[name], rows.instance(name)
    if output is not None:
        write_instance(instance, output)
    figures = instance_statistics(instance)
    if json:
        print_json({**row.to_dict(), "statistics": figures})
    else:
        shown = {**row.to_dict(), **figures}
        show(facts(name, {field: "–" if value is None else str(value) for field, value in shown.items()}))
    return 0


@library.command
def check(*names: str, library: Folder = None, json: Json = False) -> int:
    """Re-verify rows from their plans, certificates and constructions, in exact arithmetic; all when none is named.

    Exit code 1 when anything is false.

    ```
    prefixplace library check
    ```
    """
    from instances.library import Library, check_row
    from prefixplace.lab.progress import activity

    rows = Library(library) if library is not None else Library()
    chosen = names or tuple(rows.rows)
    found = []
    with activity(len(chosen), shown=not json) as status:
        for name in chosen:
            status.begin(name)
            found.append(check_row(rows, name))
    bad = [one for one in found if not one.ok]
    if json:
        print_json({"rows": [{"name": one.name, "ok": one.ok, "errors": list(one.errors)} for one in found]})
    else:
        for one in bad:
            show(*(f"{one.name}: {error}" for error in one.errors))
        show(f"{len(found) - len(bad)} of {len(found)} rows verified")
    return int(bool(bad))


@library.command
def update(
    name: str,
    file: Path,
    /,
    *,
    by: Annotated[str, Parameter(help="Who or what found it.")],
    library: Folder = None,
    json: Json = False,
) -> int:
    """Improve a row by a plan or certificate: accepted only when it is verified and better.

    ```
    prefixplace library update trace-twin certificate.json --by "branch and bound, 1 h"
    ```
    """
    from instances.library import Library, update_row

    rows = Library(library) if library is not None else Library()
    before, after = update_row(rows, name, file, by)
    if json:
        print_json({"before": before.to_dict(), "after": after.to_dict()})
    else:
        for side in ("lower", "upper"):
            old, new = float(getattr(before, side)), float(getattr(after, side))
            show(f"{side}: {old:.12g} → {new:.12g}" if old != new else f"{side}: {new:.12g} (unchanged)")
        show(f"proof: {before.proof} → {after.proof}")
    return 0


@library.command
def build(
    folder: Path,
    /,
    *,
    records: Annotated[
        Path | None,
        Parameter(help="Folder of searches whose records become rows, looked through recursively."),
    ] = None,
    time_limit: TimeLimit = 60.0,
) -> int:
    """Build the curated library anew in an empty folder: draw, plan, bound and certify every instance.

    ```
    prefixplace library build library --records records
    ```

    Parameters
    ----------
    folder
        Where to.
    """
    from instances.library import Library
    from instances.library.curation import CURATED, add_entry, add_record
    from prefixplace import read_instance
    from prefixplace.documents import read_json
    from prefixplace.lab.progress import activity

    states = sorted(records.rglob("state.json")) if records is not None else []
    found = [state.parent / name for state in states if (name := read_json(state)["record"]) is not None]
    seconds = 60.0 if time_limit is None else time_limit
    rows = Library.create(folder)
    with activity(len(CURATED) + len(found), shown=True) as status:
        for entry in CURATED:
            status.begin(entry.name)
            add_entry(rows, entry, seconds)
        for file in found:
            status.begin(file.stem)
            add_record(rows, read_instance(file), seconds)
    rows.save()
    show(f"{len(rows)} rows, {sum(row.solved for row in rows)} with equal bounds, in {folder}")
    return 0


def import_file(
    kind: str,
    file: Path,
    /,
    *,
    optimum: Annotated[str | None, Parameter(help="Optimum of the original problem, if known.")] = None,
    output: Output = None,
    json: Json = False,
) -> int:
    """Turn an instance file of the literature into a placement problem.

    Kinds: bin-packing (BPPLIB; --optimum is the number of bins), independent-set and clique (DIMACS), max-cut (rudy,
    Biq Mac), facility-location (OR-Library, UflLib).

    ```
    prefixplace import bin-packing u120_00.txt --optimum 48 -o u120.json.gz
    ```

    Parameters
    ----------
    kind
        Kind of problem.
    file
        The file, plain or gzipped.
    """
    from instances.importers import import_instance
    from prefixplace import write_instance
    from prefixplace.lab.describe import instance_facts, instance_summary

    instance = import_instance(file, kind, optimum)
    if output is not None:
        write_instance(instance, output)
    if json:
        print_json({**instance_summary(instance), "file": None if output is None else str(output)})
    else:
        rows = instance_facts(instance)
        show(facts(instance.name, rows | ({"written to": str(output)} if output is not None else {})))
    return 0
