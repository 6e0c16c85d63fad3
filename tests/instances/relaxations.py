"""The two relaxations of tiny instances as plain linear programs, written from the definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

import prefixplace as pp
from tests.brute import closed_sets


def savings(instance: pp.Instance) -> np.ndarray:
    """s_{m←h}(b) as [holder, requester, chunk]."""
    every = np.arange(instance.num_chunks)
    return np.stack([instance.objective.saving(h, every) for h in range(instance.num_workers)])


def configuration_lp(instance: pp.Instance) -> float:
    """Maximum over all columns (worker, closed set), enumerated; at most a dozen chunks."""
    columns = [(m, s) for m, k in enumerate(instance.budgets) for s in closed_sets(instance.tree, int(k))]
    holds = np.array([s for _, s in columns], float)  # (columns, n)
    owner = np.array([m for m, _ in columns])
    convexity = (owner == np.arange(instance.num_workers)[:, None]).astype(float)
    return _relaxation(instance, holds, owner, convexity, np.ones(instance.num_workers))


def compact_lp(instance: pp.Instance) -> float:
    """Maximum over fractional chunks: each (worker, chunk) is a column, with precedence and budget rows."""
    workers, n = instance.num_workers, instance.num_chunks
    owner, chunk = np.repeat(np.arange(workers), n), np.tile(np.arange(n), workers)
    holds = (chunk[:, None] == np.arange(n)).astype(float)
    rows = [(owner == m).astype(float) for m in range(workers)]
    limits = instance.budgets.astype(float).tolist()
    for m in range(workers):
        for b in np.flatnonzero(instance.tree.parent >= 0):
            row = ((owner == m) & (chunk == b)).astype(float)
            rows.append(row - ((owner == m) & (chunk == instance.tree.parent[b])))
            limits.append(0.0)
    return _relaxation(instance, holds, owner, np.array(rows), np.array(limits))


def _relaxation(
    instance: pp.Instance, holds: np.ndarray, owner: np.ndarray, rows: np.ndarray, limits: np.ndarray
) -> float:
    """max Σ a·x + Σ Δ·y (or Σ s·z) for columns x that hold chunks, x ≤ 1 row-wise through `rows`."""
    count, n = holds.shape
    if instance.pairwise:
        saving = savings(instance)
        keys = [(h, m, b) for h, m, b in np.argwhere(saving > 0).tolist()]
        gain = np.array([saving[key] for key in keys])
        link = np.zeros((len(keys), count + len(keys)))  # z_{m,h,b} ≤ x_{h,b}
        once = np.zeros((instance.num_workers * n, count + len(keys)))  # Σ_h z_{m,h,b} ≤ 1
        for i, (h, m, b) in enumerate(keys):
            link[i, :count] = -1.0 * (owner == h) * holds[:, b]
            link[i, count + i] = 1
            once[m * n + b, count + i] = 1
        extra = np.vstack((link, once))
        right = np.concatenate((np.zeros(len(keys)), np.ones(len(once))))
        cost = np.concatenate((np.zeros(count), -gain))
    else:
        extra = np.hstack((-holds.T, np.eye(n)))  # y_b ≤ Σ x
        right = np.zeros(n)
        cost = np.concatenate((-(holds * instance.local_value[owner]).sum(axis=1), -instance.coverage_value))
    padded = np.hstack((rows, np.zeros((len(rows), len(cost) - count))))
    result = linprog(
        cost,
        A_ub=np.vstack((padded, extra)),
        b_ub=np.concatenate((limits, right)),
        bounds=(0, 1),
        method="highs",
    )
    assert result.status == 0
    return -float(result.fun)
