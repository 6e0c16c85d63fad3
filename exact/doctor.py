"""What works here: every back-end on one tiny instance whose optimum is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from exact.solving import BACKENDS, solve
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.result import OPTIMALITY_TOLERANCE, BoundProof
from prefixplace.stopping import Budget
from prefixplace.tree import PrefixTree

__all__ = ["Examination", "examine"]

OPTIMUM = 2.0
"""Of the instance below. Its configuration and compact LPs say 2.5, so that a proof takes more than an LP."""

_SECONDS = 30.0


@dataclass(frozen=True)
class Examination:
    """How a back-end did.

    Attributes
    ----------
    name, summary : str
    verdict : {"works", "wrong", "no proof", "failed", "unavailable"}
        ``wrong``: it claims something false; ``no proof``: it found the optimum but left a gap.
    detail : str
        Versions, or what is wrong.
    hint : str
        How to get it, when it is unavailable.
    bound_proof : {"solver-claim", "float", "exact"}
        What its bounds rest on.
    start : {"accepted", "kept", "not taken", "rejected"}
        ``accepted``: the solver's own log confirms the start; ``kept``: it takes one and does not tell;
        ``not taken``: it has no use for one.
    seconds : float
        Wall-clock seconds of the tiny run, loading excluded.
    """

    name: str
    summary: str
    verdict: Literal["works", "wrong", "no proof", "failed", "unavailable"]
    detail: str
    hint: str
    bound_proof: BoundProof
    start: Literal["accepted", "kept", "not taken", "rejected"]
    seconds: float


def examine(names: Iterable[str] | None = None) -> Iterator[Examination]:
    """Run each back-end (all of :data:`exact.BACKENDS` when `names` is left out) and judge it, one after another."""
    instance, start = _tiny()
    for name in BACKENDS if names is None else names:
        backend = BACKENDS[name]
        available = backend.available()
        result = solve(
            instance, name, budget=Budget(seconds=_SECONDS), start=start if backend.takes_start else None
        )
        accepted = result.counters.get("start_accepted")
        right = result.value is not None and abs(result.value - OPTIMUM) <= OPTIMALITY_TOLERANCE
        false_bound = result.bound is not None and result.bound < OPTIMUM - OPTIMALITY_TOLERANCE
        if not available.usable:
            verdict, detail = "unavailable", available.reason
        elif result.stop_reason == "error":
            verdict, detail = "failed", result.log[-1] if result.log else available.reason
        elif false_bound or (result.status == "optimal" and not right):
            verdict, detail = "wrong", f"value {result.value}, bound {result.bound}, optimum {OPTIMUM:g}"
        else:
            verdict, detail = "works" if result.status == "optimal" else "no proof", available.reason
        yield Examination(
            name,
            backend.summary,
            verdict,  # type: ignore[arg-type]
            detail,
            available.hint,
            backend.bound_proof,
            "not taken" if not backend.takes_start else _start(accepted),
            result.seconds,
        )


def _start(accepted: float | None) -> Literal["accepted", "kept", "rejected"]:
    if accepted is None:
        return "kept"
    return "accepted" if accepted else "rejected"


def _tiny() -> tuple[Instance, Placement]:
    """Four chunks, budgets 2 and 1; and a placement of value 1 to start from."""
    tree = PrefixTree.from_parents([-1, 0, -1, -1])
    instance = Instance.from_values(
        tree, local=[[0, 1, 0, 0], [0, 0, 0, 0]], coverage=[0, 0, 1, 1], budgets=[2, 1], name="tiny"
    )
    mask = np.zeros((2, 4), np.bool_)
    mask[1, 2] = True
    return instance, Placement(tree, mask)
