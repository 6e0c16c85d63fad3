"""Benchmark of the exact back-ends: who finds the optimum, who proves it, how soon. Behind ``prefixplace bench exact``.

All back-ends solve the same instances in one run, one after another, with the same limit and number of threads. They
also check each other: a bound below a value that another has found is false, and so are two different optima.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from prefixplace.errors import InputError
from prefixplace.files import read_instance
from prefixplace.instance import Instance
from prefixplace.lab.bench_building import Building, measure
from prefixplace.result import OPTIMALITY_TOLERANCE, package_versions, relative_gap
from prefixplace.stopping import Budget

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

__all__ = ["GROUPS", "SHIFT", "ExactBenchmark", "Run", "run"]

SHIFT = 1.0
"""Shift of the geometric mean in seconds: below it differences hardly count."""

BOUND_AT = 10.0
"""The moment in seconds at which bounds are compared."""

MODES = {"short": 1, "full": 3}
"""How many seeds of each generated family a run takes."""


def _tables(seeds: int) -> Iterator[Instance]:
    from prefixplace.lab.study_table2 import settings

    every = settings(short=True)
    for setting in every[:: 1 if seeds > 1 else 4]:
        yield setting.instance()


def _two_groups(seeds: int) -> Iterator[Instance]:
    from instances.settings import source_dependent

    every = list(source_dependent())
    for setting in every[:: len(every) // (3 * seeds)]:
        yield setting.instance()


def _family(name: str, *parameters: dict[str, Any]) -> Callable[[int], Iterator[Instance]]:
    def draw(seeds: int) -> Iterator[Instance]:
        from instances.registry import FAMILIES

        for chosen in parameters:
            for seed in range(seeds):
                yield FAMILIES[name](**chosen).sample(seed)

    return draw


GROUPS: dict[str, Callable[[int], Iterator[Instance]]] = {
    "table-ii": _tables,
    "parity-blocked": _family("parity-blocked", {"workers": 4, "budget": 21}, {"workers": 6, "budget": 31}),
    "three-partition": _family("three-partition", {"workers": 4, "budget": 20}, {"workers": 6, "budget": 30}),
    "independent-set": _family("independent-set", {"graph": "petersen"}, {"graph": "cubic", "vertices": 20}),
    "two-groups": _two_groups,
}
"""Groups of instances: 24 of the 432 of Table II, three hard reductions, and the pairwise objective at M = 6."""


VARIANTS = {
    "aggregated": {"linking": "aggregated"},
    "without depth cuts": {"depth_cuts": False},
    "without chain aggregation": {"chain_aggregation": False},
    "with symmetry breaking": {"symmetry_breaking": True},
}
"""Formulations with one choice turned the other way, by which the defaults are judged."""


@dataclass(frozen=True)
class Run:
    """One back-end on one instance."""

    group: str
    instance: str
    digest: str
    n: int
    workers: int
    backend: str
    value: float | None
    bound: float | None
    bound_at: float | None
    status: str
    stop_reason: str
    seconds: float
    nodes: float | None
    message: str


@dataclass(frozen=True)
class ExactBenchmark:
    """What :func:`run` measured."""

    mode: str
    seconds: float
    threads: int
    machine: dict[str, str]
    versions: dict[str, str]
    runs: list[Run]
    building: list[Building]

    def best(self) -> dict[tuple[str, str], float]:
        """The best value that anybody found, per group and digest of the instance."""
        found: dict[tuple[str, str], float] = {}
        for one in self.runs:
            if one.value is not None:
                key = one.group, one.digest
                found[key] = max(found.get(key, one.value), one.value)
        return found

    def disagreements(self) -> list[str]:
        """Bounds below a value that somebody found: at least one of the two back-ends is wrong."""
        best = self.best()
        wrong = []
        for one in self.runs:
            top = best.get((one.group, one.digest))
            if (
                one.bound is not None
                and top is not None
                and one.bound < top - OPTIMALITY_TOLERANCE * abs(top)
            ):
                wrong.append(f"{one.backend} bounds {one.instance} by {one.bound!r}, and {top!r} was found")
        return wrong

    def summary(self) -> list[dict[str, Any]]:
        """Per group and back-end, and per back-end over all groups.

        ``found``: runs that reached the best known value; ``proven``: runs with a proof; ``seconds``: shifted geometric
        mean, runs without proof counted at the limit; ``gap``: mean distance of the bound at 10 s to the best
        known value, runs without a bound counted at 1.
        """
        best, rows = self.best(), []
        groups = list(dict.fromkeys(one.group for one in self.runs))
        for backend in dict.fromkeys(one.backend for one in self.runs):
            for group in [*groups, "all"]:
                runs = [one for one in self.runs if one.backend == backend and group in (one.group, "all")]
                if runs:
                    rows.append({"group": group, "backend": backend, **self._figures(runs, best)})
        return sorted(rows, key=lambda row: [*groups, "all"].index(row["group"]))

    def _figures(self, runs: Sequence[Run], best: dict[tuple[str, str], float]) -> dict[str, Any]:
        tops = [best.get((one.group, one.digest)) for one in runs]
        pairs = list(zip(runs, tops, strict=True))
        proven = [one.status == "optimal" for one in runs]
        spent = [
            one.seconds if done else max(one.seconds, self.seconds)
            for one, done in zip(runs, proven, strict=True)
        ]
        return {
            "runs": len(runs),
            "unavailable": sum(one.stop_reason == "unavailable" for one in runs),
            "refused": sum(one.stop_reason == "refused" for one in runs),
            "found": sum(_reaches(one.value, top) for one, top in pairs),
            "proven": sum(proven),
            "seconds": float(np.exp(fmean(np.log(np.array(spent) + SHIFT))) - SHIFT),
            "gap": fmean(
                1.0 if one.bound_at is None or top is None else max(0.0, relative_gap(top, one.bound_at))
                for one, top in pairs
            ),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "benchmark": "exact",
            "mode": self.mode,
            "seconds": self.seconds,
            "threads": self.threads,
            "machine": self.machine,
            "versions": self.versions,
            "summary": self.summary(),
            "disagreements": self.disagreements(),
            "runs": [asdict(one) for one in self.runs],
            "building": [asdict(one) for one in self.building],
        }

    def tables(self) -> Group:
        """The summary as a rich table, and what disagrees."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from prefixplace.lab.tables import gap_text, seconds_text

        limit = f"{self.seconds:g} s, {self.threads} thread{'s' if self.threads > 1 else ''}"
        table = Table(title=f"Exact back-ends, at most {limit} a run", title_justify="left")
        for head in (
            "group",
            "back-end",
            "optimum found",
            "proven",
            "seconds (sgm)",
            f"gap at {BOUND_AT:g} s",
        ):
            table.add_column(head, justify="left" if head in ("group", "back-end") else "right")
        before = None
        for row in self.summary():
            if before not in (None, row["group"]):
                table.add_section()
            count = f" / {row['runs']}"
            absent = row["unavailable"] == row["runs"] or row["refused"] == row["runs"]
            cells = (
                ("unavailable" if row["unavailable"] else "refuses", "", "", "")
                if absent
                else (
                    f"{row['found']}{count}",
                    f"{row['proven']}{count}",
                    seconds_text(row["seconds"]),
                    gap_text(row["gap"]),
                )
            )
            table.add_row("" if before == row["group"] else row["group"], row["backend"], *cells)
            before = row["group"]
        parts = [table, *self._building_table()]
        return Group(*parts, *(Text(line, style="red") for line in self.disagreements()))

    def _building_table(self) -> Iterator[Table]:
        from rich.table import Table

        if not self.building:
            return
        title = f"Building the compact programme with n·M = {self.building[0].placements:,}"
        table = Table(title=title, title_justify="left")
        for head in ("by", "variables", "seconds", "peak MB", "of these before"):
            table.add_column(head, justify="left" if head == "by" else "right")
        for one in self.building:
            memory = f"{one.peak:,.0f}", f"{one.before:,.0f}"
            table.add_row(one.builder, f"{one.variables:,}", f"{one.seconds:.2f}", *memory)
        yield table


