"""Commands about truth: ``bound``, ``verify``, ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, TimeLimit, facts, print_json, show

__all__ = ["bound", "export", "verify"]


def bound(
    file: Path,
    *,
    kind: Annotated[str, Parameter(name=["--kind", "-k"], help="Name of the bound.")] = "compact-lp",
    time_limit: TimeLimit = None,
    json: Json = False,
) -> int:
    """Bound the optimum from above. `prefixplace solvers` lists the kinds.

    Examples:

        prefixplace bound a.json

        prefixplace bound a.json --kind compact-lp --json

    Parameters
    ----------
    file
        Instance file.
    """
    import exact
    from prefixplace import Budget, read_instance

    instance = read_instance(file)
    found = exact.bound(instance, kind, budget=Budget(seconds=time_limit))
    return 0


def verify(file: Path, claims: Path, *, json: Json = False) -> int:
    """Check a plan in exact arithmetic: instance, closure, budgets, value. Exit 1 when anything is false.

    Examples:

        prefixplace verify a.json plan.json

    Parameters
    ----------
    file
        Instance file.
    claims
        Plan file.
    """
    from rich.table import Table

    from prefixplace import read_instance
    from prefixplace.files import read_json
    from prefixplace.lab.verify import check_plan

    instance = read_instance(file)
    checks = check_plan(instance, read_json(claims))
    holds = all(check.holds for check in checks)
    if json:
        print_json({"holds": holds, "checks": [check.to_dict() for check in checks]})
        return int(not holds)
    table = Table(box=None, show_header=False, pad_edge=False)
    for check in checks:
        table.add_row(
            "true" if check.holds else "FALSE",
            check.claim,
            check.detail,
            style=None if check.holds else "red",
        )
    show(table)
    return int(not holds)


def export(
    file: Path,
    *,
    to: Annotated[Literal["mps", "lp"], Parameter(help="Form of the file.")],
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="File to write.")],
    json: Json = False,
) -> int:
    """Write the compact integer programme, with variables named by worker and chunk, for any solver.

    Examples:

        prefixplace export a.json --to mps -o a.mps

    Parameters
    ----------
    file
        Instance file.
    """
    from prefixplace import read_instance
    from prefixplace.lab.export import export_programme

    rows, columns = export_programme(read_instance(file), output, to)
    if json:
        print_json({"file": str(output), "form": to, "rows": rows, "columns": columns})
    else:
        show(facts(str(output), {"form": to, "rows": f"{rows:,}", "columns": f"{columns:,}"}))
    return 0
