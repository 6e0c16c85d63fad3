"""The paper's Table II: every heuristic on 432 instances, each against its proven optimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from instances.settings import Setting, exact_block_1, exact_block_2
from prefixplace.instance import Instance
from prefixplace.lab.lru import drawn_requests, lru_placement
from prefixplace.placement import Placement
from prefixplace.planner import solve
from prefixplace.result import OPTIMALITY_TOLERANCE, Result
from prefixplace.stopping import Budget

__all__ = [
    "COMPARATORS",
    "LABELS",
    "OWN",
    "PAPER",
    "complete",
    "gain_rows",
    "settings",
    "solved",
    "table_rows",
]

PAPER = {
    "greedy": (98.15, 82.33, 174),
    "refined": (98.93, 85.76, 196),
    "order-starts": (99.84, 97.55, 246),
    "prefixplace": (99.84, 98.02, 246),
    "vllm-apc": (78.63, 65.62, None),
}
"""Table II of arXiv 2608.01655: mean and minimum in per cent of the optimum, and optima found, of 432."""

LABELS = {
    "greedy": "greedy",
    "refined": "+ refinement",
    "order-starts": "+ order starts",
    "prefixplace": "+ safeguards",
    "vllm-apc": "vLLM-APC",
    "best": "this project: best",
    "exact": "this project: {backend}",
}
OWN = ("best", "exact")
"""Rows that the paper has not: the strongest heuristic, and what the exact back-end ends with, proven or not."""

COMPARATORS = ("independent", "popularity", "local-dedup", "vllm-apc")
PLANNED = ("greedy", "refined", "order-starts", "prefixplace", "best")
APC_REQUESTS = 10_000
"""Requests that warm the LRU caches of the vLLM-APC comparator, drawn from the demand of the instance."""


def settings(*, short: bool = False) -> list[Setting]:
    """The 432 settings of both exact blocks; with `short` every 18th, 24 in all."""
    every = [*exact_block_1(), *exact_block_2()]
    return every[:: 18 if short else 1]


def solved(setting: Setting, backend: str, time_limit: float | None) -> dict[str, Any]:
    """Values of all methods on one instance, and its optimum as far as `backend` proves it: one record.

    ``certified`` tells whether the project's prover also certified the optimum; None for other back-ends.
    """
    instance = setting.instance()
    record: dict[str, Any] = {"name": setting.name, "digest": instance.digest, "n": instance.num_chunks}
    plans = {name: solve(instance, name) for name in PLANNED}
    values = {name: result.value for name, result in plans.items()}
    for name in ("independent", "popularity", "local-dedup"):
        values[name] = solve(instance, name).value
    caches = lru_placement(instance, drawn_requests(instance, APC_REQUESTS, setting.seed))
    values["vllm-apc"] = instance.value(caches)
    proof, certified = _proof(instance, backend, Budget(seconds=time_limit), plans["prefixplace"].placement)
    return {
        **record,
        "values": {**values, "exact": proof.value},
        "optimum": proof.value,
        "bound": proof.bound,
        "status": proof.status,
        "backend": backend,
        "certified": certified,
        "seconds": proof.seconds,
        "nodes": proof.counters.get("nodes"),
    }


def _proof(
    instance: Instance, backend: str, budget: Budget, start: Placement | None
) -> tuple[Result, bool | None]:
    """The result of `backend`; of the project's prover also whether a certificate of it passes the verifier."""
    import exact

    if backend != "branch-and-bound":
        return exact.solve(instance, backend, budget=budget, start=start), None
    result, certificate = exact.prove(instance, budget=budget, start=start)
    # after a limit there is a certificate too, but of a bound above the value
    if certificate is None or certificate.kind != "state-search":
        return result, False
    return result, exact.verify(instance, certificate).ok


def complete(record: dict[str, Any]) -> bool:
    """Whether a kept record has all values and facts; one of an earlier version may lack some."""
    return "certified" in record and {*PAPER, *OWN, *COMPARATORS} <= set(record["values"])


@dataclass(frozen=True)
class MethodRow:
    """A line of Table II: per cent of the optimum over all proven instances, and how many optima were found.

    The paper's figures are None for methods that it does not have.
    """

    method: str
    label: str
    mean: float
    minimum: float
    found: int
    instances: int
    paper_mean: float | None
    paper_minimum: float | None
    paper_found: int | None


def table_rows(records: list[dict[str, Any]]) -> list[MethodRow]:
    """The rows of Table II over those `records` whose optimum is proven; of the exact back-end over all of them.

    Where a proof is missing the back-end is measured against its bound and has found no optimum.
    """
    rows = []
    for method in (*PAPER, *OWN):
        measured = [record for record in records if record["status"] == "optimal" or method == "exact"]
        if not measured:
            continue
        mean, minimum, found = PAPER.get(method, (None, None, None))
        proven = np.array([record["status"] == "optimal" for record in measured])
        limit = np.array(
            [record["optimum" if ok else "bound"] for record, ok in zip(measured, proven, strict=True)]
        )
        ratio = np.array([record["values"][method] for record in measured]) / limit
        rows.append(
            MethodRow(
                method=method,
                label=LABELS[method].format(backend=measured[0]["backend"]),
                mean=100 * float(ratio.mean()),
                minimum=100 * float(ratio.min()),
                found=int(np.count_nonzero(proven & (ratio >= 1 - OPTIMALITY_TOLERANCE))),
                instances=len(measured),
                paper_mean=mean,
                paper_minimum=minimum,
                paper_found=found,
            )
        )
    return rows


@dataclass(frozen=True)
class GainRow:
    """Gain 100·(F(P) − F(B))/F(B) of Algorithm 1, and of the optimum, over a comparator B."""

    comparator: str
    mean: float
    largest: float
    optimum_mean: float
    optimum_largest: float


def gain_rows(records: list[dict[str, Any]]) -> Iterator[GainRow]:
    """Gain over each comparator, and over the best comparator of each instance."""
    proven = [record for record in records if record["status"] == "optimal"]
    if not proven:
        return
    plan = np.array([record["values"]["prefixplace"] for record in proven])
    optimum = np.array([record["optimum"] for record in proven])
    columns = {name: np.array([record["values"][name] for record in proven]) for name in COMPARATORS}
    columns["the best of each instance"] = np.max(list(columns.values()), axis=0)
    for name, base in columns.items():
        gain, most = 100 * (plan - base) / base, 100 * (optimum - base) / base
        yield GainRow(name, float(gain.mean()), float(gain.max()), float(most.mean()), float(most.max()))
