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

    ```
    prefixplace bound a.json
    prefixplace bound a.json --kind compact-lp --json
    ```

    Parameters
    ----------
    file
        Instance file.
    """
    import exact
    from prefixplace import Budget, read_instance
    from prefixplace.html import number
    from prefixplace.lab.progress import activity
    from prefixplace.lab.tables import gap_text, seconds_text

    instance = read_instance(file)
    with activity(1, shown=True) as status:
        status.begin(kind)
        found = exact.bound(instance, kind, budget=Budget(seconds=time_limit), progress=status.report)
    if json:
        print_json(found.to_dict())
    else:
        rows = {"bound": f"{number(found.bound, 12)} ms saved per epoch", "proof": found.proof}
        if found.value is not None:
            rows["best value met"] = f"{number(found.value, 12)}, gap {gap_text(found.gap)}"
        rows |= {"stopped because": found.stop_reason, "seconds": seconds_text(found.seconds)}
        rows |= {name.replace("_", " "): number(count) for name, count in found.counters.items()}
        show(facts(f"{kind} of {instance.name or file.name}", rows))
    if found.stop_reason == "user":
        raise KeyboardInterrupt
    return 0


def verify(file: Path, claims: Path, *, json: Json = False) -> int:
    """Check a plan in exact arithmetic: instance, closure, budgets, value. Exit 1 when anything is false.

    ```
    prefixplace verify a.json plan.json
    ```

    Parameters
    ----------
    file
        Instance file.
    claims
        Plan file.
    """
    from prefixplace import read_instance
    from prefixplace.files import read_json
    from prefixplace.lab.tables import text_table
    from prefixplace.lab.verify import check_plan

    instance = read_instance(file)
    checks = check_plan(instance, read_json(claims))
    holds = all(check.holds for check in checks)
    if json:
        print_json({"holds": holds, "checks": [check.to_dict() for check in checks]})
        return int(not holds)
    table = text_table(
        ("", "claim", "found"),
        [["true" if check.holds else "FALSE", check.claim, check.detail] for check in checks],
        left=range(3),
        styles=[None if check.holds else "red" for check in checks],
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

    ```
    prefixplace export a.json --to mps -o a.mps
    ```

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
