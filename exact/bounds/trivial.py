"""Bounds that need no search: unlimited budgets, free coverage, coverage offered to everyone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exact.bounds.coverage import CoverageDualParams
from exact.bounds.lagrangian import CoverageDual
from exact.bounds.run import BoundRun

__all__ = ["TrivialParams", "trivial"]


@dataclass(frozen=True)
class TrivialParams:
    """``trivial`` has no parameters."""


def trivial(run: BoundRun, params: TrivialParams) -> None:
    """The least of three: everything kept everywhere; L(0), all coverage for free; L at the upper end of the range.

    Requester-side L(0) = Σ Δ + Σ_m W_m(a_m), and L(Δ) = Σ_m W_m(a_m + Δ) counts a first copy for every holder.
    """
    instance = run.instance
    run.check_limits()
    everything = instance.objective.value(np.ones((instance.num_workers, instance.num_chunks), np.bool_))
    run.improve(everything)
    dual = CoverageDual(instance, CoverageDualParams().oracle_for(instance))
    for multipliers in (np.zeros(dual.shape), dual.upper.copy()):
        here = dual.evaluate(multipliers)
        run.improve(here.value, coverage=multipliers, budget=here.prices)
    run.count(oracle_calls=dual.calls, exact_oracle=dual.oracle == "exact")
