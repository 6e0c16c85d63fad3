"""How far proofs of optimality reach: the exactly solved blocks with certificates, and a grid beside MIP solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, product
from math import exp, log
from statistics import median
from typing import Any

from rich.table import Table

import exact
import prefixplace as pp
from exact.branch_and_bound.backend import prove
from instances.families.base import ServedFamily
from instances.families.rag import RagShaped
from instances.families.recursive import UniformRecursive
from instances.settings import Setting, exact_block_1, exact_block_2, source_dependent
from prefixplace.lab.tables import gap_text, seconds_text, text_table

__all__ = [
    "BLOCKS",
    "GridRow",
    "ProofRow",
    "block_proofs",
    "grid_instances",
    "grid_rows",
    "grid_table",
    "proof_table",
    "proofs_document",
    "shifted_mean",
]

BLOCKS: dict[str, Callable[[], Iterator[Setting]]] = {
    "exact 1 and 2": lambda: chain(exact_block_1(), exact_block_2()),
    "source-dependent": source_dependent,
}
GRID_WORKERS = (2, 3, 4, 6, 8, 16, 32)
GRID_CHUNKS = (100, 300, 1_000, 3_000, 10_000, 100_000)
GRID_BUDGETS = (0.05, 0.10, 0.20)
GRID_BACKENDS = ("branch-and-bound", "highs", "cp-sat", "scip", "pulp-cbc")
CHUNKS_PER_DOCUMENT = 15  # 4 to 6 chunks and 10 query leaves
SHIFT = 1.0
"""Seconds added before and taken off after a geometric mean, so that milliseconds do not decide it."""


@dataclass(frozen=True)
class ProofRow:
    """One instance solved by the project's own prover, with its certificate.

    Attributes
    ----------
    block, instance, n, workers
    value : float
    gap : float
        Relative gap of the search; at most about 10⁻¹² when it `proved`.
    seconds : float
        Of the search alone.
    nodes, labels : int
    proved : bool
        Whether the search ended with a proof.
    verified : bool
        Whether the verifier replayed the certificate and found nothing false.
    certified_gap : float or None
        (certified bound − value)/bound in exact arithmetic.
    verify_seconds : float or None
    """

    block: str
    instance: str
    n: int
    workers: int
    value: float
    gap: float
    seconds: float
    nodes: int
    labels: int
    proved: bool
    verified: bool
    certified_gap: float | None
    verify_seconds: float | None


def block_proofs(
    *, short: bool = False, time_limit: float = 60.0, progress: Callable[[ProofRow], None] | None = None
) -> list[ProofRow]:
    """Prove and certify the 432 instances of the two exact blocks and the 45 source-dependent ones, one thread.

    With `short` every 18th of the first and every 9th of the second.
    """
    rows = []
    for block, settings in BLOCKS.items():
        stride = (18 if block == "exact 1 and 2" else 9) if short else 1
        for setting in islice(settings(), 0, None, stride):
            row = _proved(block, setting, time_limit)
            rows.append(row)
            if progress is not None:
                progress(row)
    return rows


def _proved(block: str, setting: Setting, time_limit: float) -> ProofRow:
    instance = setting.instance()
    result, certificate = prove(instance, budget=pp.Budget(seconds=time_limit))
    checked = None if certificate is None else exact.verify(instance, certificate)
    assert result.value is not None and result.gap is not None
    return ProofRow(
        block=block,
        instance=setting.name,
        n=instance.num_chunks,
        workers=instance.num_workers,
        value=result.value,
        gap=result.gap,
        seconds=result.seconds,
        nodes=int(result.counters["nodes"]),
        labels=int(result.counters["labels"]),
        proved=certificate is not None and certificate.kind == "state-search",
        verified=checked is not None and checked.ok,
        certified_gap=None if checked is None or checked.gap is None else float(checked.gap),
        verify_seconds=None if checked is None else checked.seconds,
    )


@dataclass(frozen=True)
class GridRow:
    """One back-end on one instance of the grid.

    `gap` is None where the back-end has no placement or no bound; `seconds` include model building.
    """

    shape: str
    workers: int
    n: int
    budget: float
    backend: str
    value: float | None
    bound: float | None
    gap: float | None
    seconds: float
    status: str
    stop_reason: str


def grid_instances(
    *,
    workers: Sequence[int] = GRID_WORKERS,
    chunks: Sequence[int] = GRID_CHUNKS,
    budgets: Sequence[float] = GRID_BUDGETS,
    seed: int = 0,
) -> Iterator[tuple[str, int, int, float, pp.Instance]]:
    """``(shape, M, n, budget share, instance)`` over the grid, small ones first; half of the requests are shared."""
    for n, m, share in product(chunks, workers, budgets):
        families: dict[str, ServedFamily] = {
            "RAG-shaped": RagShaped(
                workers=m,
                documents=max(1, round(n / CHUNKS_PER_DOCUMENT)),
                sharing=0.5,
                budget_fraction=share,
            ),
            "recursive": UniformRecursive(workers=m, chunks=n, sharing=0.5, budget_fraction=share),
        }
        for shape, family in families.items():
            yield shape, m, n, share, family.sample(seed)


def grid_rows(
    instances: Iterable[tuple[str, int, int, float, pp.Instance]],
    *,
    backends: Sequence[str] = GRID_BACKENDS,
    time_limit: float = 60.0,
    largest_mip: int = 300_000,
    race: bool = False,
    progress: Callable[[GridRow], None] | None = None,
) -> list[GridRow]:
    """Solve each instance with each back-end, one after the other on one thread.

    Parameters
    ----------
    backends : names of :data:`exact.BACKENDS`
        One that is not installed is left out.
    time_limit : float
        Seconds for each run.
    largest_mip : int
        MIP solvers are spared instances with more pairs M·n.
    race : bool
        MIP solvers get no longer than the fastest of them has taken so far: enough to know the best of them, at a
        fraction of the hours. Gaps of the others then mean little.
    """
    usable = [name for name in backends if name in exact.BACKENDS and exact.BACKENDS[name].available().usable]
    rows = []
    for shape, workers, n, share, instance in instances:
        limit = time_limit
        for name in usable:
            own = name == "branch-and-bound"
            if not own and workers * n > largest_mip:
                continue
            result = exact.solve(instance, name, budget=pp.Budget(seconds=time_limit if own else limit))
            if race and not own and result.status == "optimal":
                limit = min(limit, result.seconds)
            row = GridRow(
                shape,
                workers,
                n,
                share,
                name,
                result.value,
                result.bound,
                result.gap,
                result.seconds,
                result.status,
                result.stop_reason,
            )
            rows.append(row)
            if progress is not None:
                progress(row)
    return rows


def shifted_mean(seconds: Iterable[float]) -> float:
    """Geometric mean of seconds shifted by :data:`SHIFT`."""
    values = list(seconds)
    return exp(sum(log(s + SHIFT) for s in values) / len(values)) - SHIFT


def proof_table(rows: Sequence[ProofRow]) -> Table:
    """One line per block: proved, verified, seconds."""
    body = []
    for block in dict.fromkeys(row.block for row in rows):
        here = [row for row in rows if row.block == block]
        gaps = [row.certified_gap for row in here if row.certified_gap is not None]
        body.append(
            [
                block,
                str(len(here)),
                str(sum(row.proved for row in here)),
                str(sum(row.verified for row in here)),
                gap_text(max(gaps, default=None)),
                seconds_text(median(row.seconds for row in here)),
                seconds_text(max(row.seconds for row in here)),
                seconds_text(median(row.verify_seconds or 0.0 for row in here)),
                str(max(row.nodes for row in here)),
            ]
        )
    header = (
        "block", "instances", "proved", "verified", "largest certified gap", "median s", "largest s",
        "median s to verify", "most nodes",
    )  # fmt: skip
    return text_table(header, body, title="Proofs of optimality with certificates")


def grid_table(rows: Sequence[GridRow]) -> Table:
    """One line per (n, back-end): solved to proof, shifted geometric mean of seconds, largest gap."""
    body = []
    for n, backend in dict.fromkeys((row.n, row.backend) for row in rows):
        here = [row for row in rows if (row.n, row.backend) == (n, backend)]
        known = [row.gap for row in here if row.gap is not None]
        body.append(
            [
                f"{n:,}",
                backend,
                str(len(here)),
                str(sum(row.status == "optimal" for row in here)),
                seconds_text(shifted_mean(row.seconds for row in here)),
                gap_text(max(known)) if len(known) == len(here) else "none for some",
            ]
        )
    header = ("n", "back-end", "instances", "proved", "shifted mean s", "largest gap")
    return text_table(header, body, title="Grid of workers, chunks and budgets", left=(1,))


def proofs_document(proofs: Sequence[ProofRow], grid: Sequence[GridRow]) -> dict[str, Any]:
    """All rows as JSON-able data."""
    return {"proofs": [asdict(row) for row in proofs], "grid": [asdict(row) for row in grid]}
