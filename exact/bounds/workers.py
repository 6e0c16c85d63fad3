"""Which workers are interchangeable."""

from __future__ import annotations

import numpy as np

from prefixplace.instance import Instance

__all__ = ["worker_classes"]


def worker_classes(instance: Instance, *, same_budget: bool) -> list[list[int]]:
    """Classes of workers any two of which can be swapped without changing the objective, in order of first member.

    Requester-side: equal local values. Pairwise: swapping both as requesters and as holders changes no saving.
    With `same_budget` members also have equal budgets, so that a swap maps placements to placements.
    """
    classes: list[list[int]] = []
    for m in range(instance.num_workers):
        for members in classes:
            first = members[0]
            if (not same_budget or instance.budgets[first] == instance.budgets[m]) and _swappable(
                instance, first, m
            ):
                members.append(m)
                break
        else:
            classes.append([m])
    return classes


def _swappable(instance: Instance, first: int, second: int) -> bool:
    if not instance.pairwise:
        return np.array_equal(instance.local_value[first], instance.local_value[second])
    swap = np.arange(instance.num_workers)
    swap[[first, second]] = second, first
    everywhere = np.arange(instance.num_chunks)
    saving = instance.objective.saving  # type: ignore[union-attr]
    return all(
        np.array_equal(saving(h, everywhere), saving(int(swap[h]), everywhere)[swap])
        for h in range(instance.num_workers)
    )
