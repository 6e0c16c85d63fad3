"""``replan``: is a better plan worth its migration?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, Output, facts, print_json, show

__all__ = ["replan"]


def replan(
    file: Path,
    incumbent: Path,
    candidate: Path | None = None,
    *,
    horizon: Annotated[float, Parameter(help="Epochs for which the demand is expected to hold.")] = 1.0,
    output: Output = None,
    json: Json = False,
) -> int:
    """Decide whether to leave the plan in use for a better one when demand has changed.

    The plan in use may have been made for another epoch of the same forest. The chosen plan is written with -o.

    ```
    prefixplace replan epoch-2.json plan-1.json --horizon 6 -o plan-2.json
    ```

    Parameters
    ----------
    file
        Instance file with the refreshed demand.
    incumbent
        Plan that the workers hold now.
    candidate
        Plan to compare with; planned by the paper's Algorithm 1 from the incumbent when left out.
    """
    from prefixplace import read_instance, read_plan, write_plan
    from prefixplace import replan as decide
    from prefixplace.html import number

    instance = read_instance(file)
    held = read_plan(incumbent, instance, any_digest=True)
    offered = None if candidate is None else read_plan(candidate, instance, any_digest=True)
    decision = decide(instance, held, offered, horizon=horizon)
    if output is not None:
        write_plan(decision.candidate if decision.adopt else held, output, instance, method="replan")
    if json:
        print_json({**decision.to_dict(), "file": None if output is None else str(output)})
        return 0
    rows = {
        "decision": "adopt the candidate" if decision.adopt else "keep the incumbent",
        "incumbent": f"{number(decision.incumbent_value, 12)} ms saved per epoch",
        "candidate": f"{number(decision.candidate_value, 12)} ms saved per epoch",
        "migration": f"{number(decision.migration_cost, 8)} ms for {decision.fetched} fetched and "
        f"{decision.recomputed} recomputed copies, {decision.dropped} dropped",
        "break-even": f"{number(decision.break_even, 6)} epochs"
        if decision.break_even < float("inf")
        else "never",
        f"net over {horizon:g} epochs": f"{number(decision.net_saving, 12)} ms",
    }
    show(
        facts(
            f"replanning {instance.name or file.name}", rows | ({"written to": str(output)} if output else {})
        )
    )
    return 0
