"""Benchmark of the oracle: reference, NumPy, C, blocked dynamic program and nearly linear method, side by side.

Every comparison is made in one run on the same instance, and every answer is checked against the dense program, so
a ratio here is a ratio between two methods that agree. Behind ``prefixplace bench oracle``.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.lab.oracle_families import HARD, LAWS, SHAPES, hard_case, make_profit, make_tree
from prefixplace.lab.oracle_yardsticks import c_value, numpy_value
from prefixplace.oracle import ClosedSetOracle
from prefixplace.oracle.dense import dense_closed_set, dense_order
from prefixplace.oracle.reference import reference_closed_set
from prefixplace.tree import PrefixTree

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["MODES", "CaseRow", "OracleBenchmark", "YardstickRow", "run"]

Case = tuple[str, str, PrefixTree, NDArray[Any]]


@dataclass(frozen=True)
class Mode:
    """Which instances a run takes: n, budgets as shares of n, laws per shape (None: all), and whether hard ones too."""

    nodes: int
    shares: tuple[float, ...]
    laws: tuple[str, ...] | None
    shapes: tuple[str, ...] | None
    hard: bool
    yardstick: tuple[int, int]


COMMON_LAWS = ("uniform", "small-integers", "demand-times-recompute", "greedy-marginals")
MODES = {
    "short": Mode(20_000, (0.1,), COMMON_LAWS, None, True, (3_000, 600)),
    "full": Mode(100_000, (0.1, 0.3), None, None, True, (20_000, 5_000)),
    "large": Mode(
        1_000_000, (0.1,), COMMON_LAWS, ("zipf-prefix", "random-recursive"), False, (20_000, 5_000)
    ),
}


@dataclass(frozen=True)
class YardstickRow:
    """Seconds of one implementation of the dynamic program; `cells` is n·k, whatever it leaves out."""

    method: str
    nodes: int
    budget: int
    seconds: float
    cells_per_second: float


@dataclass(frozen=True)
class CaseRow:
    """One instance: seconds of the dense program and of the oracle (first call, and warm), their ratio, the proof."""

    shape: str
    law: str
    nodes: int
    budget: int
    proof: str
    dense_seconds: float
    oracle_seconds: float
    warm_seconds: float
    ratio: float
    equal: bool


@dataclass(frozen=True)
class OracleBenchmark:
    """What :func:`run` measured."""

    mode: str
    seed: int
    machine: dict[str, str]
    yardsticks: list[YardstickRow]
    cases: list[CaseRow]

    def summary(self) -> list[dict[str, Any]]:
        """Per budget: cases, ratio dense / oracle (median, tenth percentile, worst and where), and mismatches."""
        found = []
        for nodes, budget in sorted({(c.nodes, c.budget) for c in self.cases}):
            rows = [c for c in self.cases if (c.nodes, c.budget) == (nodes, budget)]
            worst = min(rows, key=lambda c: c.ratio)
            found.append(
                {
                    "nodes": nodes,
                    "budget": budget,
                    "cases": len(rows),
                    "median_ratio": median(c.ratio for c in rows),
                    "tenth_ratio": float(np.quantile([c.ratio for c in rows], 0.1)),
                    "worst_ratio": worst.ratio,
                    "worst_case": f"{worst.shape} / {worst.law}",
                    "median_milliseconds": 1e3 * median(c.oracle_seconds for c in rows),
                    "not_equal": sum(not c.equal for c in rows),
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "benchmark": "oracle",
            "mode": self.mode,
            "seed": self.seed,
            "machine": self.machine,
            "yardsticks": [asdict(row) for row in self.yardsticks],
            "summary": self.summary(),
            "cases": [asdict(row) for row in self.cases],
        }

    def tables(self) -> Group:
        """Yardsticks, summary, and the cases from the worst ratio on, as rich tables."""
        from rich.console import Group
        from rich.table import Table

        one = Table(title="One dynamic program, several implementations", title_justify="left")
        for head in ("method", "n", "k", "seconds", "10⁹ cells/s"):
            one.add_column(head, justify="left" if head == "method" else "right")
        for y in self.yardsticks:
            rate = f"{y.cells_per_second / 1e9:.2f}"
            one.add_row(y.method, f"{y.nodes:,}", f"{y.budget:,}", f"{y.seconds:.4f}", rate)
        two = Table(title="Blocked dynamic program against the oracle", title_justify="left")
        for head in (
            "n",
            "k",
            "cases",
            "median ratio",
            "10 % below",
            "worst",
            "worst case",
            "median ms",
            "differ",
        ):
            two.add_column(head, justify="left" if head == "worst case" else "right")
        for s in self.summary():
            two.add_row(
                f"{s['nodes']:,}", f"{s['budget']:,}", str(s["cases"]), f"{s['median_ratio']:.1f}×",
                f"{s['tenth_ratio']:.1f}×", f"{s['worst_ratio']:.2f}×", s["worst_case"],
                f"{s['median_milliseconds']:.2f}", str(s["not_equal"]),
            )  # fmt: skip
        three = Table(title="Cases, worst ratio first", title_justify="left")
        for head in ("shape", "profits", "k", "proof", "dense ms", "oracle ms", "warm ms", "ratio"):
            three.add_column(head, justify="left" if head in ("shape", "profits", "proof") else "right")
        for c in sorted(self.cases, key=lambda c: c.ratio):
            three.add_row(
                c.shape, c.law, f"{c.budget:,}", c.proof if c.equal else f"[red]{c.proof}: WRONG[/red]",
                f"{1e3 * c.dense_seconds:.1f}", f"{1e3 * c.oracle_seconds:.2f}", f"{1e3 * c.warm_seconds:.2f}",
                f"{c.ratio:.1f}×",
            )  # fmt: skip
        return Group(one, two, three)


def run(
    mode: str = "full",
    *,
    seed: int = 0,
    repeats: int = 3,
    progress: Callable[[str], None] | None = None,
) -> OracleBenchmark:
    """Time all implementations on the instances of a mode of :data:`MODES`.

    Each figure is the best of `repeats` runs after one to compile (the dense program at n·k > 2·10¹⁰: of one).
    `progress` is told each case before it starts.
    """
    if mode not in MODES:
        raise InputError(f"mode {mode!r} is none of {', '.join(MODES)}")
    if repeats < 1:
        raise InputError(f"repeats is {repeats}; it must be ≥ 1")
    chosen = MODES[mode]
    tell = progress or (lambda text: None)
    tell("yardsticks")
    yardsticks = list(_yardsticks(*chosen.yardstick, seed, repeats))
    rows = []
    for case in _cases(chosen, seed):
        for share in chosen.shares:
            tell(f"{case[0]} / {case[1]}, k = {share:.0%} of n")
            rows.append(_case_row(case, int(share * chosen.nodes), repeats))
    return OracleBenchmark(mode, seed, _machine(), yardsticks, rows)


def _best(repeats: int, call: Callable[[], Any]) -> tuple[float, Any]:
    seconds, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, result


def _yardsticks(nodes: int, budget: int, seed: int, repeats: int) -> Iterator[YardstickRow]:
    """The same value by every implementation on a random recursive tree with integer profits."""
    from prefixplace.oracle._dense import dense_value

    tree = make_tree("random-recursive", nodes, seed)
    profit = np.random.default_rng(seed).integers(-1000, 1001, nodes)
    ready, oracle, compiled = dense_order(tree), ClosedSetOracle(tree), c_value()
    rows = ready.end, ready.slot, ready.count, ready.parent, profit[ready.order], budget
    methods: dict[str, Callable[[], int]] = {
        "reference, with its table": lambda: int(reference_closed_set(tree.end, profit, budget)[0]),
        "NumPy rows, value only": lambda: numpy_value(tree, profit, budget),
    }
    if compiled is not None:
        methods["blocked in C, value only"] = lambda: compiled(tree, profit, budget)
    methods["blocked, value only"] = lambda: int(dense_value(*rows)[0])
    methods["blocked, with the set"] = lambda: int(profit[dense_closed_set(tree, profit, budget)].sum())
    methods["oracle"] = lambda: int(oracle.solve(profit, budget).value)
    values = {}
    for name, call in methods.items():
        call()
        seconds, values[name] = _best(repeats, call)
        yield YardstickRow(name, nodes, budget, seconds, nodes * budget / seconds)
    if len(set(values.values())) > 1:
        raise AssertionError(f"the implementations differ: {values}")


def _cases(mode: Mode, seed: int) -> Iterator[Case]:
    for shape in mode.shapes or tuple(SHAPES):
        tree = make_tree(shape, mode.nodes, seed)
        for law in mode.laws or tuple(LAWS):
            yield shape, law, tree, make_profit(law, tree, seed)
    for name in HARD if mode.hard else ():
        yield "hard", name, *hard_case(name, mode.nodes, seed)


def _case_row(case: Case, budget: int, repeats: int) -> CaseRow:
    shape, law, tree, profit = case
    oracle = ClosedSetOracle(tree)
    answer = oracle.solve(profit, budget)
    cold, _ = _best(repeats, lambda: oracle.solve(profit, budget))
    warm, _ = _best(repeats, lambda: oracle.solve(profit, budget, warm=answer.multiplier))
    dense_order(tree)
    often = repeats if tree.n * budget <= 2e10 else 1
    dense, mask = _best(often, lambda: dense_closed_set(tree, profit, budget))
    value = profit[mask].sum()
    tolerance = 0.0 if profit.dtype.kind == "i" else answer.rounding + 1e-12 * float(np.abs(profit).sum())
    equal = bool(abs(answer.value - value) <= tolerance)
    return CaseRow(shape, law, tree.n, budget, answer.proof, dense, cold, warm, dense / cold, equal)


def _machine() -> dict[str, str]:
    import numba

    return {
        "processor": platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
