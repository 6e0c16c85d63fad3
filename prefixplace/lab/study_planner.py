"""How long Algorithm 1 takes: the grid of the paper's Fig. 7, larger forests, and traces given as files."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from rich.table import Table

import prefixplace as pp
from instances.families.rag import RagShaped

__all__ = ["PlannerTime", "planner_times", "times_document", "times_table"]

PAPER_SECONDS = {(10_000, 4): 0.41, (10_000, 8): 1.12, (10_000, 16): 2.35, (50_000, 16): 12.29}
"""Fig. 7 of arXiv 2608.01655: seconds of Algorithm 1 on one CPU, by (n, M), with k of :func:`paper_budget`."""

GRID = tuple((n, workers) for n in (10_000, 50_000) for workers in (4, 8, 16))
CHUNKS_PER_DOCUMENT = 15  # 4 to 6 chunks and 10 query leaves


@dataclass(frozen=True)
class PlannerTime:
    """One run of Algorithm 1 with all its starts, on one thread.

    `peak_mib` is the largest memory of the process up to the end of this run; `paper_seconds` is None where the
    paper has no figure.
    """

    instance: str
    n: int
    workers: int
    budget: int
    seconds: float
    oracle_calls: int
    value: float
    peak_mib: float
    paper_seconds: float | None


def paper_budget(n: int) -> int:
    """The budget of Fig. 7: k = min(128, max(16, ⌊n/20⌋))."""
    return min(128, max(16, n // 20))


def planner_times(
    *,
    short: bool = False,
    large: bool = False,
    instances: Iterable[pp.Instance] = (),
    seed: int = 0,
    progress: Callable[[PlannerTime], None] | None = None,
) -> list[PlannerTime]:
    """Time ``solve(…, "prefixplace")`` on the grid of Fig. 7, each run after one on a small instance to warm up.

    Parameters
    ----------
    short : bool
        Only n = 10,000.
    large : bool
        Also n = 10⁶, M = 16, k = 10⁵.
    instances : iterable of Instance
        Timed after the grid, with their own budgets.
    """
    pp.solve(RagShaped(workers=2).sample(seed))  # compiles, or loads, the kernels
    jobs = [(n, workers, paper_budget(n)) for n, workers in GRID if not short or n == 10_000]
    if large:
        jobs.append((1_000_000, 16, 100_000))
    rows = []

    def timed(instance: pp.Instance, budget: int, paper: float | None) -> None:
        result = pp.solve(instance, "prefixplace")
        assert result.value is not None
        row = PlannerTime(
            instance=instance.name,
            n=instance.num_chunks,
            workers=instance.num_workers,
            budget=budget,
            seconds=result.seconds,
            oracle_calls=int(result.counters["oracle_calls"]),
            value=result.value,
            peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            paper_seconds=paper,
        )
        rows.append(row)
        if progress is not None:
            progress(row)

    for n, workers, budget in jobs:
        family = RagShaped(workers=workers, documents=round(n / CHUNKS_PER_DOCUMENT), budget_chunks=(budget,))
        timed(family.sample(seed), budget, PAPER_SECONDS.get((n, workers)) if budget <= 128 else None)
    for instance in instances:
        timed(instance, int(instance.budgets.max()), None)
    return rows


def times_table(rows: Iterable[PlannerTime]) -> Table:
    """The rows as a rich table, the paper's seconds beside ours."""
    table = Table(title="Algorithm 1 with all starts, one thread")
    for column in ("instance", "n", "M", "k", "oracle calls", "seconds", "paper's seconds", "peak MiB"):
        table.add_column(column, justify="left" if column == "instance" else "right")
    for row in rows:
        table.add_row(
            row.instance,
            f"{row.n:,}",
            str(row.workers),
            f"{row.budget:,}",
            f"{row.oracle_calls:,}",
            f"{row.seconds:.3f}",
            "" if row.paper_seconds is None else f"{row.paper_seconds:.2f}",
            f"{row.peak_mib:,.0f}",
        )
    return table


def times_document(rows: Iterable[PlannerTime]) -> dict[str, object]:
    """The rows as JSON-able data."""
    return {"study": "planner", "rows": [asdict(row) for row in rows]}
