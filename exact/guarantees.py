"""The guarantee audit: what is known about a plan before and after looking at bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exact.bounds.result import Bound
from exact.rounding import rounding_factor
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise
from prefixplace.oracle import best_closed_set
from prefixplace.placement import Placement

__all__ = ["Audit", "Factor", "audit", "curvature", "is_local_optimum"]

TOLERANCE = 1e-7
"""Relative distance by which two bounds, both computed in float64 to solver tolerances, may be out of order."""

ALL_ORDERS = {1: 1.0, 2: 2 / 3, 3: 7 / 12}
"""Guarantee of the best greedy pass over all orders, by number of workers (factor-revealing LP)."""


@dataclass(frozen=True)
class Factor:
    """A share of the optimum that is guaranteed before any bound is computed.

    Attributes
    ----------
    name : str
    factor : float
    holds_for : str
        The plans that it is a theorem about.
    applies : bool or None
        Whether the audited plan is known to be one of them; None when that depends on how it was made.
    """

    name: str
    factor: float
    holds_for: str
    applies: bool | None


@dataclass(frozen=True)
class Audit:
    """Factors, ratios and the order of bounds for one plan.

    Attributes
    ----------
    value : float
        F or F_pair of the plan, recomputed.
    factors : tuple of Factor
        A-priori guarantees.
    ratios : tuple of (kind, bound, ratio)
        value / bound for every bound: the plan is at least this share of the optimum.
    violations : tuple of str
        Whatever contradicts compact LP ≥ configuration LP ≥ optimum ≥ value; empty when all is well.
    """

    value: float
    factors: tuple[Factor, ...]
    ratios: tuple[tuple[str, float, float], ...]
    violations: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is contradicted."""
        return not self.violations

    @property
    def proven_ratio(self) -> float:
        """The largest share of the optimum that is proved for this plan."""
        known = [factor.factor for factor in self.factors if factor.applies]
        return max([0.0, *known, *(min(ratio, 1.0) for _, _, ratio in self.ratios)])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able data."""
        return {
            "value": self.value,
            "factors": [vars(factor) for factor in self.factors],
            "ratios": [{"kind": kind, "bound": bound, "ratio": ratio} for kind, bound, ratio in self.ratios],
            "proven_ratio": self.proven_ratio,
            "violations": list(self.violations),
        }

    def __str__(self) -> str:
        applies = {True: "applies", False: "does not apply", None: "depends on the method"}
        lines = [f"value {self.value:.10g}"]
        lines += [
            f"  a priori    {f.factor:.6f}  {f.name} ({f.holds_for}: {applies[f.applies]})"
            for f in self.factors
        ]
        lines += [f"  a posteriori {ratio:.6f} of {kind} {bound:.10g}" for kind, bound, ratio in self.ratios]
        lines += [f"  VIOLATED    {line}" for line in self.violations]
        return "\n".join(lines)


def audit(
    instance: Instance, placement: Placement, bounds: Iterable[Bound] = (), *, optimum: float | None = None
) -> Audit:
    """Guarantees of `placement`, its ratio to every bound, and whether the bounds are in order.

    Parameters
    ----------
    instance : Instance
    placement : Placement
    bounds : iterable of Bound
        Results of :func:`exact.bound` for this instance.
    optimum : float, optional
        When it is known, it takes part in the order.

    Returns
    -------
    Audit
        Comparisons allow a relative :data:`TOLERANCE`. A configuration LP or coverage dual that was stopped early
        is not held against the compact LP. Costs M oracle calls.
    """
    value = instance.value(placement)
    found = list(bounds)
    for bound in found:
        bound.check(instance)
    ratios = tuple((b.kind, b.bound, value / b.bound if b.bound else 1.0) for b in found)
    return Audit(
        value, _factors(instance, placement, found), ratios, tuple(_violations(found, value, optimum))
    )


def curvature(instance: Instance) -> float:
    """κ: the largest share of a pair's value alone that is lost when everybody else keeps everything; in [0, 1].

    Requester-side with two workers or more it is max Δ(b)/(a_m(b) + Δ(b)). Pairs worth nothing and workers
    without budget do not count. O(M²·n).
    """
    workers = np.flatnonzero(instance.budgets > 0)
    if workers.size <= 1 or instance.num_chunks == 0:
        return 0.0
    objective = instance.objective
    if isinstance(objective, Pairwise):
        everywhere = np.arange(instance.num_chunks)
        saving = np.stack([objective.saving(int(h), everywhere) for h in workers])
        ranked = np.sort(saving, axis=0)
        others = np.where(
            saving == ranked[-1], ranked[-2], ranked[-1]
        )  # of tied holders the second equals the best
        alone, last = saving.sum(axis=1), np.maximum(saving - others, 0.0).sum(axis=1)
    else:
        last = instance.local_value[workers]
        alone = last + instance.coverage_value
    counts = alone > 0
    return float(np.max(1.0 - last[counts] / alone[counts], initial=0.0))


def is_local_optimum(instance: Instance, placement: Placement) -> bool:
    """Whether no worker alone can improve `placement` by more than a relative 1e-9. M oracle calls."""
    state = instance.objective.state(placement.mask)
    smallest = 1e-9 * max(state.value, 0.0)
    for worker in range(instance.num_workers):
        profit = state.marginals(worker)
        best = best_closed_set(instance.tree, profit, int(instance.budgets[worker]))
        if best.value - profit[placement.mask[worker]].sum() > smallest:
            return False
    return True


def _factors(instance: Instance, placement: Placement, bounds: list[Bound]) -> tuple[Factor, ...]:
    workers, kappa = instance.num_workers, curvature(instance)
    local = is_local_optimum(instance, placement)
    stable = "coordinate-wise local optima and greedy plans"
    factors = [
        Factor("1/2", 0.5, stable, local or None),
        Factor(f"1/(1 + κ), κ = {kappa:.4g}", 1.0 / (1.0 + kappa), stable, local or None),
    ]
    if workers in ALL_ORDERS:
        factors.append(
            Factor("best of all orders", ALL_ORDERS[workers], f"greedy in all {workers}! orders", None)
        )
    for bound in bounds:
        if bound.kind == "configuration-lp" and bound.weights is not None:
            factor = rounding_factor(instance, bound.weights)
            reached = bound.master is not None and instance.value(placement) >= factor * bound.master
            factors.append(Factor("LP rounding", factor, "rounding of the configuration LP", reached or None))
    return tuple(factors)


def _violations(bounds: list[Bound], value: float, optimum: float | None) -> Iterable[str]:
    def above(high: float, low: float) -> bool:
        return high >= low - TOLERANCE * max(abs(high), abs(low))

    if optimum is not None and not above(optimum, value):
        yield f"the value {value!r} exceeds the optimum {optimum!r}"
    for bound in bounds:
        for name, low in (("value", value), ("optimum", optimum)):
            if low is not None and not above(bound.bound, low):
                yield f"{bound.kind} {bound.bound!r} is below the {name} {low!r}"
    compact = [b.bound for b in bounds if b.kind == "compact-lp" and b.stop_reason == "finished"]
    configuration = [b.bound for b in bounds if b.kind == "configuration-lp" and b.stop_reason == "finished"]
    if compact and configuration and not above(min(compact), max(configuration)):
        yield f"the compact LP {min(compact)!r} is below the configuration LP {max(configuration)!r}"
