"""Numba kernels of the coverage dual over (worker, chunk) pairs, all in one module, because they call each other.

``fix[m, b]`` is FREE, INSIDE (m keeps b) or OUTSIDE. What is inside is parent-closed and what is outside takes its
subtree along, so the free chunks of a worker form a forest of their own once the others are removed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from prefixplace.joint.states import FAR, FREE, INSIDE, OUTSIDE

__all__ = [
    "coverage_value",
    "pair_losses",
    "refine",
    "respond",
]

_NEVER = -(1 << 60)


@njit(cache=True, nogil=True)
def _free_forest(end, fix, nodes, stop):  # type: ignore[no-untyped-def]
    """Free chunks of one worker into `nodes`, their subtree ends among themselves into `stop`; their number and
    the number of chunks inside. `stop` needs n + 1 entries."""
    n = end.size
    count, inside = 0, 0
    for i in range(n):
        stop[i] = count  # so far: number of free chunks before i
        if fix[i] == FREE:
            nodes[count] = i
            count += 1
        elif fix[i] == INSIDE:
            inside += 1
    stop[n] = count
    for c in range(count):
        stop[c] = stop[end[nodes[c]]]  # reads ahead of what it overwrites: end(i) > i ≥ c
    return count, inside


@njit(cache=True, nogil=True)
def _closure(stop, count, profit, price, gain):  # type: ignore[no-untyped-def]
    """gain[c] = profit − price + best of the children (gather form: suffix sums); value and size of the closure."""
    # tail[c]: best total of positions c … within the siblings' level, kept in gain[count + 1 + c]
    base = count + 1
    gain[base + count] = 0
    for c in range(count - 1, -1, -1):
        g = profit[c] - price + gain[base + c + 1] - gain[base + stop[c]]
        gain[c] = g
        gain[base + c] = gain[base + stop[c]] + max(g, 0)
    size = 0
    c = 0
    while c < count:
        if gain[c] > 0:
            size += 1
            c += 1
        else:
            c = stop[c]
    return gain[base], size


@njit(cache=True, nogil=True)
def _add_closure(stop, count, gain, nodes, weight, x):  # type: ignore[no-untyped-def]
    c = 0
    while c < count:
        if gain[c] > 0:
            x[nodes[c]] += weight
            c += 1
        else:
            c = stop[c]


@njit(cache=True, nogil=True)
def _best_price(stop, count, profit, budget, start, gain):  # type: ignore[no-untyped-def]
    """Least of λ·budget + closure(profit − λ) over integers λ ≥ 0.

    Returns ``(value, λ, low, high, weight)``: the minimum lies between the prices `low` and `high`, and `weight` of
    the closure at `high` with the rest of that at `low` makes the budget.
    """
    top = np.int64(0)
    for c in range(count):
        top = max(top, profit[c])
    if budget <= 0 or count == 0:
        return np.int64(0), top, top, top, 1.0
    value, size = _closure(stop, count, profit, np.int64(0), gain)
    if size <= budget:
        return value, np.int64(0), np.int64(0), np.int64(0), 1.0
    low, low_value, low_size = np.int64(0), value, size
    # above value/budget the price of the budget alone exceeds what the price 0 gives; up to there products of a price
    # with the budget, or with the size of a closure, stay below value + budget
    top = min(top, value // budget + 1)
    high, (high_value, high_size) = top, _closure(stop, count, profit, top, gain)
    best, best_at = value, np.int64(0)
    if high_value + top * budget < best:
        best, best_at = high_value + top * budget, top
    trial = min(max(start, np.int64(1)), top - 1)
    step = max(start >> 8, np.int64(1))
    rounds = 0
    while high - low > 1:
        trial = min(max(trial, low + 1), high - 1)
        value, size = _closure(stop, count, profit, trial, gain)
        rounds += 1
        if value + trial * budget < best:
            best, best_at = value + trial * budget, trial
        if size == budget:
            return best, best_at, trial, trial, 1.0
        if size > budget:
            low, low_value, low_size = trial, value, size
        else:
            high, high_value, high_size = trial, value, size
        if rounds <= 3 and low == 0:
            trial = high - step
            step <<= 3
        elif rounds <= 3 and high == top:
            trial = low + step
            step <<= 3
        else:
            # where the supporting lines of both sides meet; every third time the middle, against long tails
            meet = (low_value + low_size * low - high_value - high_size * high) // (low_size - high_size)
            if rounds % 3 == 2:
                meet = (low + high) // 2
            elif (
                meet <= low or meet >= high or high_value + high_size * (high - meet) + meet * budget >= best
            ):
                break  # no price between the two does better than the best one
            trial = meet
    weight = (low_size - budget) / (low_size - high_size)
    return best, best_at, low, high, weight


@njit(cache=True, nogil=True)
def _table(stop, count, profit, budget, table):  # type: ignore[no-untyped-def]
    """D[c, j], flat with rows of budget + 1: the best closed set of at most j of the free chunks c …"""
    width = budget + 1
    for j in range(width):
        table[count * width + j] = 0
    for c in range(count - 1, -1, -1):
        row, skip, take, gain = c * width, stop[c] * width, (c + 1) * width, profit[c]
        table[row] = 0
        for j in range(1, width):
            table[row + j] = max(table[skip + j], gain + table[take + j - 1])
    return table[budget]


@njit(cache=True, nogil=True)
def coverage_value(end, fix, local, multipliers, budgets, first, copies, exact, prices, x):  # type: ignore[no-untyped-def]
    """Σ over classes of copies · (best closed set of a member with profits local + multipliers).

    `first` lists one member of each class and `copies` its size. With `exact` the budget is kept by the dynamic
    program, else it is priced; `prices` (one per class) then says where to begin and where it ended. `x` (M, n)
    receives the answers: 0/1, or the convex combination of two closures that makes the budget.

    Where int64 could not hold the sums the value is FAR, and the answers are everything that is allowed, so that a
    descent turns back.
    """
    n = end.size
    if _overflows(fix, local, multipliers, first):
        for q in range(first.size):
            for i in range(n):
                x[first[q], i] = 0.0 if fix[first[q], i] == OUTSIDE else 1.0
        return np.int64(FAR)
    nodes = np.empty(n, np.int64)
    stop = np.empty(n + 1, np.int64)
    profit = np.empty(n, np.int64)
    gain = np.empty(2 * n + 2, np.int64)
    total, about = np.int64(0), 0.0
    for q in range(first.size):
        m = first[q]
        x[m] = 0.0
        count, inside = _free_forest(end, fix[m], nodes, stop)
        worth = np.int64(0)
        for i in range(n):
            if fix[m, i] == INSIDE:
                worth += local[m, i] + multipliers[i]
                x[m, i] = 1.0
        budget = budgets[m] - inside
        if budget < 0:
            return np.int64(_NEVER)
        for c in range(count):
            profit[c] = local[m, nodes[c]] + multipliers[nodes[c]]
        budget = min(budget, count)
        if exact:
            table = np.empty((count + 1) * (budget + 1), np.int64)
            worth += _table(stop, count, profit, budget, table)
            c, j, width = 0, budget, budget + 1
            while c < count and j > 0:
                if table[c * width + j] > table[stop[c] * width + j]:
                    x[m, nodes[c]] = 1.0
                    c, j = c + 1, j - 1
                else:
                    c = stop[c]
        else:
            value, prices[q], low, high, weight = _best_price(stop, count, profit, budget, prices[q], gain)
            worth += value
            if weight < 1.0:
                _closure(stop, count, profit, low, gain)
                _add_closure(stop, count, gain, nodes, 1.0 - weight, x[m])
            _closure(stop, count, profit, high, gain)
            _add_closure(stop, count, gain, nodes, weight, x[m])
        about += float(copies[q]) * float(worth)
        if about < float(FAR):
            total += copies[q] * worth
    return total if about < float(FAR) else np.int64(FAR)


@njit(cache=True, nogil=True)
def _overflows(fix, local, multipliers, first):  # type: ignore[no-untyped-def]
    """Whether one worker's profits, local + multipliers, add up to more than sums in int64 have room for."""
    for q in range(first.size):
        total = 0.0
        for i in range(multipliers.size):
            if fix[first[q], i] != OUTSIDE:
                total += float(local[first[q], i]) + float(multipliers[i])
        if total >= float(FAR):
            return True
    return False


