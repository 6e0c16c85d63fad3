"""Numba kernels of the bounds: closures at a price, the best price, holder-set tables."""

from __future__ import annotations

from numba import njit

__all__ = ["best_price", "closure_at", "closure_mask"]


@njit(cache=True, nogil=True)
def closure_at(parent, profit, price, gain, size):  # type: ignore[no-untyped-def]
    """Value and size of the best closed set of any size for ``profit − price``, the least one of that value.

    Leaves in `gain` the best total of each subtree that takes its root, and in `size` how many nodes that is. O(n).
    """
    n = profit.size
    for i in range(n):
        gain[i] = profit[i] - price
        size[i] = 1
    value, count = 0.0, 0
    for i in range(n - 1, -1, -1):
        if gain[i] > 0.0:
            above = parent[i]
            if above < 0:
                value += gain[i]
                count += size[i]
            else:
                gain[above] += gain[i]
                size[above] += size[i]
    return value, count


@njit(cache=True, nogil=True)
def closure_mask(parent, gain, weight, into):  # type: ignore[no-untyped-def]
    """Add `weight` to `into` on the closed set that :func:`closure_at` found; uses up `gain`. O(n)."""
    for i in range(gain.size):
        above = parent[i]
        if gain[i] > 0.0 and (above < 0 or gain[above] > 0.0):
            into[i] += weight
        else:
            gain[i] = 0.0  # nothing below may be taken


@njit(cache=True, nogil=True)
def best_price(parent, profit, budget, start, into, gain, size):  # type: ignore[no-untyped-def]
    """Minimise φ(λ) = λ·budget + max closed set for ``profit − λ`` over λ ≥ 0.

    φ is convex and piecewise linear with slope budget − |set|. The search keeps one point on each side of the
    minimum and evaluates in turn where the two supporting lines meet, which ends it when φ meets them there, and
    where interpolation of the set sizes expects the budget.

    Returns ``(φ, λ, evaluations)`` and leaves in `into` (shape (n,)) the convex combination of the two closed sets
    that spans the minimum: its sum is the budget (less when λ = 0).
    """
    n = profit.size
    for i in range(n):
        into[i] = 0.0
    top = 0.0  # above every average profit of a closed set
    for i in range(n):
        top = max(top, profit[i])
    if budget == 0 or top <= 0.0:
        return 0.0, top, 0
    lo, hi, lo_value, hi_value, lo_count, hi_count = -1.0, top, 0.0, 0.0, 0, 0
    evaluations = 0
    best, best_at = top * budget, top
    price = min(max(start, 0.0), top)
    step = max(1e-3 * price, 1e-6 * top)
    while True:
        value, count = closure_at(parent, profit, price, gain, size)
        evaluations += 1
        if value + price * budget < best:
            best, best_at = value + price * budget, price
        if count > budget:
            lo, lo_value, lo_count = price, value, count
        else:
            hi, hi_value, hi_count = price, value, count
        if hi <= 0.0 or count == budget or evaluations >= 80:
            break
        if lo < 0.0:  # nothing below yet
            price = max(0.0, hi - step)
            step *= 8.0
            continue
        if hi == top and hi_count == 0 and lo + step < 0.5 * top:
            price = lo + step
            step *= 8.0
            continue
        meet = (lo_value + lo_count * lo - hi_value - hi_count * hi) / (lo_count - hi_count)
        meet = min(max(meet, lo), hi)
        floor = hi_value + hi_count * (hi - meet) + meet * budget
        if best - floor <= 1e-13 * best or meet <= lo or meet >= hi:
            break
        price = meet
        if evaluations % 2 == 1:
            share = (lo_count - budget) / (lo_count - hi_count)
            price = lo + (hi - lo) * min(max(share, 0.05), 0.95)
    # the combination of the two sides; where one side is missing, the other one alone
    weight = 1.0
    if lo >= 0.0 and hi_count < budget:
        weight = (lo_count - budget) / (lo_count - hi_count)
        closure_at(parent, profit, lo, gain, size)
        closure_mask(parent, gain, 1.0 - weight, into)
    closure_at(parent, profit, hi, gain, size)
    closure_mask(parent, gain, weight, into)
    return best, best_at, evaluations