def run(
    mode: str = "short",
    *,
    backends: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    folder: Path | None = None,
    seconds: float = 60.0,
    threads: int = 1,
    formulations: bool = False,
    building: bool = True,
    progress: Callable[[str], None] | None = None,
) -> ExactBenchmark:
    """Solve every instance of every group by every back-end.

    Parameters
    ----------
    mode : {"short", "full"}
        How many instances of each group.
    backends : names of :data:`exact.BACKENDS`, optional
        All except enumeration when left out.
    groups : names of :data:`GROUPS`, optional
        All when left out.
    folder : path, optional
        Also take every instance file of this folder, as the group ``files``.
    seconds : float
        Time limit of one run; the model's building is inside it, the import of a solver is not.
    threads : int
    formulations : bool
        Also solve by each of :data:`VARIANTS`, for the back-ends that write the compact programme.
    building : bool
        Also measure how long the programme with n·M = 240,000 takes to build.
    progress : callable, optional
        Called with a line before each run.

    Raises
    ------
    InputError
        For an unknown mode, back-end or group.
    """
    import exact

    if mode not in MODES:
        raise InputError(f"unknown mode {mode!r}; known are {', '.join(MODES)}")
    names = [name for name in exact.BACKENDS if name != "brute-force"] if backends is None else list(backends)
    for kind, chosen, known in (
        ("back-end", names, list(exact.BACKENDS)),
        ("group", list(groups or ()), list(GROUPS)),
    ):
        for name in chosen:
            if name not in known:
                raise InputError(f"unknown {kind} {name!r}; known are {', '.join(known)}")
    runs = []
    for group, instance in _instances(groups, folder, MODES[mode]):
        for name in names:
            for label, params in _variants(name, formulations):
                if progress is not None:
                    progress(f"{group}: {instance.name}, {label}")
                runs.append(_one(group, instance, name, label, params, seconds, threads))
    versions = package_versions(*sorted({p for name in names for p in exact.BACKENDS[name].packages}))
    built = list(measure()) if building else []
    return ExactBenchmark(mode, seconds, threads, _machine(), versions, runs, built)


