"""The search: independent seeded restarts, each a hill climb over shapes and values; resumable at any restart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from instances.checks import check_types, require
from instances.known import as_fraction, exact_number
from instances.search.realism import LEVELS, Level, Values
from instances.search.records import Record, make_record
from instances.search.revealing import Row
from instances.search.shapes import MOST_CHUNKS, Shape, mutated, random_shape
from instances.search.targets import TARGETS, Target, ascend
from instances.search.verify import exact_ratio
from prefixplace.documents import read_json, write_json
from prefixplace.errors import InputError
from prefixplace.files import read_instance, write_instance

__all__ = ["SearchParams", "SearchProgress", "search"]

_BETTER = 1e-6


@dataclass(frozen=True, kw_only=True)
class SearchParams:
    """What is searched, and how thoroughly.

    Parameters
    ----------
    realism : str
        A name of :data:`LEVELS`.
    workers : int
        M in 2 … 4.
    chunks : int
        Largest forest, 2 … 12 chunks. Small ones are searched faster, and the known worst cases are small.
    kicks : int
        Failed changes after which a restart ends.
    margin : float
        By how much, as a part of the optimum, every decision of a method must be forced.
    """

    realism: str = "any"
    workers: int = 2
    chunks: int = 5
    kicks: int = 12
    margin: float = 1e-3

    def __post_init__(self) -> None:
        check_types(self)
        if self.realism not in LEVELS:
            raise InputError(f"unknown realism level {self.realism!r}; known: {', '.join(LEVELS)}")
        require(self, 2 <= self.workers <= 4, "2 <= workers <= 4")
        require(self, 2 <= self.chunks <= MOST_CHUNKS, f"2 <= chunks <= {MOST_CHUNKS}")
        require(self, self.kicks >= 0, "kicks >= 0")
        require(self, 0 < self.margin <= 0.1, "0 < margin <= 0.1")


@dataclass(frozen=True)
class SearchProgress:
    """State of a running search: restarts done (over all sessions), seconds of this one, the record so far."""

    restarts: int
    seconds: float
    record: Record | None
    improved: bool


def search(
    target: str,
    params: SearchParams | None = None,
    *,
    seed: int = 0,
    restarts: int | None = None,
    seconds: float | None = None,
    folder: str | Path | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
) -> Record | None:
    """Search for values, shapes and budgets that make a target as small as possible.

    Restart number i depends on `seed` and i alone, so a search of N restarts finds the same whether it ran in one
    piece or not, and on whatever machine.

    Parameters
    ----------
    target : str
        A name of :data:`TARGETS`.
    params : SearchParams, optional
    seed : int ≥ 0
    restarts : int, optional
        Stop when this many are done, those of earlier sessions included.
    seconds : float, optional
        Stop after the restart in which this time is up. Without either limit the search runs until Ctrl-C.
    folder : path, optional
        Where record and state are kept; a search that was stopped goes on from there. It must belong to the same
        target, parameters and seed.
    progress : callable, optional
        Called after every restart with a :class:`SearchProgress`.

    Returns
    -------
    Record or None
        The best verified record; also after Ctrl-C. None when nothing was found yet.

    Raises
    ------
    InputError
        For an unknown target, or a folder of another search.
    """
    if target not in TARGETS:
        raise InputError(f"unknown search target {target!r}; known: {', '.join(TARGETS)}")
    params = params or SearchParams()
    store = _Store(folder, target, params, seed)
    chosen, level = TARGETS[target], LEVELS[params.realism]
    record, done = store.load()
    started = time.perf_counter()
    try:
        while restarts is None or done < restarts:
            rng = np.random.default_rng([seed, done])
            found = _restart(chosen, level, params, rng)
            improved = False
            if found is not None and (record is None or found[0] < float(record.ratio) - _BETTER):
                origin = {"seed": seed, "restart": done, "parameters": asdict(params)}
                made = make_record(chosen, level.name, *found[1:], origin)
                if made is not None and (record is None or made.ratio < record.ratio):
                    record, improved = made, True
            done += 1
            store.save(record, done, improved)
            elapsed = time.perf_counter() - started
            if progress is not None:
                progress(SearchProgress(done, elapsed, record, improved))
            if seconds is not None and elapsed >= seconds:
                break
    except KeyboardInterrupt:
        pass  # the restart under way is lost; it will be the next one
    return record


def _restart(
    target: Target, level: Level, params: SearchParams, rng: np.random.Generator
) -> tuple[float, Shape, Values, Row] | None:
    """One hill climb: (ratio, shape, values, z) at its end; None where it found nothing of value."""
    shape = _fitting(random_shape(rng, params.workers, params.chunks, level.identical), target)
    best = _climb(target, level, shape, params, rng, None)
    fails = 0
    while fails < params.kicks:
        fails += 1
        if best is None or rng.random() < 0.25:
            base = shape if best is None else best[1]
            other = _fitting(mutated(base, rng, params.chunks, level.identical), target)
            new = _climb(target, level, other, params, rng, None)
        else:
            new = _climb(target, level, best[1], params, rng, best)
        if new is not None and (best is None or new[0] <= best[0] + 1e-9):
            if best is None or new[0] < best[0] - _BETTER:
                fails = 0
            best = new
    return best


def _climb(
    target: Target,
    level: Level,
    shape: Shape,
    params: SearchParams,
    rng: np.random.Generator,
    present: tuple[float, Shape, Values, Row] | None,
) -> tuple[float, Shape, Values, Row] | None:
    """Ascend from proposed values of `shape`: new ones, or ones near the `present`."""
    values = level.values(shape, rng) if present is None else present[2]
    z = target.propose(shape, values, rng, None if present is None else present[3])
    end = None if z is None else ascend(target, shape, values, z, params.margin)
    if end is None:
        return None
    ratio, z = end
    return ratio, shape, values, z / max(float(z.max()), 1e-12)


def _fitting(shape: Shape, target: Target) -> Shape:
    if not target.reachable:
        return shape
    height = int(shape.tree.depth.max()) + 1
    return replace(shape, budgets=tuple(max(k, height) for k in shape.budgets))


class _Store:
    """State and record of a search in a folder, or nowhere."""

    def __init__(self, folder: str | Path | None, target: str, params: SearchParams, seed: int) -> None:
        self.folder = None if folder is None else Path(folder)
        self.head = {
            "format": "prefixplace-search",
            "version": 1,
            "target": target,
            "seed": seed,
            **asdict(params),
        }

    def load(self) -> tuple[Record | None, int]:
        if self.folder is None or not (self.folder / "state.json").exists():
            return None, 0
        state = read_json(self.folder / "state.json")
        for field, value in self.head.items():
            if state.get(field) != value:
                raise InputError(
                    f"{self.folder}: holds a search with {field} = {state.get(field)!r}, not {value!r}"
                )
        if state["record"] is None:
            return None, int(state["restarts"])
        instance = read_instance(self.folder / state["record"])
        facts: dict[str, Any] = instance.meta["record"]
        ratio = exact_ratio(instance, self.head["target"])
        if ratio != as_fraction(facts["ratio"]):
            raise InputError(f"{self.folder / state['record']}: the ratio is {ratio}, not {facts['ratio']}")
        limit = Fraction(as_fraction(facts["limit"]))
        return Record(facts["target"], facts["realism"], ratio, limit, instance), int(state["restarts"])

    def save(self, record: Record | None, restarts: int, improved: bool) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        name = None if record is None else f"{record.instance.name}.json"
        if improved and record is not None:
            write_instance(record.instance, self.folder / f"{record.instance.name}.json")
        ratio = None if record is None else exact_number(record.ratio)
        state = {**self.head, "restarts": restarts, "record": name, "ratio": ratio}
        write_json(state, self.folder / "state.json")
