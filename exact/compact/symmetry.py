"""Workers that can be exchanged without anybody noticing."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.objective import Pairwise

__all__ = ["identical_workers"]


def identical_workers(instance: Instance) -> list[list[int]]:
    """Classes of at least two workers whose exchange leaves the problem as it is, each ascending.

    Requester-side: equal budgets and equal local values. Pairwise: swapping the two, as requesters and as holders,
    leaves every saving as it is. Budgets above n count as n. O(M·n), and O(M²·n) a candidate pair when pairwise.
    """
    objective = instance.objective
    pairwise = objective if isinstance(objective, Pairwise) else None
    chunks = np.arange(instance.num_chunks)
    alike: dict[tuple[int, bytes], list[list[int]]] = defaultdict(list)
    for m in range(instance.num_workers):
        own = instance.local_value[m] if pairwise is None else pairwise.saving(m, chunks)[m]
        key = (min(int(instance.budgets[m]), instance.num_chunks), (own + 0.0).tobytes())
        for members in alike[key]:
            if pairwise is None or _exchangeable(pairwise, members[0], m, chunks):
                members.append(m)
                break
        else:
            alike[key].append([m])
    classes = [members for group in alike.values() for members in group if len(members) > 1]
    return sorted(classes)


def _exchangeable(objective: Pairwise, p: int, q: int, chunks: NDArray[np.int64]) -> bool:
    swap = np.arange(objective.num_workers)
    swap[p], swap[q] = q, p
    if not np.array_equal(objective.saving(p, chunks), objective.saving(q, chunks)[swap]):
        return False
    others = [h for h in range(objective.num_workers) if h not in (p, q)]
    return all(np.array_equal(s[p], s[q]) for s in (objective.saving(h, chunks) for h in others))
