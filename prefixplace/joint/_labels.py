"""Numba kernels of the enumeration by labels, in one module because they call each other."""

from __future__ import annotations

import numpy as np
from numba import njit

from prefixplace.joint.states import NEVER

__all__ = ["arrange", "budget_tables", "expand", "extend", "label_bounds", "sort_twins"]


@njit(cache=True, nogil=True)
def arrange(parent, size, key):  # type: ignore[no-untyped-def]
    """Preorder in which roots come by descending `key` and children by ascending `size` (ties by number).

    Returns ``order``. With the largest child last, at most log₂ n ancestors wait for further children at any time.
    """
    n = parent.size
    rank = np.empty(n, np.float64)
    for b in range(n):
        rank[b] = -key[b] if parent[b] < 0 else float(size[b])
    by_rank = np.argsort(rank, kind="mergesort")
    first = np.full(n + 1, -1, np.int64)
    following = np.full(n, -1, np.int64)
    for i in range(n - 1, -1, -1):
        b = by_rank[i]
        p = parent[b] if parent[b] >= 0 else n
        following[b] = first[p]
        first[p] = b
    order = np.empty(n, np.int64)
    stack = np.empty(n + 1, np.int64)
    top, count = 0, 0
    if first[n] >= 0:
        stack[0] = first[n]
        top = 1
    while top > 0:
        top -= 1
        b = stack[top]
        order[count] = b
        count += 1
        if following[b] >= 0:
            stack[top] = following[b]
            top += 1
        if first[b] >= 0:
            stack[top] = first[b]
            top += 1
    return order


@njit(cache=True, nogil=True)
def budget_tables(parent, end, multipliers, may_take, may_skip, slack):  # type: ignore[no-untyped-def]
    """D[m, b, j]: the most that worker m can earn on the chunks b … with j chunks to spend, shape (M, n + 1, K + 1).

    Rows are for the case that m holds every ancestor of b that still has children to come.
    """
    workers, n = multipliers.shape
    most = 0
    for m in range(workers):
        most = max(most, slack[m])
    table = np.zeros((workers, n + 1, most + 1), np.int64)
    for m in range(workers):
        for b in range(n - 1, -1, -1):
            for j in range(most + 1):
                best = table[m, end[b], j] if may_skip[m, b] else np.int64(NEVER)
                if j > 0 and may_take[m, b]:
                    best = max(best, multipliers[m, b] + table[m, b + 1, j - 1])
                table[m, b, j] = max(best, np.int64(NEVER))
    return table


@njit(cache=True, nogil=True)
def label_bounds(  # type: ignore[no-untyped-def]
    rows, worth, floor, depth, open_chunks, offset, holders, prices, slack, roots, remaining, b, parent, end, base,
    inside, reach, tables, joint_roots, joint_remaining, joint_inside, joint_reach,
):  # fmt: skip
    """Upper bounds of every label extended by every state of chunk b, shape (labels, states).

    A label is a row ``used[0..M−1], state of each open chunk`` with what it is worth. The bound is the least over
    the price vectors t of ``worth + λ_t·(slack − used) + what open chunks and roots can still add``, which is
    `remaining` (T, states) and `roots` (T,), and over the joint bound, where each worker's `tables` say exactly
    what its unspent budget can earn; `joint_inside` is without the payments of the state itself. NEVER where the
    state does not fit the parent's or a budget. A bound of at most `floor` may be any such number.
    """
    trials, workers = prices.shape
    joint = tables.shape[1] > 0
    lo, hi = offset[b], offset[b + 1]
    result = np.full((rows.shape[0], hi - lo), np.int64(NEVER))
    start = np.empty(trials, np.int64)
    resume = np.empty(workers, np.int64)
    for i in range(rows.shape[0]):
        above, row, ready = np.int64(-1), base[b], False
        if parent[b] >= 0:
            s = _state_of(rows[i], workers + depth - 1, offset, holders, parent[b])
            above = holders[s]
            row += s - offset[parent[b]]
        full = np.int64(0)
        for m in range(workers):
            if rows[i, m] >= slack[m]:
                full |= np.int64(1) << m
        base_joint = np.int64(0)
        if joint:
            base_joint = worth[i] + joint_roots - joint_reach[row]
            for m in range(workers):
                resume[m] = end[b]
            for d in range(depth - 1, -1, -1):
                q = _state_of(rows[i], workers + d, offset, holders, open_chunks[d])
                base_joint += joint_remaining[q]
                for m in range(
                    workers
                ):  # a worker goes on after the uppermost open chunk that it does not hold
                    if not (holders[q] >> m) & 1:
                        resume[m] = end[open_chunks[d]]
        for s in range(lo, hi):
            if holders[s] & ~above != 0 or holders[s] & full != 0:
                continue
            best = np.int64(-NEVER)
            if joint:
                best = base_joint + joint_inside[s]
                for m in range(workers):
                    left = slack[m] - rows[i, m]
                    if (holders[s] >> m) & 1:
                        best += tables[m, b + 1, left - 1]
                    else:
                        best += tables[m, resume[m], left]
                    if best <= floor - (np.int64(1) << 59):
                        break
                if best <= floor:
                    continue
            if not ready:  # the price vectors share everything but the last step among the states
                ready = True
                for t in range(trials):
                    start[t] = worth[i] + roots[t] - reach[t, row]
                    for m in range(workers):
                        start[t] += prices[t, m] * (slack[m] - rows[i, m])
                for d in range(depth):
                    q = _state_of(rows[i], workers + d, offset, holders, open_chunks[d])
                    for t in range(trials):
                        start[t] += remaining[t, q]
            for t in range(trials):
                best = min(best, start[t] + inside[t, s])
                if best <= floor:
                    break
            result[i, s - lo] = best
    return result


