"""Exactness of the oracle on as many random instances as asked for, all in int64, ``==`` to the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace.lab.oracle_families import (
    CHILD_ORDERS,
    HARD,
    LAWS,
    SHAPES,
    hard_case,
    make_profit,
    make_tree,
)
from prefixplace.oracle import ClosedSetOracle, OracleParameters
from prefixplace.oracle.reference import reference_table
from prefixplace.tree import PrefixTree

__all__ = ["FORCED", "Exactness", "check_exactness"]

FORCED = {
    "defaults": OracleParameters(),
    "core": OracleParameters(
        0, 0, first_core=1, core_growth=2, core_share=1e9, branch_share=0, most_branches=0
    ),
    "large core": OracleParameters(0, 0, core_share=1e9, branch_share=0, most_branches=0),
    "branch": OracleParameters(0, 0, core_share=0, branch_share=1e9, most_branches=10_000),
    "core and branch": OracleParameters(
        0, 0, first_core=2, core_share=20, branch_share=1e9, most_branches=50
    ),
    "fall-back": OracleParameters(0, 0, core_share=0, branch_share=0, most_branches=0),
}
"""Parameters that push small instances, which the dense program would answer, through each method."""


@dataclass(frozen=True)
class Exactness:
    """Instances compared, how they were proved, and the first that differ (empty, or the oracle is wrong)."""

    instances: int
    proofs: dict[str, int]
    different: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return {"instances": self.instances, "proofs": dict(self.proofs), "different": list(self.different)}


def check_exactness(
    instances: int, *, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Exactness:
    """Solve at least `instances` random instances (tree, profits, budget) and compare with the reference.

    Trees of 1 to 300 nodes of every shape and child order and of every hard family, profits of every law in whole
    numbers, and wild ones near 10¹⁵; budgets from 0 to beyond n; parameters in turn from :data:`FORCED`, with and
    without a warm multiplier. Value, closure and size of each answer are checked.
    """
    rng = np.random.default_rng(seed)
    proofs: Counter[str] = Counter()
    different: list[str] = []
    count = 0
    parameters = list(FORCED.items())
    while count < instances and len(different) < 10:
        tree, profits = _draw(rng)
        name, forced = parameters[int(rng.integers(len(parameters)))]
        oracle = ClosedSetOracle(tree, forced)
        for law, profit in profits:
            table = reference_table(tree.end, profit, tree.n)
            for budget in rng.integers(0, tree.n + 3, 6).tolist():
                warm = (None, 0.3, 7.0, 1e12)[int(rng.integers(4))]
                answer = oracle.solve(profit, budget, warm=warm)
                count += 1
                proofs[answer.proof] += 1
                inner = np.flatnonzero(answer.mask & (tree.parent >= 0))
                right = (
                    answer.value == int(table[0, min(budget, tree.n)]) == int(profit[answer.mask].sum())
                    and answer.size <= budget
                    and bool(answer.mask[tree.parent[inner]].all())
                )
                if not right:
                    different.append(
                        f"{name}, {law}, k = {budget}: {tree.parent.tolist()}, {profit.tolist()}"
                    )
        if progress is not None:
            progress(count)
    return Exactness(count, dict(proofs), different)


def _draw(rng: np.random.Generator) -> tuple[PrefixTree, list[tuple[str, NDArray[np.int64]]]]:
    """A tree and whole-number profits for it."""
    n = int(rng.integers(1, 45)) if rng.random() < 0.9 else int(rng.integers(45, 300))
    seed = int(rng.integers(2**31))
    if rng.random() < 0.25:
        name = list(HARD)[int(rng.integers(len(HARD)))]
        tree, profit = hard_case(name, n, seed)
        drawn = [(name, profit)]
    else:
        shape = list(SHAPES)[int(rng.integers(len(SHAPES)))]
        tree = make_tree(shape, n, seed, CHILD_ORDERS[int(rng.integers(3))])
        drawn = [(law, make_profit(law, tree, seed)) for law in LAWS]
    drawn.append(("wild", rng.integers(-(10**15), 10**15, n)))
    return tree, [(law, p if p.dtype.kind == "i" else np.rint(1000 * p).astype(np.int64)) for law, p in drawn]
