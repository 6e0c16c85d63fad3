"""Which bound is worth what: gaps, seconds and certificates, on the exactly solved blocks and on large instances."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from statistics import fmean

from rich.table import Table

import exact
import prefixplace as pp
from exact.bounds import Bound
from instances.families.rag import RagShaped
from instances.settings import Setting, exact_block_1, exact_block_2
from instances.traces import trace_instance
from prefixplace.lab.tables import gap_text, seconds_text

__all__ = [
    "BlockRow",
    "BoundRow",
    "block_bounds",
    "block_rows",
    "block_table",
    "bound_table",
    "bounds_document",
    "large_bounds",
    "large_instances",
]

BLOCK_KINDS = ("compact-lp", "budget-dual", "configuration-lp")
LARGE_KINDS = ("coverage-dual", "budget-dual", "compact-lp")
CHUNKS_PER_DOCUMENT = 15  # 4 to 6 chunks and 10 query leaves
CLOSED = 1e-9
"""Relative distance of bound and value, both float64, at which a bound counts as met."""


@dataclass(frozen=True)
class BoundRow:
    """One bound of one instance.

    Attributes
    ----------
    instance, n, workers, kind
    plan : float
        Value of the ``prefixplace`` plan, made in `plan_seconds`.
    bound : float or None
        None with the reason in `stop_reason` when the method cannot be used at this size.
    rounded : float or None
        Value of the best placement that the bound met: the plan or a rounding of its fractional solution.
    seconds, stop_reason
        Of the bound.
    certified : float or None
        The bound of the certificate for `rounded`, as the verifier recomputed it; None when nothing was certified
        or the verifier refused.
    verify_seconds : float or None
    """

    instance: str
    n: int
    workers: int
    kind: str
    plan: float
    plan_seconds: float
    bound: float | None
    rounded: float | None
    seconds: float
    stop_reason: str
    certified: float | None = None
    verify_seconds: float | None = None

    @property
    def plan_gap(self) -> float | None:
        """Gap of the plan to the bound."""
        return None if self.bound is None else max(0.0, 1.0 - self.plan / self.bound)

    @property
    def rounded_gap(self) -> float | None:
        """Gap of the best placement met to the bound."""
        return (
            None if self.bound is None or self.rounded is None else max(0.0, 1.0 - self.rounded / self.bound)
        )


def large_instances(
    *, short: bool = False, seed: int = 0, trace: Path | None = None, assignment: Path | None = None
) -> Iterator[pp.Instance]:
    """RAG-shaped instances at n = 10⁴ and 10⁵ with 4, 8 and 16 workers, and a request trace with 4.

    Budgets are 10 % of the chunks on RAG-shaped, 2 % on the trace; half of the requests stay at a home worker, so
    that no two workers are identical. `short` keeps n = 10⁴ and the trace.
    """
    for n in (10_000,) if short else (10_000, 100_000):
        for workers in (4, 8, 16):
            family = RagShaped(workers=workers, documents=round(n / CHUNKS_PER_DOCUMENT), sharing=0.5)
            yield family.sample(seed)
    if trace is not None:
        yield trace_instance(trace, assignment=assignment).instance


def large_bounds(
    instances: Iterable[pp.Instance],
    *,
    kinds: Sequence[str] = LARGE_KINDS,
    time_limit: float = 300.0,
    gap: float = 1e-4,
    progress: Callable[[BoundRow], None] | None = None,
) -> list[BoundRow]:
    """Plan, bound, certify and verify each of `instances`, one after the other on one thread.

    Parameters
    ----------
    kinds : names of :data:`exact.BOUNDS`
    time_limit : float
        Seconds for each bound.
    gap : float
        Relative gap to its own best placement at which a dual stops; LPs run to their end.
    progress : callable, optional
        Called with each row.
    """
    _warm_up(kinds)
    rows = []
    for instance in instances:
        plan = pp.solve(instance, "prefixplace", budget=pp.Budget(seconds=time_limit))
        assert plan.placement is not None
        for kind in kinds:
            row = _measured(instance, plan, kind, pp.Budget(seconds=time_limit, gap=gap))
            rows.append(row)
            if progress is not None:
                progress(row)
    return rows


def _measured(instance: pp.Instance, plan: pp.Result, kind: str, budget: pp.Budget) -> BoundRow:
    assert plan.value is not None
    common = {
        "instance": instance.name,
        "n": instance.num_chunks,
        "workers": instance.num_workers,
        "kind": kind,
        "plan": plan.value,
        "plan_seconds": plan.seconds,
    }
    started = time.perf_counter()
    try:
        found = exact.bound(instance, kind, budget=budget, start=plan.placement)
    except pp.InputError as error:  # beyond the reach of the method, which says why
        seconds = time.perf_counter() - started
        return BoundRow(**common, bound=None, rounded=None, seconds=seconds, stop_reason=str(error))  # type: ignore[arg-type]
    certified, verify_seconds = _certified(instance, found)
    return BoundRow(
        **common,  # type: ignore[arg-type]
        bound=found.bound,
        rounded=found.value,
        seconds=found.seconds,
        stop_reason=found.stop_reason,
        certified=certified,
        verify_seconds=verify_seconds,
    )


def _certified(instance: pp.Instance, found: Bound) -> tuple[float | None, float | None]:
    if found.placement is None:
        return None, None
    checked = exact.verify(instance, exact.certify(instance, found.placement, found))
    return (float(checked.bound) if checked.ok and checked.bound is not None else None), checked.seconds


def _warm_up(kinds: Iterable[str]) -> None:
    """Compile, or load, the kernels, so that the first row does not pay for it."""
    small = RagShaped(documents=3).sample(0)
    for kind in kinds:
        exact.bound(small, kind)


@dataclass(frozen=True)
class BlockRow:
    """One bound over a block of exactly solvable instances.

    `closed` counts the instances on which bound and best known value meet; gaps are to the best value known, which
    is the best of the plan and of all roundings, so they overstate the gap to the optimum if anything.
    """

    kind: str
    instances: int
    closed: int
    mean_gap: float
    largest_gap: float
    mean_seconds: float
    largest_seconds: float


def block_bounds(
    *, short: bool = False, progress: Callable[[BoundRow], None] | None = None
) -> list[BoundRow]:
    """Every bound of :data:`BLOCK_KINDS` on the 432 instances of the two exact blocks (every 18th with `short`)."""
    settings: Iterator[Setting] = chain(exact_block_1(), exact_block_2())
    rows = []
    _warm_up(BLOCK_KINDS)
    for setting in islice(settings, 0, None, 18 if short else 1):
        instance = setting.instance()
        plan = pp.solve(instance, "prefixplace")
        for kind in BLOCK_KINDS:
            row = _measured(instance, plan, kind, pp.Budget())
            rows.append(row)
            if progress is not None:
                progress(row)
    return rows


def block_rows(rows: Sequence[BoundRow]) -> list[BlockRow]:
    """Summaries of :func:`block_bounds`, whose rows come instance by instance."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    groups = [rows[i : i + len(kinds)] for i in range(0, len(rows), len(kinds))]
    best = [max(max(row.plan, row.rounded or 0.0) for row in group) for group in groups]
    result = []
    for j, kind in enumerate(kinds):
        own = [group[j] for group in groups]
        gaps = [
            max(0.0, 1.0 - value / row.bound) if row.bound else 0.0
            for row, value in zip(own, best, strict=True)
        ]
        seconds = [row.seconds for row in own]
        result.append(
            BlockRow(
                kind=kind,
                instances=len(own),
                closed=sum(gap <= CLOSED for gap in gaps),
                mean_gap=fmean(gaps),
                largest_gap=max(gaps),
                mean_seconds=fmean(seconds),
                largest_seconds=max(seconds),
            )
        )
    return result