@njit(cache=True, nogil=True)
def pair_losses(end, fix, local, multipliers, budgets, first, exact, prices, entry, leave):  # type: ignore[no-untyped-def]
    """How much the bound falls when a pair is forced in (`entry`) or out (`leave`), both (M, n), rows of `first`.

    What is fixed costs nothing the way it is and more than anything the other way. Where int64 could not hold the
    sums nothing is known to be lost.
    """
    n = end.size
    never = -np.int64(_NEVER)
    unknown = _overflows(fix, local, multipliers, first)
    nodes = np.empty(n, np.int64)
    stop = np.empty(n + 1, np.int64)
    profit = np.empty(n, np.int64)
    gain = np.empty(2 * n + 2, np.int64)
    for q in range(first.size):
        m = first[q]
        count, inside = _free_forest(end, fix[m], nodes, stop)
        for i in range(n):
            entry[m, i] = never if fix[m, i] == OUTSIDE else 0
            leave[m, i] = never if fix[m, i] == INSIDE else 0
        if unknown:
            continue
        for c in range(count):
            profit[c] = local[m, nodes[c]] + multipliers[nodes[c]]
        budget = min(budgets[m] - inside, count)
        if exact:
            _table_losses(stop, count, profit, budget, nodes, entry[m], leave[m])
            continue
        _closure(stop, count, profit, prices[q], gain)
        # along the path from the root: taking a chunk of negative gain costs it, leaving one of positive gain too
        for c in range(count):
            entry[m, nodes[c]] = -1
        for c in range(count):
            lost = max(-gain[c], np.int64(0))
            spared = max(gain[c], np.int64(0))
            i = nodes[c]
            if entry[m, i] < 0:  # a root: its losses begin here
                entry[m, i], leave[m, i] = lost, spared
            d = c + 1
            while d < stop[c]:  # children
                child = nodes[d]
                entry[m, child] = min(entry[m, i] + min(max(-gain[d], np.int64(0)), never), never)
                leave[m, child] = min(leave[m, i], max(gain[d], np.int64(0)))
                d = stop[d]


