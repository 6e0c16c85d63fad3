"""Numba kernels of the holder-set dynamic program."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["holder_pass", "holder_states"]


@njit(cache=True, nogil=True)
def holder_pass(  # type: ignore[no-untyped-def]
    parent, order, local, coverage, saving, before, added, price, stride, extent, choice
):
    """Σ over roots of max_H G_r(H); `choice[i, s]` becomes the best state of node i below a parent in state s.

    Nodes come in a preorder with the heaviest child last (`order` gives their place in the per-chunk arrays), so
    that going backwards at most log₂ n + 1 tables wait for more children. State s has one worker, `added[s]`, more
    than state `before[s]`; `price[s]` is the price of its holders. ``local`` is (n, M) and `saving` empty for the
    requester-side objective; `saving` is (n, holder, requester) and `local` empty for the pairwise one.
    """
    states, pairwise = before.size, saving.size > 0
    table = np.zeros((66, states))
    owner = np.full(66, -1, np.int64)
    worth = np.zeros(states)
    best = np.zeros((states, saving.shape[2]))
    pick = np.empty(states, np.int64)
    top, total = -1, 0.0
    for i in range(parent.size - 1, -1, -1):
        b = order[i]
        if top < 0 or owner[top] != i:  # a leaf: nothing waits for it
            top += 1
            table[top] = 0.0
        row = table[top]
        pick[0] = 0
        for s in range(1, states):
            pick[s] = s
            h, below = added[s], before[s]
            if pairwise:
                sum_best = 0.0
                for r in range(best.shape[1]):
                    value = max(best[below, r], saving[b, h, r])
                    best[s, r] = value
                    sum_best += value
                row[s] += sum_best - price[s]
            else:
                worth[s] = worth[below] + local[b, h]
                row[s] += worth[s] + coverage[b] - price[s]
        for axis in range(stride.size):
            step, block = stride[axis], stride[axis] * extent[axis]
            for first in range(0, states, block):
                for s in range(first + step, first + block):
                    if row[s - step] >= row[s]:
                        row[s] = row[s - step]
                        pick[s] = pick[s - step]
        for s in range(states):
            choice[i, s] = pick[s]
        above = parent[i]
        if above < 0:
            total += row[states - 1]
            top -= 1
        elif top > 0 and owner[top - 1] == above:
            for s in range(states):
                table[top - 1, s] += row[s]
            top -= 1
        else:  # the first child to be ready hands its table on
            owner[top] = above
    return total


@njit(cache=True, nogil=True)
def holder_states(parent, order, choice, state):  # type: ignore[no-untyped-def]
    """Follow `choice` from the roots down; `state` (shape (n,)) is in the order of the per-chunk arrays."""
    last = choice.shape[1] - 1
    for i in range(parent.size):
        above = last if parent[i] < 0 else state[order[parent[i]]]
        state[order[i]] = choice[i, above]
