"""Numba kernels that put profits on the integer grid of the oracle.

All of its arithmetic is int64, so that bounds and proofs need no tolerance. Profits become ``q = p·2^shift``
(rounded, for floats) with ``shift`` as large as the sums allow; integers are first divided by their greatest
common divisor, so that prices have many binary places below one unit of value.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = [
    "float_grid",
    "float_losses",
    "integer_grid",
    "integer_losses",
    "needs_taming",
    "tamed",
    "total_profit",
]

ROOM = 59  # binary places: Σ|q| + (k + 1)·max|q| < 2^59 keeps every sum of the oracle inside int64


@njit(cache=True, nogil=True)
def integer_grid(profit, k, grid):  # type: ignore[no-untyped-def]
    """Fill `grid` with ``profit // divisor · 2^shift``; returns ``(divisor, shift, size)``, size ≈ Σ|profit|. O(n).

    ``shift`` is -1, and `grid` is not filled, when even the divided profits are too large for bounds; the dense
    program still answers them exactly, as long as Σ|profit| < 2⁶³.
    """
    divisor = np.int64(0)
    size, largest = 0.0, 0.0
    for i in range(profit.size):
        p = profit[i]
        size += abs(np.float64(p))
        largest = max(largest, abs(np.float64(p)))
        if divisor != 1 and size < 2.0**63:  # the absolute value of −2^63 does not exist
            a, b = abs(p), divisor
            while a != 0:
                a, b = b % a, a
            divisor = b
    if divisor == 0:
        grid[:] = 0
        return np.int64(1), 0, size
    need = (size + (k + 1.0) * largest) / np.float64(divisor)
    shift = ROOM - 1 - math.frexp(need)[1]
    if shift < 0:
        return divisor, -1, size
    for i in range(profit.size):
        grid[i] = (profit[i] // divisor) << shift
    return divisor, shift, size


@njit(cache=True, nogil=True)
def needs_taming(profit, depth, k):  # type: ignore[no-untyped-def]
    """``(needed, gain)``: whether :func:`tamed` would change float profits, and its argument `gain`. O(n).

    `gain` is the sum of all positive profits within reach, that is of nodes with fewer than k ancestors.
    """
    gain, lowest, beyond = 0.0, 0.0, 0.0
    for i in range(profit.size):
        p = profit[i]
        if depth[i] >= k:
            beyond = max(beyond, abs(p))
        elif p > 0.0:
            gain += p
        else:
            lowest = min(lowest, p)
    return math.isfinite(gain) and (lowest < -2.0 * gain or beyond > 2.0 * gain), gain


@njit(cache=True, nogil=True)
def tamed(profit, depth, k, gain):  # type: ignore[no-untyped-def]
    """`profit` without the magnitudes that no best set can feel, so that the grid is fine enough for the rest. O(n).

    A node with k ancestors or more is in no set within the budget, so its profit may as well be 0. A set with a
    profit below −2·`gain` is worth less than the empty set, and still is when that profit is raised to −2·`gain`.
    """
    result = np.empty(profit.size)
    for i in range(profit.size):
        result[i] = 0.0 if depth[i] >= k else max(profit[i], -2.0 * gain)
    return result


@njit(cache=True, nogil=True)
def float_grid(profit, k, grid):  # type: ignore[no-untyped-def]
    """Fill `grid` with ``rint(profit·2^shift)``; returns ``(shift, error, unit)``. O(n).

    ``error`` is the largest distance of a profit from its grid point, in grid steps: 0 if all floats are exact on
    the grid, -1 (and `grid` is not filled) if one or their absolute sum is not finite. `unit` is a power of two
    that divides every grid value.
    """
    size, largest = 0.0, 0.0
    for i in range(profit.size):
        a = abs(profit[i])
        size += a
        largest = max(largest, a)
    need = size + (k + 1.0) * largest
    if not math.isfinite(need):
        return 0, -1.0, np.int64(1)
    shift = ROOM - 1 - math.frexp(need)[1] if need > 0.0 else 0
    half = shift // 2  # in two factors: 2^shift alone overflows for the tiniest profits
    first, second = math.ldexp(1.0, half), math.ldexp(1.0, shift - half)
    error = 0.0
    bits = np.int64(0)
    for i in range(profit.size):
        exact = profit[i] * first * second
        near = np.rint(exact)
        error = max(error, abs(exact - near))
        grid[i] = np.int64(near)
        bits |= grid[i]
    return shift, error, bits & -bits if bits != 0 else np.int64(1)


@njit(cache=True, nogil=True)
def total_profit(profit, mask):  # type: ignore[no-untyped-def]
    """Σ of `profit` over `mask`: exact for int64, compensated (Neumaier 1974) for float64. O(n)."""
    total = 0 * profit[:1].sum() + 0  # a zero of the profits' type, and not the negative one
    lost = 0 * total
    for i in range(mask.size):
        if mask[i]:
            p = profit[i]
            new = total + p
            lost += (total - new) + p if abs(total) >= abs(p) else (p - new) + total
            total = new
    return total + lost


@njit(cache=True, nogil=True)
def integer_losses(bound, losses, divisor, shift):  # type: ignore[no-untyped-def]
    """What grid losses take off the bound in whole values, int64 of shape (n,). O(n)."""
    result = np.empty(losses.size, np.int64)
    whole = bound >> shift
    for i in range(losses.size):
        result[i] = (whole - ((bound - losses[i]) >> shift)) * divisor
    return result


@njit(cache=True, nogil=True)
def float_losses(losses, shift):  # type: ignore[no-untyped-def]
    """Grid losses as float64 of shape (n,), rounded down. O(n)."""
    result = np.empty(losses.size)
    half = shift // 2
    first, second = math.ldexp(1.0, -half), math.ldexp(1.0, half - shift)
    for i in range(losses.size):
        # the conversion and two exact factors: one rounding, undone by one step of 2^-52
        result[i] = np.float64(losses[i]) * (1.0 - 2.0**-52) * first * second
    return result
