"""Small instances that make every part of the prover work."""

from __future__ import annotations

import numpy as np

import prefixplace as pp
from exact.branch_and_bound.parameters import Parameters
from tests.brute import random_instance, random_parents

NARROW = Parameters(widths=(1, 1, 1), price_evaluations=5, coverage_rounds=5, joint_rounds=5)
"""So little of everything that the search has to branch."""

COVERAGE_FIRST = Parameters(
    widths=(1, 2, 2), few_workers=0, price_evaluations=5, coverage_rounds=5, joint_rounds=5
)
WITHOUT_STATES = Parameters(
    widths=(1,), few_workers=0, price_evaluations=2, coverage_rounds=2, joint_rounds=2, most_states=0, few_pairs=0,
    heavy=0,
)  # fmt: skip
"""As with many workers: strong branching on pairs and coverage, states only when nothing is free (requester-side)."""
SETTINGS = (Parameters(), NARROW, COVERAGE_FIRST)


def identical_workers(rng: np.random.Generator, n: int, workers: int) -> pp.Instance:
    """Whole numbers, the same for every worker, budgets too."""
    tree = pp.PrefixTree.from_parents(random_parents(rng, n))
    local = np.repeat(rng.integers(0, 4, (1, n)), workers, axis=0)
    budget = int(rng.integers(0, n + 2))
    return pp.Instance.from_values(
        tree, local=local, coverage=rng.integers(0, 6, n), budgets=[budget] * workers
    )


def mixed(rng: np.random.Generator, index: int, largest: int = 6) -> pp.Instance:
    """Requester-side and pairwise in turn, now and then with identical workers."""
    n, workers = int(rng.integers(0, largest + 1)), int(rng.integers(1, 4))
    if index % 6 == 0:
        return identical_workers(rng, n, workers)
    return random_instance(rng, n=n, workers=workers, pairwise=bool(index % 2), whole=bool(rng.integers(2)))


def stubborn(seed: int, count: int) -> list[pp.Instance]:
    """Random ones, identical workers, and chains that pay at their ends, which the coverage dual does not close."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(count):
        if index % 3 == 0:
            found.append(identical_workers(rng, int(rng.integers(1, 8)), int(rng.integers(2, 4))))
        elif index % 3 == 1:
            found.append(
                random_instance(rng, n=int(rng.integers(1, 8)), workers=int(rng.integers(2, 4)), whole=True)
            )
        else:
            tree = pp.PrefixTree.from_parents([-1, 0, -1, 2, -1, 4, 5, -1, -1])
            worth = np.array([0, 2, 0, 2, 0, 0, 3, 1, 1])
            found.append(
                pp.Instance.from_values(
                    tree,
                    local=rng.integers(0, 3, (3, 9)) * (worth > 0),
                    coverage=worth * rng.integers(1, 5, 9),
                    budgets=rng.integers(1, 4, 3),
                )
            )
    return found
