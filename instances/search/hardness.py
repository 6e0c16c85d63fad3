"""Search for instances that cost a MIP solver many branch-and-bound nodes for their size."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import exact
from instances.checks import check_types, require
from instances.construction import chain_forest, from_values
from instances.families.rag import RagShaped
from instances.known import Known
from prefixplace import Budget, Instance
from prefixplace.documents import read_json, write_json
from prefixplace.errors import InputError
from prefixplace.files import write_instance

__all__ = ["Effort", "HardnessParams", "HardnessRecord", "effort", "rag_yardstick", "search_hardness"]


class Effort(NamedTuple):
    """What HiGHS needed: nodes (at most the limit), the relative gap left, whether it proved the optimum."""

    nodes: int
    gap: float
    solved: bool


@dataclass(frozen=True, kw_only=True)
class HardnessParams:
    """What is searched.

    Parameters
    ----------
    size : int
        n·M ≥ 12 at which instances are compared.
    workers : int
        M ≥ 2.
    nodes : int
        Node limit of a run of HiGHS ≥ 1; what it has not solved by then is compared by the gap left.
    steps : int
        Changes tried in one restart ≥ 0.
    """

    size: int = 300
    workers: int = 4
    nodes: int = 500
    steps: int = 10

    def __post_init__(self) -> None:
        check_types(self)
        require(self, self.workers >= 2, "workers >= 2")
        require(self, self.size >= 12, "size >= 12")
        require(self, self.size >= 6 * self.workers**2, "size >= 6·workers²")
        require(self, self.nodes >= 1, "nodes >= 1")
        require(self, self.steps >= 0, "steps >= 0")


@dataclass(frozen=True, eq=False)
class HardnessRecord:
    """The hardest instance found, what it cost, and how it was come by."""

    effort: Effort
    instance: Instance


def effort(instance: Instance, nodes: int) -> Effort:
    """Solve the compact model by HiGHS, one thread, up to a node limit."""
    result = exact.solve(instance, "highs", budget=Budget(nodes=nodes))
    gap = result.gap if result.gap is not None else 1.0
    return Effort(int(result.counters.get("nodes", 0)), max(gap, 0.0), result.status == "optimal")


def rag_yardstick(params: HardnessParams, seeds: int = 3) -> list[Effort]:
    """The same effort for RAG-shaped instances of about the same n·M, one for each seed."""
    chunks = params.size // params.workers
    # 1 + documents · (4 + 4) chunks on average
    family = RagShaped(
        workers=params.workers, documents=max(1, (chunks - 1) // 8), document_chunks=(3, 5), queries=4
    )
    return [effort(family.sample(seed), params.nodes) for seed in range(seeds)]


def search_hardness(
    params: HardnessParams | None = None,
    *,
    seed: int = 0,
    restarts: int | None = None,
    seconds: float | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, float, HardnessRecord | None, bool], None] | None = None,
) -> HardnessRecord | None:
    """Climb among spiders with Δ = 1 whose legs fill the budgets exactly: one leg grows, another shrinks.

    Resumable and seeded like :func:`~instances.search.run.search`; `progress` is called after every run of HiGHS with
    the restarts done, the seconds, the record, and whether it is new. Node counts depend on the version of HiGHS.
    """
    params = params or HardnessParams()
    place = None if folder is None else Path(folder)
    head = {
        "format": "prefixplace-search",
        "version": 1,
        "target": "mip-nodes",
        "seed": seed,
        **asdict(params),
    }
    record, done = _load(place, head)
    started = time.perf_counter()

    def offer(legs: list[int], found: Effort, restart: int) -> None:
        nonlocal record
        new = record is None or _score(found) > _score(record.effort)
        if new:
            facts = {"target": "mip-nodes", **found._asdict(), "seed": seed, "restart": restart}
            record = HardnessRecord(found, _spider(legs, params, {"record": facts}))
            _save(place, head, record, done, new=True)
        if progress is not None:
            progress(done, time.perf_counter() - started, record, new)

    try:
        while restarts is None or done < restarts:
            rng = np.random.default_rng([seed, done])
            legs = _random_legs(params, rng)
            best = effort(_spider(legs, params, {}), params.nodes)
            offer(legs, best, done)
            for _ in range(params.steps):
                other = _changed(legs, rng)
                found = effort(_spider(other, params, {}), params.nodes)
                offer(other, found, done)
                if _score(found) >= _score(best):
                    legs, best = other, found
                if seconds is not None and time.perf_counter() - started >= seconds:
                    return record  # within a restart, which will be repeated
            done += 1
            _save(place, head, record, done, new=False)
    except KeyboardInterrupt:
        pass  # the restart under way is repeated next time
    return record


def _score(found: Effort) -> tuple[bool, float]:
    return (True, found.gap) if not found.solved else (False, float(found.nodes))


def _random_legs(params: HardnessParams, rng: np.random.Generator) -> list[int]:
    """Three legs for each worker, near a third of the budget, of M budgets in all."""
    budget = params.size // params.workers**2
    legs = [int(x) for x in rng.integers(max(1, budget // 4), max(2, budget // 2), size=3 * params.workers)]
    for j in rng.permutation(10 * len(legs)):
        short = budget * params.workers - sum(legs)
        if not short:
            break
        leg = int(j) % len(legs)
        legs[leg] = max(1, legs[leg] + (1 if short > 0 else -1))
    return legs


def _changed(legs: list[int], rng: np.random.Generator) -> list[int]:
    legs = list(legs)
    for _ in range(int(rng.integers(1, 4))):
        i, j = rng.permutation(len(legs))[:2]
        if legs[j] > 1:
            legs[i] += 1
            legs[j] -= 1
    return legs


def _spider(legs: list[int], params: HardnessParams, meta: dict[str, Any]) -> Instance:
    parents, _ = chain_forest(legs)
    return from_values(
        parents,
        local=np.zeros((params.workers, parents.size)),
        coverage=np.ones(parents.size),
        budgets=[params.size // params.workers**2] * params.workers,
        known=Known(),
        name=f"mip-nodes-m{params.workers}",
        meta=meta,
    )


def _load(folder: Path | None, head: dict[str, Any]) -> tuple[HardnessRecord | None, int]:
    from prefixplace.files import read_instance

    if folder is None or not (folder / "state.json").exists():
        return None, 0
    state = read_json(folder / "state.json")
    for field, value in head.items():
        if state.get(field) != value:
            raise InputError(f"{folder}: holds a search with {field} = {state.get(field)!r}, not {value!r}")
    if state["record"] is None:
        return None, int(state["restarts"])
    instance = read_instance(folder / state["record"])
    facts = instance.meta["record"]
    found = Effort(int(facts["nodes"]), float(facts["gap"]), bool(facts["solved"]))
    return HardnessRecord(found, instance), int(state["restarts"])


def _save(
    folder: Path | None, head: dict[str, Any], record: HardnessRecord | None, done: int, *, new: bool
) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    name = None if record is None else f"{record.instance.name}.json"
    if new and record is not None:
        write_instance(record.instance, folder / f"{record.instance.name}.json")
    write_json({**head, "restarts": done, "record": name}, folder / "state.json")