@njit(cache=True, nogil=True)
def _state_of(row, at, offset, holders, chunk):  # type: ignore[no-untyped-def]
    """Number of the state in which an open chunk is, by its holders in a label's row."""
    s = offset[chunk]
    while holders[s] != row[at]:
        s += 1
    return s


@njit(cache=True, nogil=True)
def _precedes(row, workers, depth, x, y):  # type: ignore[no-untyped-def]
    """Whether worker x comes before its twin y in a sorted row: by use, then by its part in the open states."""
    if row[x] != row[y]:
        return row[x] < row[y]
    for d in range(depth):
        a, b = (row[workers + d] >> x) & 1, (row[workers + d] >> y) & 1
        if a != b:
            return a < b
    return False


@njit(cache=True, nogil=True)
def sort_twins(row, workers, depth, twin, place):  # type: ignore[no-untyped-def]
    """Sort interchangeable workers within a row; ``place[i]`` becomes the worker that now stands at i.

    ``twin[i]`` is true when workers i − 1 and i are interchangeable (twins are neighbours).
    """
    for m in range(workers):
        place[m] = m
    for i in range(1, workers):
        j = i
        while j > 0 and twin[j] and _precedes(row, workers, depth, j, j - 1):
            row[j], row[j - 1] = row[j - 1], row[j]
            place[j], place[j - 1] = place[j - 1], place[j]
            for d in range(depth):
                mask = row[workers + d]
                x, y = (mask >> j) & 1, (mask >> (j - 1)) & 1
                if x != y:
                    row[workers + d] = mask ^ (1 << j) ^ (1 << (j - 1))
            j -= 1


@njit(cache=True, nogil=True)
def extend(row, workers, depth, holders, drop, push):  # type: ignore[no-untyped-def]
    """Add the holders of one more chunk to a row: use goes up, the parent is dropped, the chunk pushed."""
    for m in range(workers):
        if (holders >> m) & 1:
            row[m] += 1
    if drop:
        depth -= 1
        row[workers + depth] = 0
    if push:
        row[workers + depth] = holders
        depth += 1
    return depth


@njit(cache=True, nogil=True)
def expand(  # type: ignore[no-untyped-def]
    rows, worth, bounds, floor, capacity, depth, offset, holders, value, b, drop, push, twin
):
    """Labels extended by the states of chunk b whose bound exceeds `floor`; equal rows keep the best.

    Returns ``(rows, worth, bounds, origin, state)`` of the new labels: the label each came from, and its state.
    `capacity` must be at least their number.
    """
    labels, width = rows.shape
    workers = twin.size
    slots = 16
    while slots < 2 * capacity:
        slots *= 2
    table = np.full(slots, -1, np.int64)
    new_rows = np.empty((capacity, width), np.int64)
    new_worth = np.empty(capacity, np.int64)
    new_bounds = np.empty(capacity, np.int64)
    origin = np.empty(capacity, np.int64)
    state = np.empty(capacity, np.int64)
    row = np.empty(width, np.int64)
    place = np.empty(workers, np.int64)
    twins = False
    for m in range(workers):
        twins = twins or twin[m]
    lo = offset[b]
    count = 0
    for i in range(labels):
        for s in range(lo, offset[b + 1]):
            if bounds[i, s - lo] <= floor:
                continue
            row[:] = rows[i]
            now = extend(row, workers, depth, holders[s], drop, push)
            if twins:
                sort_twins(row, workers, now, twin, place)
            code = np.uint64(1469598103934665603)
            for w in range(width):
                code = (code ^ np.uint64(row[w])) * np.uint64(1099511628211)
                code ^= code >> np.uint64(29)
            slot = np.int64(code & np.uint64(slots - 1))
            total = worth[i] + value[s]
            while True:
                k = table[slot]
                if k < 0:
                    table[slot] = count
                    new_rows[count] = row
                    new_worth[count], new_bounds[count] = total, bounds[i, s - lo]
                    origin[count], state[count] = i, s
                    count += 1
                    break
                same = True
                for w in range(width):
                    if new_rows[k, w] != row[w]:
                        same = False
                        break
                if same:
                    if total > new_worth[k]:
                        new_worth[k], new_bounds[k] = total, bounds[i, s - lo]
                        origin[k], state[k] = i, s
                    break
                slot = (slot + 1) & (slots - 1)
    return (
        new_rows[:count],
        new_worth[:count],
        new_bounds[:count],
        origin[:count],
        state[:count],
    )
