"""Replanning: whether a better placement is worth the chunks that must be materialised for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from prefixplace._replay import best_peer_fetch
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.planner import solve

__all__ = ["Replan", "replan"]


@dataclass(frozen=True, eq=False)
class Replan:
    """The decision between an incumbent placement and a candidate, under refreshed demand.

    Attributes
    ----------
    adopt : bool
        Whether ``horizon · (candidate_value − incumbent_value) > migration_cost``.
    incumbent_value, candidate_value : float
        F of both placements under the refreshed demand, ms per epoch.
    migration_cost : float
        C(T → T′) in ms: each new copy once, at the cheaper of recomputing it and fetching it from a peer that
        keeps it under the incumbent.
    horizon : float
        Epochs for which the demand is expected to hold.
    break_even : float
        Epochs after which the candidate has paid for itself; inf when it never does.
    fetched, recomputed, dropped : int
        New copies that are fetched or recomputed, and copies given up.
    candidate : Placement
    """

    adopt: bool
    incumbent_value: float
    candidate_value: float
    migration_cost: float
    horizon: float
    break_even: float
    fetched: int
    recomputed: int
    dropped: int
    candidate: Placement

    @property
    def net_saving(self) -> float:
        """ms that the candidate saves more than the incumbent over the horizon, its migration paid."""
        return self.horizon * (self.candidate_value - self.incumbent_value) - self.migration_cost

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON-able data; a break-even that is never reached is None."""
        numbers = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name != "candidate"
        }
        numbers["break_even"] = self.break_even if math.isfinite(self.break_even) else None
        return {**numbers, "net_saving": self.net_saving}


def replan(
    instance: Instance, incumbent: Placement, candidate: Placement | None = None, *, horizon: float = 1.0
) -> Replan:
    """Decide whether to leave `incumbent` for `candidate` when demand has changed.

    Parameters
    ----------
    instance : Instance
        The refreshed demand, costs and budgets; the forest is the incumbent's.
    incumbent : Placement
        What the workers keep now.
    candidate : Placement, optional
        What they could keep instead; the plan of Algorithm 1, started from the incumbent, when left out.
    horizon : float ≥ 0, default 1
        Epochs of this demand to come.

    Raises
    ------
    InputError
        When a placement does not fit the instance or the horizon is negative or not a number.

    Notes
    -----
    The rule of the paper (section IV): adopt when the saving predicted over the horizon exceeds the one-time cost
    of materialising newly assigned chunks. O(M²·n) beside planning the candidate.
    """
    if not 0 <= horizon < math.inf:
        raise InputError(f"horizon is {horizon}: must be a number of epochs ≥ 0")
    instance.check(incumbent)
    if candidate is None:
        candidate = solve(instance, "prefixplace", start=incumbent).placement
        assert candidate is not None
    before, after = instance.value(incumbent), instance.value(candidate)
    added = candidate.mask & ~incumbent.mask
    fetch = best_peer_fetch(instance, incumbent.mask)
    cost = float(np.sum(np.minimum(instance.recompute, fetch), where=added))
    fetched = int(np.count_nonzero(added & (fetch < instance.recompute)))
    gain = after - before
    return Replan(
        adopt=horizon * gain > cost,
        incumbent_value=before,
        candidate_value=after,
        migration_cost=cost,
        horizon=horizon,
        break_even=cost / gain if gain > 0 else math.inf,
        fetched=fetched,
        recomputed=int(np.count_nonzero(added)) - fetched,
        dropped=int(np.count_nonzero(incumbent.mask & ~candidate.mask)),
        candidate=candidate,
    )
