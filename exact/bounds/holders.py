"""The budget dual: exact in the coverage, relaxed only in the M budgets (MODEL: holder-set dynamic program)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exact.bounds.workers import worker_classes
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise
from prefixplace.oracle.dense import dense_order

__all__ = ["MOST_CELLS", "HolderDual", "HolderEvaluation"]

Vector = NDArray[np.float64]

MOST_CELLS = 5e8
"""Largest table n × states; its choices take two bytes a cell."""


@dataclass(frozen=True, eq=False)
class HolderEvaluation:
    """L(λ) = Σ_m λ_m·k_m + Σ_roots max_H G_r(H) at one point.

    Attributes
    ----------
    value : float
        An upper bound on the optimum of either objective.
    gradient : float array, one per class
        Subgradient in the price of each class: its budgets less the chunks that its workers keep.
    kept : int array (classes, n)
        How many workers of each class keep each chunk in the relaxed optimum.
    """

    value: float
    gradient: Vector
    kept: NDArray[np.int64]


class HolderDual:
    """Evaluates L for one instance.

    Interchangeable workers have one price and are counted: a state is the number of holders in each class, so
    that 48 identical workers mean 49 states and not 2⁴⁸. O(n·states·classes) a call, O(n·states·M) pairwise.

    Raises
    ------
    InputError
        When n × states passes :data:`MOST_CELLS`; the message says how many states there are.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.classes = worker_classes(instance, same_budget=False)
        n = instance.num_chunks
        states = 1
        for members in self.classes:
            states *= len(members) + 1
        if n * states > MOST_CELLS or states > 2**16:
            raise InputError(
                f"budget-dual: {instance.num_workers} workers in {len(self.classes)} classes of identical ones have "
                f"{states} holder states, times {n} chunks: too many (at most {MOST_CELLS:.0e} together, 65,536 states)"
            )
        self.extent = np.array([len(members) + 1 for members in self.classes], np.int64)
        self.stride = np.concatenate([[1], np.cumprod(self.extent)[:-1]]).astype(np.int64)
        numbers = np.arange(states)
        self.counts = numbers // self.stride[:, None] % self.extent[:, None]  # (classes, states)
        kind = np.argmax(self.counts > 0, axis=0)  # the first class that has a holder
        self.before = numbers - np.where(numbers > 0, self.stride[kind], 0)
        self.added = np.array(
            [self.classes[c][max(self.counts[c, s] - 1, 0)] for s, c in enumerate(kind)], np.int64
        )
        budgets = np.minimum(instance.budgets, n)
        self.budgets = np.array([budgets[members].sum() for members in self.classes], np.float64)
        self._ready = dense_order(instance.tree)
        self._choice = np.empty((n, states), np.uint16)
        objective = instance.objective
        if isinstance(objective, Pairwise):
            everywhere = np.arange(n)
            saving = [objective.saving(h, everywhere).T for h in range(instance.num_workers)]
            self._saving = np.ascontiguousarray(np.stack(saving, axis=1))  # chunk, holder, requester
            self._local, self._coverage = np.zeros((0, 0)), np.zeros(0)
            alone = self._saving.sum(axis=2).max(axis=0, initial=0.0)
        else:
            self._saving = np.zeros((0, 0, 0))
            self._local, self._coverage = (
                np.ascontiguousarray(instance.local_value.T),
                instance.coverage_value,
            )
            alone = (self._local + self._coverage[:, None]).max(axis=0, initial=0.0)
        self.highest = np.array([alone[members[0]] for members in self.classes])
        """Price of each class at which no worker of it keeps anything; the minimum lies below."""

    def evaluate(self, prices: Vector) -> HolderEvaluation:
        """L at one price ≥ 0 per class."""
        from exact.bounds._holder_kernels import holder_pass, holder_states

        ready = self._ready
        total = holder_pass(
            ready.parent,
            ready.order,
            self._local,
            self._coverage,
            self._saving,
            self.before,
            self.added,
            prices @ self.counts,
            self.stride,
            self.extent,
            self._choice,
        )
        state = np.empty(self.instance.num_chunks, np.int64)
        holder_states(ready.parent, ready.order, self._choice, state)
        kept = self.counts[:, state]
        return HolderEvaluation(total + float(prices @ self.budgets), self.budgets - kept.sum(axis=1), kept)

    def per_worker(self, values: Vector) -> Vector:
        """One value per class spread over its workers, shape (M, …)."""
        result = np.zeros((self.instance.num_workers, *values.shape[1:]))
        for members, value in zip(self.classes, values, strict=True):
            result[members] = value
        return result