def _instances(
    groups: Sequence[str] | None, folder: Path | None, seeds: int
) -> Iterator[tuple[str, Instance]]:
    if folder is not None:
        for file in sorted(folder.glob("*.json")):
            try:
                yield "files", read_instance(file)
            except InputError as error:
                if "format is" not in str(error):  # another kind of document may lie beside them
                    raise
    for group in GROUPS if groups is None else groups:
        for instance in GROUPS[group](seeds):
            yield group, instance


def _variants(name: str, formulations: bool) -> Iterator[tuple[str, Any]]:
    """The back-end as it is, and with `formulations` every variant that it can write: label and parameters."""
    from exact import BACKENDS
    from exact.backends.compact import CompactParams
    from exact.compact import Formulation

    yield name, None
    kind = BACKENDS[name].params
    if formulations and issubclass(kind, CompactParams):
        for label, choice in VARIANTS.items():
            yield f"{name}, {label}", kind(formulation=replace(Formulation(), **choice))  # type: ignore[arg-type]


def _one(
    group: str, instance: Instance, name: str, label: str, params: Any, seconds: float, threads: int
) -> Run:
    import exact

    shape = (group, instance.name, instance.digest, instance.num_chunks, instance.num_workers, label)
    try:
        result = exact.solve(instance, name, budget=Budget(seconds=seconds), threads=threads, params=params)
    except InputError as error:  # a back-end that refuses the instance
        return Run(*shape, None, None, None, "none", "refused", 0.0, None, str(error))
    message = result.log[-1] if result.stop_reason in ("error", "unavailable") and result.log else ""
    early = [p.bound for p in result.trace if p.bound is not None and p.seconds <= BOUND_AT]
    ended = min(result.seconds, seconds) <= BOUND_AT  # a solver may notice its limit a little late
    bound_at = result.bound if ended else (early[-1] if early else None)
    return Run(
        *shape,
        result.value,
        result.bound,
        bound_at,
        result.status,
        result.stop_reason,
        result.seconds,
        result.counters.get("nodes"),
        message,
    )


def _reaches(value: float | None, top: float | None) -> bool:
    return value is not None and top is not None and value >= top - OPTIMALITY_TOLERANCE * abs(top)


def _machine() -> dict[str, str]:
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "logical cores": str(os.cpu_count()),
    }
