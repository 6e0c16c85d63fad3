"""``prefixplace bench …``: speed, side by side in one run."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Parameter

from prefixplace.lab.cli.common import Json, Seed, print_json, show

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
