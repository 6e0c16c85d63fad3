"""Commands about truth: ``bound``, ``verify``, ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, Output, TimeLimit, facts, print_json, show

__all__ = ["bound", "export", "verify"]


def bound(
    file: Path,
    /,
    *,
    kind: Annotated[str, Parameter(name=["--kind", "-k"], help="Name of the bound.")] = "configuration-lp",
    time_limit: TimeLimit = None,
    start: Annotated[Path | None, Parameter(help="Good plan to steer by, and to certify.")] = None,
    certificate: Annotated[Path | None, Parameter(help="File for a certificate of plan and bound.")] = None,
    json: Json = False,
) -> int:
    """Bound the optimum from above; with --certificate also prove it, in exact arithmetic.

    `prefixplace solvers` lists the kinds. The certificate is for the best plan that was met.

    ```
    prefixplace bound a.json
    prefixplace bound a.json --kind coverage-dual --start plan.json --certificate proof.json.gz
    prefixplace verify a.json proof.json.gz
    ```

    Parameters
    ----------
    file
        Instance file.
    """
    import exact
    from exact.certificates import write_certificate
    from prefixplace import Budget, Placement, read_instance, read_plan
    from prefixplace.html import number
    from prefixplace.lab.progress import activity
    from prefixplace.lab.tables import gap_text, seconds_text

    instance = read_instance(file)
    begin = None if start is None else read_plan(start, instance)
    with activity(1, shown=True) as status:
        status.begin(kind)
        found = exact.bound(
            instance, kind, budget=Budget(seconds=time_limit), start=begin, progress=status.report
        )
    if certificate is not None:
        placement = found.placement or Placement.empty(instance.tree, instance.num_workers)
        write_certificate(exact.certify(instance, placement, found), certificate)
    if json:
        written = None if certificate is None else str(certificate)
        print_json({**found.to_dict(), "certificate": written})
    else:
        rows = {"bound": f"{number(found.bound, 12)} ms saved per epoch", "proof": found.proof}
        if found.value is not None:
            rows["best value met"] = f"{number(found.value, 12)}, gap {gap_text(found.gap)}"
        rows |= {"stopped because": found.stop_reason, "seconds": seconds_text(found.seconds)}
        rows |= {name.replace("_", " "): number(count, 4) for name, count in found.counters.items()}
        if certificate is not None:
            rows["certificate"] = str(certificate)
        show(facts(f"{kind} of {instance.name or file.name}", rows))
    if found.stop_reason == "user":
        raise KeyboardInterrupt
    return 0


def verify(file: Path, claims: Path, /, *, json: Json = False) -> int:
    """Check a plan or a certificate in exact arithmetic, without any solver. Exit 1 when anything is false.

    A plan: instance, closure, budgets, value. A certificate: the same and its bound.

    ```
    prefixplace verify a.json plan.json
    prefixplace verify a.json proof.json.gz
    ```

    Parameters
    ----------
    file
        Instance file.
    claims
        Plan or certificate file.
    """
    from prefixplace import read_instance
    from prefixplace.documents import read_json
    from prefixplace.lab.tables import text_table
    from prefixplace.lab.verify import check

    instance = read_instance(file)
    checks = check(instance, read_json(claims))
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
    /,
    *,
    to: Annotated[Literal["mps", "lp"], Parameter(help="Form of the file, which is also how its name ends.")],
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="File to write.")],
    minimise: Annotated[
        bool,
        Parameter(negative="", help="Write the negated minimisation, for readers that ignore OBJSENSE: CBC."),
    ] = False,
    json: Json = False,
) -> int:
    """Write the compact integer programme, with variables named by worker and chunk, for any solver.

    ```
    prefixplace export a.json --to mps -o a.mps
    prefixplace plan a.json a.sol -o plan.json
    ```

    Parameters
    ----------
    file
        Instance file.
    """
    from exact import write_model
    from prefixplace import InputError, read_instance

    if output.suffix.lower() != f".{to}":
        raise InputError(f"--output {output}: a file for --to {to} ends in .{to}")
    write_model(read_instance(file), output, minimise=minimise)
    if json:
        print_json({"file": str(output), "form": to, "minimise": minimise})
    else:
        show(facts(str(output), {"form": to, "direction": "minimise" if minimise else "maximise"}))
    return 0


def plan(file: Path, solution: Path, /, *, output: Output = None, json: Json = False) -> int:
    """Read what a solver answered to an exported programme back as a plan: HiGHS, CBC, SCIP, Gurobi, CPLEX.

    ```
    prefixplace plan a.json a.sol -o plan.json
    ```

    Parameters
    ----------
    file
        Instance file.
    solution
        Solution file of the programme that ``export`` wrote.
    """
    from exact import read_solution
    from prefixplace import read_instance, write_plan
    from prefixplace.html import number

    instance = read_instance(file)
    placement = read_solution(instance, solution)
    value = instance.value(placement)
    if output is not None:
        write_plan(placement, output, instance, method=f"solution {solution.name}")
    if json:
        sets = [chunks.tolist() for chunks in placement.sets(given=True)]
        print_json(
            {"value": value, "plan": {"workers": sets}, "file": None if output is None else str(output)}
        )
        return 0
    rows = {"value": f"{number(value, 12)} ms saved per epoch", "chunks kept": str(placement.sizes.tolist())}
    show(
        facts(f"plan of {solution.name}", rows | ({"written to": str(output)} if output is not None else {}))
    )
    return 0
