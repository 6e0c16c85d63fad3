"""Numba kernels over holder states: bounds, fixing, enumeration. All in one module, because they call each other.

A chunk b has a list of *states*, the sets H of workers that may hold it, as bit masks:
``holders[offset[b] : offset[b + 1]]`` with their ``value`` (a term of the objective, int64). Chunks are in preorder
and the state of a child is a subset of the state of its parent; above a root lies the set of all workers.

``base[b]`` is where the row of b begins in tables with one entry per state *of the parent* (one entry for a root).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from prefixplace.joint.states import NEVER

__all__ = [
    "agree",
    "contract",
    "price",
    "survivors",
    "table_offsets",
    "usage",
]

_HALF = NEVER // 2


@njit(cache=True, nogil=True)
def table_offsets(parent, offset):  # type: ignore[no-untyped-def]
    """``base``, shape (n + 1,)."""
    n = parent.size
    base = np.zeros(n + 1, np.int64)
    for b in range(n):
        p = parent[b]
        base[b + 1] = base[b] + (1 if p < 0 else offset[p + 1] - offset[p])
    return base


@njit(cache=True, nogil=True)
def _cost(holders, prices):  # type: ignore[no-untyped-def]
    total = np.int64(0)
    m = 0
    while holders:
        if holders & 1:
            total += prices[m]
        holders >>= 1
        m += 1
    return total


@njit(cache=True, nogil=True)
def price(parent, offset, holders, value, base, prices, inside, reach):  # type: ignore[no-untyped-def]
    """Bottom-up pass of the budget dual at ``prices`` (int64, one per worker).

    Leaves in `inside` (one per state) the best value of the subtree of a chunk that is in this state, prices paid,
    and in `reach` (one per state of the parent) the best over the states that the parent's state allows. Returns
    the sum over the roots. O(Σ_b |states(b)|·|states(parent(b))|).
    """
    n = parent.size
    full = 1 << prices.size
    total = np.int64(0)
    for s in range(holders.size):
        inside[s] = value[s] - _cost(holders[s], prices)
    for b in range(n - 1, -1, -1):
        lo, hi = offset[b], offset[b + 1]
        p = parent[b]
        if p < 0:
            best = np.int64(NEVER)
            for s in range(lo, hi):
                best = max(best, inside[s])
            reach[base[b]] = best
            total = total + best if best > _HALF and total > _HALF else np.int64(NEVER)
            continue
        first, count = offset[p], offset[p + 1] - offset[p]
        row = base[b]
        if hi - lo == full and count == full:  # nothing fixed yet: maxima over subsets, worker by worker
            for s in range(full):
                reach[row + s] = inside[lo + s]
            bit = 1
            while bit < full:
                for s in range(full):
                    if s & bit and reach[row + s - bit] > reach[row + s]:
                        reach[row + s] = reach[row + s - bit]
                bit <<= 1
        else:
            for t in range(count):
                above = holders[first + t]
                best = np.int64(NEVER)
                for s in range(lo, hi):
                    if holders[s] & ~above == 0 and inside[s] > best:
                        best = inside[s]
                reach[row + t] = best
        for t in range(count):
            best = reach[row + t]
            if best > _HALF and inside[first + t] > _HALF:
                inside[first + t] += best
            else:
                inside[first + t] = NEVER
    return total


@njit(cache=True, nogil=True)
def usage(parent, offset, holders, base, inside, reach, workers, choice):  # type: ignore[no-untyped-def]
    """A best assignment after :func:`price`: state of every chunk into `choice`, chunks per worker returned.

    Of equally good states the one with the fewest holders is taken.
    """
    used = np.zeros(workers, np.int64)
    for b in range(parent.size):
        p = parent[b]
        above = np.int64(-1) if p < 0 else holders[choice[p]]
        best = reach[base[b]] if p < 0 else reach[base[b] + choice[p] - offset[p]]
        found, fewest = -1, 64
        for s in range(offset[b], offset[b + 1]):
            if inside[s] == best and holders[s] & ~above == 0:
                count, rest = 0, holders[s]
                while rest:
                    rest &= rest - 1
                    count += 1
                if count < fewest:
                    found, fewest = s, count
        choice[b] = found
        rest, m = holders[found], 0
        while rest:
            if rest & 1:
                used[m] += 1
            rest >>= 1
            m += 1
    return used


@njit(cache=True, nogil=True)
def survivors(parent, offset, holders, base, inside, reach, total, full, through):  # type: ignore[no-untyped-def]
    """Top-down pass after :func:`price`: the best total of an assignment with a chunk in a state, into `through`.

    `full` is 2^workers, the number of states of a chunk of which nothing is fixed.
    """
    for b in range(parent.size):
        p = parent[b]
        lo, hi = offset[b], offset[b + 1]
        if p < 0:
            for s in range(lo, hi):
                through[s] = total - reach[base[b]] + inside[s] if inside[s] > _HALF else np.int64(NEVER)
            continue
        first, count = offset[p], offset[p + 1] - offset[p]
        if hi - lo == full and count == full:
            for s in range(full):
                above = through[first + s]
                through[lo + s] = above - reach[base[b] + s] if above > _HALF else np.int64(NEVER)
            bit = 1
            while bit < full:
                for s in range(full):
                    if not s & bit and through[lo + s + bit] > through[lo + s]:
                        through[lo + s] = through[lo + s + bit]
                bit <<= 1
            for s in range(lo, hi):
                if through[s] > _HALF and inside[s] > _HALF:
                    through[s] += inside[s]
                else:
                    through[s] = NEVER
            continue
        for s in range(lo, hi):
            best = np.int64(NEVER)
            for t in range(first, offset[p + 1]):
                if holders[s] & ~holders[t] == 0 and through[t] > _HALF:
                    best = max(best, through[t] - reach[base[b] + t - first])
            through[s] = best + inside[s] if best > _HALF and inside[s] > _HALF else np.int64(NEVER)


@njit(cache=True, nogil=True)
def agree(parent, offset, holders, keep):  # type: ignore[no-untyped-def]
    """Clear `keep` where a state fits no kept state of the parent, or leaves a child without one. One pass each way."""
    n = parent.size
    for b in range(n - 1, -1, -1):
        p = parent[b]
        if p < 0:
            continue
        for t in range(offset[p], offset[p + 1]):
            if keep[t]:
                fits = False
                for s in range(offset[b], offset[b + 1]):
                    if keep[s] and holders[s] & ~holders[t] == 0:
                        fits = True
                        break
                keep[t] = fits
    for b in range(n):
        p = parent[b]
        if p < 0:
            continue
        for s in range(offset[b], offset[b + 1]):
            if keep[s]:
                fits = False
                for t in range(offset[p], offset[p + 1]):
                    if keep[t] and holders[s] & ~holders[t] == 0:
                        fits = True
                        break
                keep[s] = fits


@njit(cache=True, nogil=True)
def contract(parent, offset, holders, value, keep):  # type: ignore[no-untyped-def]
    """Drop the states with ``keep`` false, and the chunks that are left with one state.

    Returns ``(chunks, parent, offset, holders, value, fixed)``: the chunks still undecided with the smaller problem
    over them, and per given chunk the index of its only state or −1. Children of a decided chunk become roots.
    """
    n = parent.size
    fixed = np.full(n, np.int64(-1))
    count, states = 0, 0
    for b in range(n):
        alive, last = 0, -1
        for s in range(offset[b], offset[b + 1]):
            if keep[s]:
                alive += 1
                last = s
        if alive == 1:
            fixed[b] = last
        else:
            count += 1
            states += alive
    chunks = np.empty(count, np.int64)
    number = np.full(n, np.int64(-1))
    new_parent = np.empty(count, np.int64)
    new_offset = np.zeros(count + 1, np.int64)
    new_holders = np.empty(states, np.int64)
    new_value = np.empty(states, np.int64)
    c, q = 0, 0
    for b in range(n):
        if fixed[b] >= 0:
            continue
        number[b] = c
        chunks[c] = b
        new_parent[c] = number[parent[b]] if parent[b] >= 0 else -1
        for s in range(offset[b], offset[b + 1]):
            if keep[s]:
                new_holders[q] = holders[s]
                new_value[q] = value[s]
                q += 1
        c += 1
        new_offset[c] = q
    return chunks, new_parent, new_offset, new_holders, new_value, fixed
