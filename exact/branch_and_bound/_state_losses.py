"""Numba kernels of what the coverage bound loses by the states of chunks, and lists of the cheap ones."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["cheap_states", "state_losses"]

_NEVER = -(1 << 60)


@njit(cache=True, nogil=True)
def state_losses(chunks, offset, holders, entry, leave, multipliers, spread, lost):  # type: ignore[no-untyped-def]
    """Into `lost` what the coverage bound loses at least when a chunk is in a state; all losses at a chunk add up."""
    workers = entry.shape[0]
    for c in range(chunks.size):
        b = chunks[c]
        for s in range(offset[c], offset[c + 1]):
            total = spread[b] if holders[s] == 0 else -multipliers[b]
            for m in range(workers):
                if (holders[s] >> m) & 1:
                    total += entry[m, b] + multipliers[b]
                else:
                    total += leave[m, b]
                if total >= -_NEVER:
                    break
            lost[s] = total


@njit(cache=True, nogil=True)
def cheap_states(entry, leave, multipliers, spread, room, most, local, coverage, counts, holders, value):  # type: ignore[no-untyped-def]
    """All states of all chunks that lose less than `room`, chunk by chunk; their number, or −1 above `most`.

    `counts` (n,) receives how many each chunk has; `holders` and `value` need `most` entries.
    """
    workers, n = entry.shape
    total = 0
    stack_worker = np.empty(workers + 1, np.int64)
    stack_state = np.empty(workers + 1, np.int64)
    stack_lost = np.empty(workers + 1, np.int64)
    stack_value = np.empty(workers + 1, np.int64)
    for b in range(n):
        before = total
        top = 1
        stack_worker[0], stack_state[0], stack_lost[0], stack_value[0] = 0, 0, -multipliers[b], 0
        while top > 0:
            top -= 1
            m, state, lost, worth = stack_worker[top], stack_state[top], stack_lost[top], stack_value[top]
            # follow the branch that leaves out worker after worker, stacking the one that takes it
            while m < workers and lost < room:
                taken = lost + entry[m, b] + multipliers[b]
                if taken < room:
                    stack_worker[top], stack_state[top] = m + 1, state | (np.int64(1) << m)
                    stack_lost[top], stack_value[top] = taken, worth + local[m, b]
                    top += 1
                lost += leave[m, b]
                m += 1
            if lost >= room:
                continue
            if state == 0:
                lost += multipliers[b] + spread[b]
                if lost >= room:
                    continue
            else:
                worth += coverage[b]
            if total >= most:
                return -1
            holders[total], value[total] = state, worth
            total += 1
        counts[b] = total - before
    return total
