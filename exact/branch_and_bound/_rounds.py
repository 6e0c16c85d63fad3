"""Numba kernels of the coverage dual with budgets kept: many rounds of its descent in one call, and what then is fixed.

``fix[m, b]`` is FREE, INSIDE or OUTSIDE as in :mod:`exact.branch_and_bound._pairs`, ``must[b]`` says that somebody has
to hold chunk b.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from prefixplace.joint.states import FAR, FREE, INSIDE, OUTSIDE

__all__ = ["average", "descend", "tighten"]

_NEVER = -(1 << 60)
_PATIENCE = 12


@njit(cache=True, nogil=True)
def _forests(end, fix, first, nodes, stop, starts, inside):  # type: ignore[no-untyped-def]
    """Free chunks of each class side by side into `nodes`, their subtree ends (within the class) into `stop`.

    Class q owns ``starts[q] : starts[q + 1]``; ``inside[q]`` counts the chunks its members keep.
    """
    n = end.size
    before = np.empty(n + 1, np.int64)
    for q in range(first.size):
        m, count, at = first[q], 0, starts[q]
        inside[q] = 0
        for i in range(n):
            before[i] = count
            if fix[m, i] == FREE:
                nodes[at + count] = i
                count += 1
            elif fix[m, i] == INSIDE:
                inside[q] += 1
        before[n] = count
        for c in range(count):
            stop[at + c] = before[end[nodes[at + c]]]
        starts[q + 1] = at + count


@njit(cache=True, nogil=True)
def descend(  # type: ignore[no-untyped-def]
    end, fix, must, local, coverage, ceiling, budgets, first, copies, floor, target, rounds, burst,
    point, direction, best_point, best, count, ambition, answers, weights,
):  # fmt: skip
    """At most `burst` rounds of :class:`~exact.branch_and_bound.descent.Descent` on L(μ); True when it has ended.

    State that the next burst goes on from: `point`, `direction` and `best_point` (n,), ``best[0]`` the least L so far,
    ``count[0]`` rounds and ``count[1]`` rounds without much progress, ``ambition[0]``. `answers` (M, n) receives the
    last answers and `weights` their running average, rows of `first` in both. L is ``_NEVER`` where the fixings leave
    nothing feasible, and FAR where int64 could not hold its sums. O(Σ free · budget) a round.
    """
    n, classes = end.size, first.size
    nodes, stop = np.empty(classes * n, np.int64), np.empty(classes * n, np.int64)
    starts, inside = np.zeros(classes + 1, np.int64), np.zeros(classes, np.int64)
    _forests(end, fix, first, nodes, stop, starts, inside)
    kept = np.zeros(n, np.int64)  # copies that are fixed inside
    open_chunk = np.zeros(n, np.bool_)
    fixed_worth, most = np.int64(0), 1
    offered = 0.0  # what one worker's local profits add up to at most
    left = np.empty(classes, np.int64)
    for q in range(classes):
        m = first[q]
        left[q] = min(budgets[m] - inside[q], starts[q + 1] - starts[q])
        if budgets[m] < inside[q]:
            best[0] = _NEVER
            return True
        most = max(most, (starts[q + 1] - starts[q] + 1) * (left[q] + 1))
        here = 0.0
        for i in range(n):
            if fix[m, i] != OUTSIDE:
                open_chunk[i] = True
                here += float(local[m, i])
            answers[m, i] = fix[m, i] == INSIDE
            if fix[m, i] != FREE:
                weights[m, i] = 1.0 if answers[m, i] else 0.0
            if fix[m, i] == INSIDE:
                kept[i] += copies[q]
                fixed_worth += copies[q] * local[m, i]
        offered = max(offered, here)
    for i in range(n):
        if must[i] and not open_chunk[i]:
            best[0] = _NEVER
            return True
    table = np.empty(most, np.int64)
    multipliers, held = np.empty(n, np.int64), np.empty(n, np.int64)
    gradient = np.empty(n, np.float64)
    for _ in range(burst):
        total, charged, kept_charge = fixed_worth, 0.0, 0.0
        for i in range(n):
            multipliers[i] = np.int64(np.rint(point[i]))
            charged += point[i]
            held[i] = kept[i]
            if open_chunk[i]:
                total += coverage[i] - multipliers[i]
                kept_charge += float(kept[i]) * point[i]
        if offered + charged >= float(FAR):
            return True
        about = float(total) + kept_charge
        if about < float(FAR):
            for i in range(n):
                total += kept[i] * multipliers[i]
        for q in range(classes):
            m, at, width = first[q], starts[q], left[q] + 1
            free = starts[q + 1] - at
            if free == 0 or width == 1:
                continue
            for j in range(width):
                table[free * width + j] = 0
            for c in range(free - 1, -1, -1):
                i = nodes[at + c]
                row, skip, take = c * width, stop[at + c] * width, (c + 1) * width
                gain = local[m, i] + multipliers[i]
                table[row] = 0
                for j in range(1, width):
                    table[row + j] = max(table[skip + j], gain + table[take + j - 1])
            about += float(copies[q]) * float(table[width - 1])
            if about < float(FAR):
                total += copies[q] * table[width - 1]
            c, j = 0, width - 1
            for k in range(free):
                answers[m, nodes[at + k]] = False
            while c < free and j > 0:
                if table[c * width + j] > table[stop[at + c] * width + j]:
                    held[nodes[at + c]] += copies[q]
                    answers[m, nodes[at + c]] = True
                    c, j = c + 1, j - 1
                else:
                    c = stop[at + c]
        if about >= float(FAR):
            total = np.int64(FAR)
        count[0] += 1
        count[1] += 1
        share = max(0.05, 1.0 / count[0])
        for q in range(classes):
            m = first[q]
            for c in range(starts[q], starts[q + 1]):
                i = nodes[c]
                weights[m, i] += share * ((1.0 if answers[m, i] else 0.0) - weights[m, i])
        if count[0] == 1 or total < best[0]:
            if count[0] == 1:
                if ambition[0] <= 0.0:
                    ambition[0] = 0.5 * (total - target)
            elif best[0] - total > 0.1 * ambition[0]:
                count[1] = 0
                if best[0] - total > 0.5 * ambition[0]:
                    ambition[0] *= 1.5
            best[0] = total
            best_point[:] = point
        if best[0] <= floor or count[0] >= rounds:
            return True
        if ambition[0] < 1.0 or ambition[0] < 1e-4 * (best[0] - target):
            return True
        if count[1] > _PATIENCE:
            ambition[0] *= 0.5
            count[1] = 0
            direction[:] = 0.0
            point[:] = best_point
            continue
        along, size = 0.0, 0.0
        for i in range(n):
            g = float(held[i] - 1) if open_chunk[i] else 0.0
            if (point[i] <= 0.0 and g > 0.0) or (point[i] >= ceiling[i] and g < 0.0):
                g = 0.0
            gradient[i] = g
            along += g * direction[i]
            size += direction[i] * direction[i]
        blend = max(0.0, -1.5 * along / size) if size > 0.0 else 0.0
        norm = 0.0
        for i in range(n):
            direction[i] = gradient[i] + blend * direction[i]
            norm += direction[i] * direction[i]
        if norm == 0.0:
            return True
        step = (total - max(float(target), best[0] - ambition[0])) / norm
        for i in range(n):
            point[i] = min(max(point[i] - step * direction[i], 0.0), ceiling[i])
    return False


@njit(cache=True, nogil=True)
def average(answers, first, copies, blend, weights, held):  # type: ignore[no-untyped-def]
    """Move `weights` towards `answers` by `blend`, rows of `first` in both; ``held[b]`` becomes how many workers answer
    with chunk b."""
    held[:] = 0.0
    for q in range(first.size):
        m, count = first[q], float(copies[q])
        for b in range(held.size):
            weights[m, b] += blend * (answers[m, b] - weights[m, b])
            held[b] += count * answers[m, b]


@njit(cache=True, nogil=True)
def tighten(parent, coverage, budgets, multipliers, entry, leave, room, fix, must):  # type: ignore[no-untyped-def]
    """Fix pairs, and demand holders, where anything else loses `room` or more; False when nothing is left.

    At one chunk all losses add up: `entry` of its holders, `leave` of the others, Δ − μ without a holder and μ for
    each holder beyond the first. The least over all sets of holders with a given member, or without it, needs no list
    of sets: workers are taken where that is cheaper, and at least one is.
    """
    workers, n = fix.shape
    for b in range(n):
        mu = min(multipliers[b], room)  # no more is needed, and sums over all workers stay in an int64
        open_workers, kept = 0, 0
        apart = np.int64(0)  # what all free workers lose that are left out
        total = -mu  # the same in the form that counts μ for every holder but one
        gained, cheaper = np.int64(0), 0  # by taking workers where that is cheaper
        least, second, at = np.int64(-_NEVER), np.int64(-_NEVER), -1
        for m in range(workers):
            if fix[m, b] == INSIDE:
                kept += 1
                total += mu
            elif fix[m, b] == FREE:
                open_workers += 1
                total += min(leave[m, b], room)
                apart += min(leave[m, b], room)
                more = min(entry[m, b], room) + mu - min(leave[m, b], room)
                if more < 0:
                    cheaper += 1
                    gained += more
                if more < least:
                    least, second, at = more, least, m
                elif more < second:
                    second = more
        if kept > 0:
            must[b] = True
        elif open_workers == 0:
            if must[b]:
                return False
            continue
        some = total + gained
        if kept == 0 and cheaper == 0:
            some = total + least
        none = np.int64(-_NEVER)
        if kept == 0 and not must[b]:
            none = apart + coverage[b] - multipliers[b]
        if min(some, none) >= room:
            return False
        if none >= room:
            must[b] = True
        for m in range(workers):
            if fix[m, b] != FREE:
                continue
            more = min(entry[m, b], room) + mu - min(leave[m, b], room)
            taken = total + gained + max(more, np.int64(0))
            left = total + gained - min(more, np.int64(0))
            if kept == 0 and cheaper - (1 if more < 0 else 0) == 0:
                other = second if at == m else least
                left = total + other if other < -_NEVER else np.int64(-_NEVER)
            left = min(left, none)
            if taken >= room:
                fix[m, b] = OUTSIDE
            elif left >= room:
                fix[m, b] = INSIDE
    return _agree(parent, budgets, fix, must)


@njit(cache=True, nogil=True)
def _agree(parent, budgets, fix, must):  # type: ignore[no-untyped-def]
    """What is inside or demanded takes its ancestors along, what is outside its subtree; False on a contradiction, or
    when a budget is overrun."""
    workers, n = fix.shape
    for m in range(workers):
        for b in range(n):
            p = parent[b]
            if p >= 0 and fix[m, p] == OUTSIDE:
                if fix[m, b] == INSIDE:
                    return False
                fix[m, b] = OUTSIDE
        for b in range(n - 1, -1, -1):
            p = parent[b]
            if p >= 0 and fix[m, b] == INSIDE:
                if fix[m, p] == OUTSIDE:
                    return False
                fix[m, p] = INSIDE
        if np.count_nonzero(fix[m] == INSIDE) > budgets[m]:
            return False
    for b in range(n - 1, -1, -1):
        if must[b] and parent[b] >= 0:
            must[parent[b]] = True
    return True
