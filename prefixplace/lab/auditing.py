"""The guarantee audit of a comparison: what is known about its best heuristic plan, before and after the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prefixplace.instance import Instance
from prefixplace.lab.runs import Run

if TYPE_CHECKING:
    from exact.guarantees import Audit

__all__ = ["audit_lines", "audit_of_runs"]


def audit_of_runs(instance: Instance, runs: Sequence[Run], optimum: float | None) -> tuple[str, Audit] | None:
    """Audit the best plan of a heuristic among `runs` against all their bounds; None without such a plan.

    Returns the method whose plan it is, and the :class:`exact.guarantees.Audit`. Costs M oracle calls.
    """
    import exact

    plans = [run for run in runs if run.kind == "heuristic" and run.result and run.result.placement]
    if not plans:
        return None
    best = max(plans, key=lambda run: run.value or 0.0)
    assert best.result is not None and best.result.placement is not None
    bounds = [run.found for run in runs if run.found is not None]
    return best.method, exact.audit(instance, best.result.placement, bounds, optimum=optimum)


def audit_lines(method: str, audit: Audit) -> list[str]:
    """The audit in a few lines: a-priori factors, a-posteriori ratios, and whether the order of bounds holds."""
    held = {True: "", False: " (not for this plan)", None: " (depends on the method)"}
    factors = "; ".join(
        f"{factor.name}: {factor.factor:.4f}{held[factor.applies]}" for factor in audit.factors
    )
    lines = [f"Audit of the plan of {method}. A priori: {factors}."]
    if audit.ratios:
        ratios = ", ".join(f"{ratio:.6f} of {kind}" for kind, _, ratio in audit.ratios)
        lines.append(f"A posteriori: {ratios}.")
    if audit.ok:
        return [*lines, "Nothing contradicts compact LP ≥ configuration LP ≥ optimum ≥ value."]
    return lines + [f"VIOLATED: {line}" for line in audit.violations]
