"""The coverage dual without a linear program: projected subgradients with Polyak steps and primal averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from exact.bounds.lagrangian import CoverageDual, Evaluation, OracleKind
from exact.bounds.run import BoundRun
from prefixplace.errors import InputError
from prefixplace.instance import Instance

__all__ = ["CoverageDualParams", "coverage_dual", "descend", "starting_multipliers"]

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

EXACT_CELLS = 2_000_000
"""``auto`` asks the exact oracle while n·Σ k_m is at most this."""


@dataclass(frozen=True)
class CoverageDualParams:
    """Parameters of ``coverage-dual``.

    Parameters
    ----------
    oracle : {"auto", "exact", "price"}, default "auto"
        ``exact``: the limit is the configuration LP. ``price``: a few passes over the tree per worker, the limit
        is the compact LP. ``auto`` takes ``exact`` on small instances.
    patience : int ≥ 1, default 8
        Rounds without progress before the step factor is reduced.
    reduction : float in (0, 1), default 0.6
        What it is multiplied by then.
    smallest_step : float in (0, 1), default 1e-4
        The run has converged when the step factor falls below this.
    average : float in (0, 1], default 0.1
        Weight of the newest answer in the primal average.
    """

    oracle: Literal["auto", "exact", "price"] = "auto"
    patience: int = 8
    reduction: float = 0.6
    smallest_step: float = 1e-4
    average: float = 0.1

    def __post_init__(self) -> None:
        if self.oracle not in ("auto", "exact", "price"):
            raise InputError(f"oracle is {self.oracle!r}, not auto, exact or price")
        if self.patience < 1:
            raise InputError(f"patience is {self.patience}, must be ≥ 1")
        for name in ("reduction", "smallest_step"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}, must lie between 0 and 1")
        if not 0 < self.average <= 1:
            raise InputError(f"average is {self.average}, must be > 0 and ≤ 1")

    def oracle_for(self, instance: Instance) -> OracleKind:
        """The oracle that ``auto`` stands for on `instance`."""
        if self.oracle != "auto":
            return self.oracle
        sizes = np.minimum(instance.budgets, instance.num_chunks).astype(np.float64)
        return "exact" if instance.num_chunks * sizes.sum() <= EXACT_CELLS else "price"


def starting_multipliers(dual: CoverageDual, mask: Mask) -> Vector:
    """Multipliers that fit the placement `mask`: how the first copy of a chunk is paid for.

    Nobody keeps it: the full Δ is offered to everyone. One worker keeps it: half. More: the copies pay for
    themselves by their local value, and nothing is offered. Pairwise, the same in terms of σ = what a requester
    could save by its best peer, less what is offered.
    """
    holders = mask.sum(axis=0)
    offered = np.where(holders == 0, 1.0, np.where(holders == 1, 0.5, 0.0))
    if dual.saving is None:
        return offered * dual.upper
    workers = dual.instance.num_workers
    peers = np.zeros(dual.shape)
    for holder in range(workers):
        saved = dual.saving[holder].copy()
        saved[holder] = 0.0
        np.maximum(peers, saved, out=peers)
    return dual.clip((1.0 - offered) * peers)


def coverage_dual(run: BoundRun, params: CoverageDualParams) -> None:
    """Minimise the coverage dual until it has converged or a limit is met, rounding the primal average now and then.

    One iteration is one evaluation of L; its cost is that of the oracle, with nothing on top but vector operations.
    """
    dual = CoverageDual(run.instance, params.oracle_for(run.instance))
    descend(run, dual, starting_multipliers(dual, run.mask), params)
    run.count(oracle_calls=dual.calls, exact_oracle=dual.oracle == "exact")


def descend(
    run: BoundRun,
    dual: CoverageDual,
    multipliers: Vector,
    params: CoverageDualParams,
    iterations: int | None = None,
    visit: Callable[[Evaluation], None] | None = None,
) -> Vector:
    """Projected subgradient steps from `multipliers`; returns the best multipliers met. `visit` sees every evaluation.

    The step is f·(L(μ) − F)/‖g‖² along the subgradient (Polyak, F the incumbent's value), measured and scaled
    coordinate by coordinate in units of the multiplier's range, so that chunks of large and of small coverage
    value move alike. Components that would leave the range are projected out first. The factor f starts at 1 and
    falls when a number of rounds bring nothing. The average of the answers converges to a primal solution
    (Barahona, Anbil 2000).
    """
    scale = dual.upper / max(float(dual.upper.mean()), 1e-300) if dual.upper.size else dual.upper
    factor, idle, rounds, next_rounding = 1.0, 0, 0, 32
    best, best_at = np.inf, multipliers
    average: Vector | None = None
    while factor >= params.smallest_step and (iterations is None or rounds < iterations):
        run.check_limits()
        here = dual.evaluate(multipliers)
        rounds += 1
        if visit is not None:
            visit(here)
        average = here.weights if average is None else average + params.average * (here.weights - average)
        idle = 0 if here.value < best - 1e-6 * abs(best) or rounds == 1 else idle + 1
        if here.value < best:
            best, best_at = here.value, multipliers
        run.improve(here.value, coverage=multipliers, budget=here.prices, weights=average)
        if rounds == next_rounding:
            next_rounding *= 2
            run.offer_rounding(average)
        if idle == params.patience:
            idle, factor = 0, factor * params.reduction
        slope = here.gradient
        slope[((multipliers <= 0) & (slope > 0)) | ((multipliers >= dual.upper) & (slope < 0))] = 0.0
        length = float((scale * slope * slope).sum())
        if length == 0 or here.value <= run.value:
            break  # a stationary point, or the optimum
        multipliers = dual.clip(multipliers - factor * (here.value - run.value) / length * scale * slope)
    if average is not None and iterations is None:
        run.offer_rounding(average)
    return best_at
