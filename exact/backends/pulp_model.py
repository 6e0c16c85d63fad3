"""The compact programme in PuLP, line by line; shared by the PuLP back-ends."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from exact.backend import Availability
from exact.compact import CompactProblem, compact_sets

__all__ = ["pulp_availability", "pulp_model"]


def pulp_availability(hint: str) -> Availability:
    """Whether a PuLP that this project understands is installed.

    PuLP 4 is a rewrite: ``solve`` returns an object, no CBC is bundled, and the bound it reports with CBC is wrong.
    """
    try:
        found = version("pulp")
    except PackageNotFoundError:
        return Availability(False, "pulp is not installed", hint)
    if int(found.split(".")[0]) >= 4:
        return Availability(False, f"pulp {found} is not supported: PuLP 4 is a rewrite", hint)
    return Availability(True, f"pulp {found}")


def pulp_model(problem: CompactProblem, scale: float, *, minimise: bool = False) -> tuple[Any, list[Any]]:
    """The programme with its objective times `scale`, and its variables in the order of a solution vector.

    With `minimise` it is the minimisation of the negated objective, for formats and solvers that lose the sense.
    """
    import pulp

    sets = compact_sets(problem)
    model = pulp.LpProblem("compact", pulp.LpMinimize if minimise else pulp.LpMaximize)
    x = {(m, b): model.add_variable(f"x_{m}_{b}", 0, 1, pulp.LpInteger) for m, b in sets.x}
    y = {b: model.add_variable(f"y_{b}", 0, 1) for b in sets.y}
    z = {(r, h, b): model.add_variable(f"z_{r}_{h}_{b}", 0, 1) for r, h, b in sets.z}
    variables = [*x.values(), *y.values(), *z.values()]
    factor = -scale if minimise else scale
    model.setObjective(pulp.LpAffineExpression(zip(variables, (problem.cost * factor).tolist(), strict=True)))

    def at_most(limit: int, terms: Iterable[tuple[Any, int]]) -> None:
        # operators on PuLP's variables would build each row four times over
        row = pulp.LpConstraint(pulp.LpAffineExpression(terms), pulp.LpConstraintLE, rhs=limit)
        model.addConstraint(row)

    for (m, b), children in sets.closure:  # Σ_c x_mc ≤ |{c}|·x_mb
        at_most(0, [(x[m, b], -len(children)), *((x[m, c], 1) for c in children)])
    for m, chunks, sizes, budget in sets.budget:  # Σ_b size_b·x_mb ≤ k_m
        at_most(budget, [(x[m, b], size) for b, size in zip(chunks, sizes, strict=True)])
    for b, holders in sets.cover:  # y_b ≤ Σ_m x_mb
        at_most(0, [(y[b], 1), *((x[m, b], -1) for m in holders)])
    for (h, b), requesters in sets.link:  # Σ_r z_rhb ≤ |{r}|·x_hb
        at_most(0, [(x[h, b], -len(requesters)), *((z[r, h, b], 1) for r in requesters)])
    for (r, b), holders in sets.once:  # Σ_h z_rhb ≤ 1
        at_most(1, [(z[r, h, b], 1) for h in holders])
    for m, later in sets.order:  # Σ_b ω_b·x_m'b ≤ Σ_b ω_b·x_mb
        rank = [(b, sets.rank[b]) for b in sets.chunks[m]]
        at_most(0, [*((x[later, b], w) for b, w in rank), *((x[m, b], -w) for b, w in rank)])
    return model, variables
