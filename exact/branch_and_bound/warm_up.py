"""Every compiled kernel of the prover once, so that no time limit pays for compiling or loading it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from exact.branch_and_bound.bounding import Bounding
from exact.branch_and_bound.parameters import Parameters
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import problem_of
from exact.branch_and_bound.search import Search
from prefixplace.instance import Instance
from prefixplace.tree import PrefixTree

__all__ = ["warm_up"]

_LITTLE = Parameters(price_evaluations=3, coverage_rounds=3, joint_rounds=3)


@cache
def warm_up() -> None:
    """Prove tiny instances in all ways that the prover knows; seconds where nothing is compiled yet, once a process."""
    tree = PrefixTree.from_parents([-1, 0, 0, 2, -1, 4, -1, 6])
    rng = np.random.default_rng(0)
    served = Instance.from_values(
        tree,
        local=rng.integers(0, 4, (8, 8)),
        coverage=rng.integers(0, 9, 8),
        budgets=[2, 2, 3, 3, 3, 1, 1, 2],
    )
    few = Instance.from_values(
        tree, local=served.local_value[:3], coverage=served.coverage_value, budgets=[2, 3, 3]
    )
    pairwise = Instance(
        PrefixTree.from_parents([-1, 0, 0, 1]),
        demand=rng.integers(1, 5, (2, 4)),
        recompute=np.full((2, 4), 9.0),
        fetch=rng.integers(1, 9, (2, 2, 4)),
        budgets=[2, 1],
    )
    without_states = replace(_LITTLE, widths=(1,), few_workers=0, most_states=0, few_pairs=0, heavy=0)
    priced = replace(_LITTLE, few_workers=0, table_cells=0)
    narrow = replace(_LITTLE, widths=(1, 1, 1))
    for instance, parameters in (
        (served, Parameters()), (served, without_states), (served, priced), (few, Parameters()), (few, narrow),
        (pairwise, narrow),
    ):  # fmt: skip
        problem = problem_of(instance, parameters.most_states)
        bounding = Bounding(problem, Primal(problem, lambda mask: None), parameters, lambda: False)
        bounding.primal.improve(np.zeros_like(bounding.primal.mask))
        Search(bounding, lambda bound, line: None).run(node_limit=20)
