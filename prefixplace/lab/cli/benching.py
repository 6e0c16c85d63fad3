"""``prefixplace bench …``: speed, side by side in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from prefixplace.lab.cli.common import Json, Seed, Threads, print_json, show, split_names

__all__ = ["bench"]

bench = App(name="bench", help="Measure speed side by side, checking every answer.")


@bench.command
def oracle(
    *,
    mode: Annotated[
        Literal["short", "full", "large"], Parameter(help="20,000, 100,000 or 1,000,000 chunks.")
    ] = "short",
    repeats: Annotated[int, Parameter(help="Runs of which the best counts.")] = 3,
    exactness: Annotated[
        int, Parameter(help="Also compare this many random small instances with the reference, in integers.")
    ] = 0,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """The one-worker oracle: reference, NumPy, C, blocked dynamic program and nearly linear method.

    Exits with 1 when two of them disagree.

    ```
    prefixplace bench oracle
    prefixplace bench oracle --mode full --json > oracle.json
    prefixplace bench oracle --exactness 100000
    ```
    """
    from prefixplace.lab.bench_oracle import run
    from prefixplace.lab.oracle_exactness import check_exactness
    from prefixplace.lab.progress import activity

    with activity(1, shown=True) as status:
        measured = run(mode, seed=seed, repeats=repeats, progress=status.note)
        checked = check_exactness(exactness, seed=seed, progress=lambda n: status.note(f"{n:,} compared"))
    wrong = [f"{case.shape} / {case.law}: the methods disagree" for case in measured.cases if not case.equal]
    wrong += checked.different
    if json:
        print_json({**measured.to_dict(), "exactness": checked.to_dict()})
    else:
        show(measured.tables())
        if exactness:
            proofs = ", ".join(f"{count:,} by {proof}" for proof, count in checked.proofs.items())
            show(f"{checked.instances:,} random instances compared with the reference ({proofs})")
        show(*wrong)
    return int(bool(wrong))


@bench.command
def exact(
    *,
    mode: Annotated[Literal["short", "full"], Parameter(help="One or three seeds of each family.")] = "short",
    backends: Annotated[
        str | None, Parameter(help="Names, separated by commas; all that can be used.")
    ] = None,
    groups: Annotated[str | None, Parameter(help="Groups of instances, separated by commas.")] = None,
    folder: Annotated[
        Path | None, Parameter(help="Folder of instance files that make a group of their own.")
    ] = None,
    time_limit: Annotated[float, Parameter(help="Seconds for each run.")] = 60.0,
    threads: Threads = 1,
    json: Json = False,
) -> int:
    """The exact back-ends: optima found and proven, seconds, bounds after ten seconds.

    Exits with 1 when a bound of one lies below a value of another.

    ```
    prefixplace bench exact --time-limit 10
    prefixplace bench exact --backends highs,cp-sat,branch-and-bound --groups table-ii --json > exact.json
    ```
    """
    from prefixplace.lab.bench_exact import run
    from prefixplace.lab.progress import activity

    with activity(1, shown=True) as status:
        measured = run(
            mode,
            backends=split_names(backends),
            groups=split_names(groups),
            folder=folder,
            seconds=time_limit,
            threads=threads,
            progress=status.note,
        )
    if json:
        print_json(measured.to_dict())
    else:
        show(measured.tables())
    return int(bool(measured.disagreements()))
