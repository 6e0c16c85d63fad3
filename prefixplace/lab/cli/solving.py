"""Commands that solve: ``compare``, ``solve``, ``solvers``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prefixplace.lab.cli.common import (
    Json,
    Names,
    Output,
    Seed,
    Threads,
    TimeLimit,
    facts,
    print_json,
    show,
    split_names,
)

__all__ = ["compare", "solve", "solvers"]


def compare(
    *files: Path,
    methods: Names = None,
    bounds: Names = None,
    time_limit: TimeLimit = 60.0,
    threads: Threads = 1,
    seed: Seed = 0,
    json: Json = False,
    csv: Annotated[bool, Parameter(negative="", help="Print the rows as CSV.")] = False,
) -> int:
    """Compare methods side by side: value, ratio to the proven optimum, gap, seconds.

    Without FILES a small RAG-shaped instance is drawn, so that there is something to see. METHODS are
    heuristics and exact back-ends (`prefixplace solvers` lists them); without it all heuristics run, and two
    independent provers: branch-and-bound and highs.

    ```
    prefixplace compare
    prefixplace compare a.json b.json.gz --methods prefixplace,greedy,highs --bounds compact-lp
    prefixplace compare a.json --csv > rows.csv
    ```

    Parameters
    ----------
    files
        Instance files (.json, .json.gz, .npz).
    """
    import instances
    from prefixplace import InputError, read_instance
    from prefixplace.lab.compare import compare as run

    if json and csv:
        raise InputError("give --json or --csv, not both")
    todo = [read_instance(file) for file in files] if files else [instances.default()]
    comparison = run(
        todo,
        split_names(methods),
        split_names(bounds),
        time_limit=time_limit,
        threads=threads,
        seed=seed,
        progress=True,
    )
    if json:
        print_json(comparison.to_dict())
    elif csv:
        print(comparison.to_csv(), end="")
    else:
        show(comparison.table)
    if comparison.interrupted:
        raise KeyboardInterrupt
    failed = any(
        row.stop_reason in ("error", "unavailable") for one in comparison.instances for row in one.rows
    )
    return int(failed)


def solve(
    file: Path,
    /,
    *,
    method: Annotated[
        str, Parameter(name=["--method", "-m"], help="A heuristic or an exact back-end.")
    ] = "prefixplace",
    time_limit: TimeLimit = None,
    threads: Threads = 1,
    seed: Seed = 0,
    start: Annotated[Path | None, Parameter(help="Plan to begin from.")] = None,
    output: Output = None,
    json: Json = False,
) -> int:
    """Plan one instance by one method; write the plan with -o.

    ```
    prefixplace solve a.json -o plan.json
    prefixplace solve a.json --method highs --time-limit 60 --threads 2 --start plan.json
    ```

    Parameters
    ----------
    file
        Instance file.
    """
    from prefixplace import Budget, read_instance, read_plan, write_plan
    from prefixplace.html import number
    from prefixplace.lab.progress import activity
    from prefixplace.lab.runs import solve_by_name
    from prefixplace.lab.tables import gap_text, seconds_text

    instance = read_instance(file)
    begin = None if start is None else read_plan(start, instance)
    with activity(1, shown=True) as status:
        status.begin(method)
        result = solve_by_name(
            instance,
            method,
            budget=Budget(seconds=time_limit),
            threads=threads,
            seed=seed,
            start=begin,
            progress=status.report,
        )
    if output is not None and result.placement is not None:
        write_plan(result, output, instance)
    if json:
        print_json(result.to_dict())
    else:
        rows = {"value": f"{number(result.value, 12)} ms saved per epoch"}
        if result.bound is not None:
            rows["bound"] = f"{number(result.bound, 12)} ({result.bound_proof})"
            rows["gap"] = gap_text(result.gap)
        rows |= {"status": result.status, "stopped because": result.stop_reason}
        rows["seconds"] = seconds_text(result.seconds)
        if result.placement is not None:
            sizes, budgets = result.placement.sizes.tolist(), instance.budgets.tolist()
            shown = list(zip(instance.workers, sizes, budgets, strict=True))
            each = ", ".join(f"{worker} {size:,} of {budget:,}" for worker, size, budget in shown[:8])
            rows["chunks kept"] = each + (f", … {len(shown) - 8} more workers" if len(shown) > 8 else "")
            if output is not None:
                rows["plan"] = str(output)
        if result.stop_reason in ("error", "unavailable"):
            rows["reason"] = result.log[-1] if result.log else ""
        show(facts(f"{method} on {instance.name or file.name}", rows))
    if result.stop_reason == "user":
        raise KeyboardInterrupt
    return int(result.placement is None or result.stop_reason in ("error", "unavailable"))


def solvers(*, json: Json = False) -> int:
    """List heuristics, exact back-ends and bounds; run every back-end on a tiny instance and judge it.

    The instance has the optimum 2 and LP bounds of 2.5. A back-end works when it proves the 2; the table says what its
    bounds rest on and whether it confirmed the start that it was given. Exits with 1 when one fails or is wrong.

    ```
    prefixplace solvers
    ```
    """
    from exact import BACKENDS, BOUNDS, examine
    from prefixplace import METHODS
    from prefixplace.lab.progress import activity
    from prefixplace.lab.tables import seconds_text, text_table

    def row(name: str, kind: str, what: str, **more: str | float | bool) -> dict[str, str | float | bool]:
        return {"name": name, "kind": kind, "usable": True, "what": what, "note": "", **more}

    rows = [
        row(
            name,
            "heuristic",
            method.summary,
            note=f"{method.objective} only" if method.objective != "both" else "",
        )
        for name, method in METHODS.items()
    ]
    with activity(len(BACKENDS), shown=True) as status:
        for found in examine():
            rows.append(
                row(
                    found.name,
                    "exact",
                    found.summary,
                    usable=found.verdict != "unavailable",
                    note=found.detail + (f"; {found.hint}" if found.hint else ""),
                    verdict=found.verdict,
                    bound_proof=found.bound_proof,
                    start=found.start,
                    seconds=found.seconds,
                )
            )
            status.begin(found.name)
    rows += [row(name, "bound", kind.summary) for name, kind in BOUNDS.items()]
    sound = all(each.get("verdict") not in ("wrong", "failed") for each in rows)
    if json:
        print_json({"solvers": rows})
        return int(not sound)
    listed = text_table(
        ("name", "kind", "what it does", ""),
        [
            [str(each[c]) for c in ("name", "kind", "what")]
            + ["" if "verdict" in each else str(each["note"])]
            for each in rows
        ],
        left=range(4),
    )
    examined = [each for each in rows if "verdict" in each]
    doctor = text_table(
        ("back-end", "tiny run", "bound rests on", "start", "seconds", "version, or how to get it"),
        [
            [str(each[c]) for c in ("name", "verdict", "bound_proof", "start")]
            + [seconds_text(float(each["seconds"])), str(each["note"])]
            for each in examined
        ],
        left=range(6),
        styles=[None if each["verdict"] == "works" else "red" for each in examined],
    )
    show(listed, "", doctor)
    return int(not sound)
