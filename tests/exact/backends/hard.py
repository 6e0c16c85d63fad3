"""Named instances on which exact back-ends are tried, and what is known of them."""

from __future__ import annotations

import numpy as np

import prefixplace as pp


def spider(legs: list[int], budgets: list[int]) -> pp.Instance:
    """Legs of the given lengths; every chunk is worth 1 to whoever covers it first."""
    parents: list[int] = []
    for leg in legs:
        parents += [-1, *range(len(parents), len(parents) + leg - 1)]
    n = len(parents)
    return pp.Instance.from_values(
        pp.PrefixTree.from_parents(parents),
        local=np.zeros((len(budgets), n)),
        coverage=np.ones(n),
        budgets=budgets,
        name=f"spider-{len(budgets)}-{n}",
    )


def parity_blocked() -> pp.Instance:
    """Six workers of odd budget 31, even legs that fill them to 30 or 32: optimum 183, compact LP 186.

    HiGHS and CP-SAT leave it open after a minute, so a run of a second or two ends at its limit.
    """
    return spider([10, 10, 10, 12, 10, 8, 14, 8, 8, 12, 10, 10, 14, 10, 8, 16, 8, 8], [31] * 6)


PARITY_BLOCKED_OPTIMUM = 183.0


def small_parity_blocked() -> pp.Instance:
    """Four workers of budget 21, triples of 20 and 22: optimum 82, compact LP 84, root node in no time."""
    return spider([8, 6, 6, 10, 6, 4, 8, 8, 6, 10, 6, 6], [21] * 4)


SMALL_PARITY_BLOCKED_OPTIMUM = 82.0


def tiny() -> pp.Instance:
    """The instance with the configuration gap 4/5: optimum 2, LP 2.5."""
    tree = pp.PrefixTree.from_parents([-1, 0, -1, -1])
    local = [[0.0, 1.0, 0.0, 0.0], [0.0] * 4]
    return pp.Instance.from_values(
        tree, local=local, coverage=[0.0, 0.0, 1.0, 1.0], budgets=[2, 1], name="tiny"
    )


def medium(seed: int = 5, n: int = 30, workers: int = 2) -> pp.Instance:
    """A random forest with an LP gap: every back-end needs more than its presolve, and less than a second."""
    rng = np.random.default_rng(seed)
    parents = [-1 if i < 6 else int(rng.integers(max(0, i - 12), i)) for i in range(n)]
    return pp.Instance.from_values(
        pp.PrefixTree.from_parents(parents),
        local=rng.integers(0, 9, (workers, n)).astype(float),
        coverage=rng.integers(0, 30, n).astype(float),
        budgets=[n // 6] * workers,
        name="medium",
    )


def chain(n: int = 200_000) -> pp.Instance:
    """One chain of n chunks that pays in its last chunk, and two workers that can hold it all."""
    coverage = np.zeros(n)
    coverage[-1] = 7.0
    return pp.Instance.from_values(
        pp.PrefixTree.from_parents(np.arange(-1, n - 1)),
        local=np.zeros((2, n)),
        coverage=coverage,
        budgets=[n, n - 1],
        name="chain",
    )


def paying_chain(n: int = 200_000) -> pp.Instance:
    """One chain of n chunks all of which pay, so that no reduction shortens it. One worker keeps all: optimum n."""
    return pp.Instance.from_values(
        pp.PrefixTree.from_parents(np.arange(-1, n - 1)),
        local=np.zeros((1, n)),
        coverage=np.ones(n),
        budgets=[n],
        name="paying-chain",
    )