@njit(cache=True, nogil=True)
def _table_losses(stop, count, profit, budget, nodes, entry, leave):  # type: ignore[no-untyped-def]
    """The losses with the budget kept: longest paths through each arc of the dynamic program."""
    width = budget + 1
    table = np.empty((count + 1) * width, np.int64)
    best = _table(stop, count, profit, budget, table)
    ahead = np.full((count + 1) * width, np.int64(_NEVER))  # best way from the start to (c, j)
    for j in range(width):
        ahead[j] = 0 if j == budget else _NEVER
    for c in range(count):
        row, skip, take, gain = c * width, stop[c] * width, (c + 1) * width, profit[c]
        with_c, without_c = np.int64(_NEVER), np.int64(_NEVER)
        for j in range(width):
            reach = ahead[row + j]
            if reach <= _NEVER:
                continue
            without_c = max(without_c, reach + table[skip + j])
            if reach > ahead[skip + j]:
                ahead[skip + j] = reach
            if j > 0:
                with_c = max(with_c, reach + gain + table[take + j - 1])
                if reach + gain > ahead[take + j - 1]:
                    ahead[take + j - 1] = reach + gain
        entry[nodes[c]] = best - with_c if with_c > _NEVER else -np.int64(_NEVER)
        leave[nodes[c]] = best - without_c if without_c > _NEVER else -np.int64(_NEVER)
    # a chunk is also left out when an ancestor is: the cheapest way is at the chunk or above it
    for c in range(count):
        d = c + 1
        while d < stop[c]:
            leave[nodes[d]] = min(leave[nodes[d]], leave[nodes[c]])
            d = stop[d]


@njit(cache=True, nogil=True)
def respond(end, profit, budget, table, chosen):  # type: ignore[no-untyped-def]
    """Best closed set of at most `budget` chunks, no fixings, into `chosen`; its value. `table` is scratch."""
    n = end.size
    budget = min(budget, n)
    value = _table(end, n, profit, budget, table)
    chosen[:] = False
    c, j, width = 0, budget, budget + 1
    while c < n and j > 0:
        if table[c * width + j] > table[end[c] * width + j]:
            chosen[c] = True
            c, j = c + 1, j - 1
        else:
            c = end[c]
    return value


@njit(cache=True, nogil=True)
def refine(end, local, coverage, budgets, mask, sweeps):  # type: ignore[no-untyped-def]
    """Best responses in turn until none improves, in place; at most `sweeps` rounds. The value reached."""
    workers, n = mask.shape
    holders = np.zeros(n, np.int64)
    most = np.int64(0)
    for m in range(workers):
        most = max(most, min(budgets[m], n))
        for i in range(n):
            holders[i] += mask[m, i]
    table = np.empty((n + 1) * (most + 1), np.int64)
    profit = np.empty(n, np.int64)
    chosen = np.empty(n, np.bool_)
    for _ in range(sweeps):
        improved = False
        for m in range(workers):
            now = np.int64(0)
            for i in range(n):
                profit[i] = local[m, i] + (coverage[i] if holders[i] == mask[m, i] else 0)
                if mask[m, i]:
                    now += profit[i]
            if respond(end, profit, budgets[m], table, chosen) > now:
                improved = True
                for i in range(n):
                    holders[i] += np.int64(chosen[i]) - np.int64(mask[m, i])
                    mask[m, i] = chosen[i]
        if not improved:
            break
    value = np.int64(0)
    for i in range(n):
        if holders[i] > 0:
            value += coverage[i]
        for m in range(workers):
            if mask[m, i]:
                value += local[m, i]
    return value
