"""Which chunks need a variable: worthless subtrees go, runs that pay only at their end become one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance

__all__ = ["Reduction", "reduce_forest", "worth"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Reduction:
    """A smaller forest with the same optimum, and the same optimum of its compact LP.

    Attributes
    ----------
    parent : int64 array, shape (N,)
        Parent of each node of the small forest, in preorder; -1 for a root.
    size : int64 array, shape (N,)
        Chunks that a node stands for: a run of chunks each of which is the only child of the one before.
    last : int64 array, shape (N,)
        The chunk (preorder position of the instance's tree) at the end of the run, which carries its value.
    node : int64 array, shape (n,)
        The node of each chunk; -1 for a chunk under which nothing is worth keeping.
    """

    parent: Ints
    size: Ints
    last: Ints
    node: Ints


def worth(instance: Instance) -> NDArray[np.bool_]:
    """Whether a copy of chunk b at worker m can save anything, for anybody. Shape (M, n)."""
    result: NDArray[np.bool_]
    if not instance.pairwise:
        result = (instance.local_value > 0) | (instance.coverage_value > 0)
        return result
    chunks = np.arange(instance.num_chunks)
    result = np.empty((instance.num_workers, instance.num_chunks), np.bool_)
    for holder in range(instance.num_workers):
        result[holder] = (instance.objective.saving(holder, chunks) > 0).any(axis=0)  # type: ignore[union-attr]
    return result


def reduce_forest(instance: Instance, valuable: NDArray[np.bool_], *, merge_chains: bool) -> Reduction:
    """Reduce the forest of `instance`; `valuable` (shape (n,)) says which chunks are worth anything. O(n).

    A subtree without value is never needed. A worthless chunk with a single needed child is kept only for the
    sake of that child, so the two are kept or left together; with ``merge_chains`` they become one node. In the LP
    the same exchange holds: lowering x of the worthless chunk to that of its child loses nothing.
    """
    tree = instance.tree
    below = np.concatenate(([0], np.cumsum(valuable)))
    kept = np.flatnonzero(below[tree.end] > below[:-1])
    number = np.full(tree.n + 1, -1, np.int64)  # the extra entry at -1 keeps roots at -1
    number[kept] = np.arange(kept.size)
    parent = number[tree.parent[kept]]
    children = np.bincount(parent[parent >= 0], minlength=kept.size)
    # in preorder the only child of a kept chunk is the next kept chunk, so a run is contiguous
    absorbed = ~valuable[kept] & (children == 1) if merge_chains else np.zeros(kept.size, np.bool_)
    run = np.cumsum(~absorbed) - ~absorbed
    ends = np.flatnonzero(~absorbed)
    begins = np.concatenate(([0], ends[:-1] + 1)) if ends.size else ends
    above = parent[begins]
    node = np.full(tree.n, -1, np.int64)
    node[kept] = run
    return Reduction(
        parent=np.where(above >= 0, run[above], -1) if kept.size else above,
        size=np.bincount(run, minlength=ends.size).astype(np.int64),
        last=kept[ends],
        node=node,
    )
