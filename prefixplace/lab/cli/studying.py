"""``prefixplace study …``: experiments of the paper, by one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from prefixplace.lab.cli.common import Json, Seed, TimeLimit, print_json, show

__all__ = ["study"]

study = App(name="study", help="Reproduce the experiments of the paper, beside its figures.")


@study.command
def table2(
    *,
    short: Annotated[bool, Parameter(negative="", help="24 instances instead of 432.")] = False,
    processes: Annotated[int, Parameter(help="Processes that solve instances.")] = 1,
    backend: Annotated[str, Parameter(help="Exact back-end that proves the optima.")] = "branch-and-bound",
    time_limit: TimeLimit = 120.0,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="Folder of results.")] = Path("table2"),
    json: Json = False,
) -> int:
    """Table II: greedy, refinement, order starts and safeguards against the proven optimum of 432 instances.

    Records go to OUTPUT as they come. Stopped by Ctrl-C, it goes on where it was when called again.

    ```
    prefixplace study table2 --short
    prefixplace study table2 --processes 2 -o results/table2
    ```
    """
    from prefixplace.lab.progress import activity
    from prefixplace.lab.table2_report import (
        records_of,
        run_table2,
        table2_document,
        table2_tables,
        write_table2,
    )

    failures: list[str] = []
    interrupted = False
    with activity(1, shown=True) as status:
        try:
            failures = run_table2(
                output,
                short=short,
                processes=processes,
                backend=backend,
                time_limit=time_limit,
                begin=status.restart,
                finished=status.done,
            )
        except KeyboardInterrupt:
            interrupted = True
    records = records_of(output, backend=backend, short=short)
    write_table2(output, records)
    if json:
        print_json(table2_document(records))
    else:
        show(table2_tables(records), *failures, f"written to {output}/table2.md, .csv, .json")
    if interrupted:
        raise KeyboardInterrupt
    return int(bool(failures))


@study.command
def planner(
    *files: Path,
    short: Annotated[bool, Parameter(negative="", help="Only n = 10,000.")] = False,
    large: Annotated[bool, Parameter(negative="", help="Also n = 1,000,000 with 16 workers.")] = False,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Fig. 7: how long Algorithm 1 takes, beside the paper's seconds; FILES are timed after the grid.

    ```
    prefixplace study planner --short
    prefixplace study planner conversation.npz
    ```
    """
    from prefixplace import read_instance
    from prefixplace.lab.study_planner import planner_times, times_document, times_table

    rows = planner_times(short=short, large=large, instances=map(read_instance, files), seed=seed)
    if json:
        print_json(times_document(rows))
    else:
        show(times_table(rows))
    return 0


@study.command
def bounds(
    *,
    short: Annotated[bool, Parameter(negative="", help="24 small instances, and n = 10,000 only.")] = False,
    trace: Annotated[Path | None, Parameter(help="Request trace that is bounded too.")] = None,
    assignment: Annotated[Path | None, Parameter(help="Worker of every line of the trace.")] = None,
    time_limit: Annotated[float, Parameter(help="Seconds for each bound.")] = 300.0,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """What each bound is worth: gaps on the 432 exactly solved instances, certified gaps on large ones.

    ```
    prefixplace study bounds --short
    prefixplace study bounds --trace conversation_trace.jsonl --json > bounds.json
    ```
    """
    from prefixplace.lab.progress import activity
    from prefixplace.lab.study_bounds import (
        BoundRow,
        block_bounds,
        block_rows,
        block_table,
        bound_table,
        bounds_document,
        large_bounds,
        large_instances,
    )

    with activity(1, shown=True) as status:

        def told(row: BoundRow) -> None:
            status.note(f"{row.instance}: {row.kind}")

        blocks = block_rows(block_bounds(short=short, progress=told))
        chosen = large_instances(short=short, seed=seed, trace=trace, assignment=assignment)
        large = large_bounds(chosen, time_limit=time_limit, progress=told)
    if json:
        print_json(bounds_document(blocks, large))
    else:
        show(block_table(blocks), bound_table(large))
    return 0


@study.command
def proofs(
    *,
    short: Annotated[bool, Parameter(negative="", help="29 instances instead of 477.")] = False,
    grid: Annotated[
        bool, Parameter(negative="", help="Also M × n × budget beside four MIP solvers: many hours.")
    ] = False,
    race: Annotated[
        bool, Parameter(negative="", help="In the grid, MIP solvers get no longer than the fastest so far.")
    ] = False,
    time_limit: Annotated[float, Parameter(help="Seconds for each run.")] = 60.0,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Optimality proved and certified by the project's own prover, on the paper's instances and beside MIP solvers.

    The first table is of the 432 exactly solved and the 45 source-dependent instances; with --grid a second one
    compares the prover with HiGHS, CP-SAT, SCIP and CBC. Ctrl-C shows what is finished.

    ```
    prefixplace study proofs --short
    prefixplace study proofs --grid --race
    prefixplace study proofs --json > proofs.json
    ```
    """
    from prefixplace.lab.progress import activity
    from prefixplace.lab.study_proofs import (
        GridRow,
        ProofRow,
        block_proofs,
        grid_instances,
        grid_rows,
        grid_table,
        proof_table,
        proofs_document,
    )

    proved: list[ProofRow] = []
    solved: list[GridRow] = []
    interrupted = False
    with activity(1, shown=True) as status:

        def told(row: ProofRow) -> None:
            proved.append(row)
            status.note(f"{len(proved)}: {row.instance}")

        def told_of_grid(row: GridRow) -> None:
            solved.append(row)
            status.note(f"{row.shape}, M = {row.workers}, n = {row.n}: {row.backend}")

        try:
            block_proofs(short=short, time_limit=time_limit, progress=told)
            if grid:
                every = grid_instances(seed=seed)
                grid_rows(every, time_limit=time_limit, race=race, progress=told_of_grid)
        except KeyboardInterrupt:
            interrupted = True
    if json:
        print_json(proofs_document(proved, solved))
    else:
        show(proof_table(proved), *([grid_table(solved)] if solved else []))
    if interrupted:
        raise KeyboardInterrupt
    return int(not all(row.proved and row.verified for row in proved))
