"""compact LP ≥ configuration LP ≥ optimum, and every other bound ≥ optimum, on thousands of tiny instances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import exact
import prefixplace as pp
from exact.bounds import ConfigurationParams
from prefixplace.objective import Pairwise
from tests.brute import closed_sets, optimum, random_instance

KINDS = ("trivial", "coverage-dual", "budget-dual", "configuration-lp", "compact-lp")


def tiny(seed: int) -> pp.Instance:
    """Whole-number data, so that float sums and the enumerated optimum are exact."""
    rng = np.random.default_rng(seed)
    workers = int(rng.integers(1, 4))
    n = int(rng.integers(1, 4 if workers == 3 else 6))
    return random_instance(rng, n=n, workers=workers, pairwise=seed % 2 == 1, whole=True)


@pytest.mark.parametrize("block", range(8))
def test_every_bound_holds_in_exact_arithmetic(block: int) -> None:
    """2,000 instances; the multipliers of each bound are evaluated in rationals and compared with enumeration."""
    tolerance = 1e-9
    for seed in range(250 * block, 250 * (block + 1)):
        instance = tiny(seed)
        best = optimum(instance)
        start = pp.Placement.empty(instance.tree, instance.num_workers)
        found = {}
        # the LPs by HiGHS cost most, so they take turns
        for kind in (*KINDS[:3], KINDS[3 + seed % 2]) if seed % 10 else KINDS:
            limits = pp.Budget(iterations=6) if kind == "coverage-dual" else pp.Budget()
            params = ConfigurationParams(warm_iterations=seed % 3) if kind == "configuration-lp" else None
            bound = exact.bound(instance, kind, budget=limits, start=start, params=params)
            certificate = exact.certify(instance, start, bound)
            assert certificate.bound >= Fraction(best), (seed, kind)
            assert seed % 5 or exact.verify(instance, certificate).ok, (seed, kind)
            assert bound.bound >= best * (1 - 1e-12), (seed, kind)
            found[kind] = bound.bound
        slack = tolerance * max(found.values())
        assert found.get("configuration-lp", 0) <= found.get("compact-lp", np.inf) + slack, seed
        assert found.get("configuration-lp", 0) <= found["coverage-dual"] + slack, seed
        assert found["budget-dual"] <= found.get("compact-lp", np.inf) + slack, seed


def enumerated_configuration_lp(instance: pp.Instance) -> float:
    """The configuration LP with every closed set as a column, written from its definition."""
    tree, workers, n = instance.tree, instance.num_workers, instance.num_chunks
    columns = [(m, mask) for m in range(workers) for mask in closed_sets(tree, int(instance.budgets[m]))]
    sets = len(columns)
    rows, limits, cost = [], [], []
    objective = instance.objective
    if isinstance(objective, Pairwise):
        pairs = [(m, h, b) for m in range(workers) for h in range(workers) for b in range(n)]
        saving = [objective.saving(h, np.arange(n)) for h in range(workers)]
        cost = [0.0] * sets + [saving[h][m, b] for m, h, b in pairs]
        for j, (_, h, b) in enumerate(pairs):
            row = np.zeros(sets + len(pairs))
            row[sets + j] = 1.0
            for i, (worker, mask) in enumerate(columns):
                row[i] = -float(worker == h and mask[b])
            rows.append(row)
            limits.append(0.0)
        for m in range(workers):
            for b in range(n):
                row = np.zeros(sets + len(pairs))
                for j, pair in enumerate(pairs):
                    row[sets + j] = float(pair[0] == m and pair[2] == b)
                rows.append(row)
                limits.append(1.0)
    else:
        cost = [
            float(instance.local_value[m][mask].sum()) for m, mask in columns
        ] + instance.coverage_value.tolist()
        for b in range(n):
            row = np.zeros(sets + n)
            row[sets + b] = 1.0
            for i, (_, mask) in enumerate(columns):
                row[i] = -float(mask[b])
            rows.append(row)
            limits.append(0.0)
    for m in range(workers):
        row = np.zeros(len(cost))
        for i, (worker, _) in enumerate(columns):
            row[i] = float(worker == m)
        rows.append(row)
        limits.append(1.0)
    solved = linprog(-np.array(cost), A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
    return float(-solved.fun)


@pytest.mark.parametrize("seed", range(60))
def test_column_generation_reaches_the_enumerated_lp(seed: int) -> None:
    rng = np.random.default_rng(10_000 + seed)
    instance = random_instance(
        rng, n=int(rng.integers(1, 6)), workers=int(rng.integers(1, 4)), pairwise=seed % 2 == 1
    )
    found = exact.bound(instance, "configuration-lp")
    assert found.stop_reason == "finished"
    assert found.bound == pytest.approx(enumerated_configuration_lp(instance), rel=1e-8, abs=1e-8)