def block_table(rows: Iterable[BlockRow]) -> Table:
    """The summaries as a rich table."""
    table = Table(title="Bounds on the exactly solved blocks")
    for column in ("bound", "instances", "closed", "mean gap", "largest gap", "mean s", "largest s"):
        table.add_column(column, justify="left" if column == "bound" else "right")
    for row in rows:
        table.add_row(
            row.kind,
            str(row.instances),
            str(row.closed),
            gap_text(row.mean_gap),
            gap_text(row.largest_gap),
            seconds_text(row.mean_seconds),
            seconds_text(row.largest_seconds),
        )
    return table


def bound_table(rows: Iterable[BoundRow]) -> Table:
    """The rows of :func:`large_bounds` as a rich table."""
    table = Table(title="Certified gaps at size, one thread")
    columns = (
        "instance",
        "n",
        "M",
        "plan s",
        "bound",
        "s",
        "stopped",
        "gap of plan",
        "gap of rounding",
        "verified in",
    )
    for column in columns:
        table.add_column(column, justify="left" if column in ("instance", "bound", "stopped") else "right")
    for row in rows:
        table.add_row(
            row.instance,
            f"{row.n:,}",
            str(row.workers),
            seconds_text(row.plan_seconds),
            row.kind,
            seconds_text(row.seconds),
            row.stop_reason,
            gap_text(row.plan_gap),
            gap_text(row.rounded_gap),
            "–"
            if row.certified is None or row.verify_seconds is None
            else f"{seconds_text(row.verify_seconds)} s",
        )
    return table


def bounds_document(blocks: Iterable[BlockRow], large: Iterable[BoundRow]) -> dict[str, object]:
    """Both tables as JSON-able data."""
    rows = [{**asdict(row), "plan_gap": row.plan_gap, "rounded_gap": row.rounded_gap} for row in large]
    return {"study": "bounds", "blocks": [asdict(row) for row in blocks], "large": rows}
