"""The integer grid on which the prover computes: no tolerance inside, one known error at the door."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import frexp

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIMIT", "Grid", "grid_for"]

LIMIT = 1 << 58
"""Sums of grid values stay below this, so that sums of a few of them stay inside an int64."""

_MOST_DECIMALS = 9
_ROUNDING, _LARGEST = 2.0**-48, 2.0**44
_ROOM = 1 << 20  # steps that an exact unit is cut into, so that integer multipliers fall between the data


@dataclass(frozen=True)
class Grid:
    """How float64 milliseconds become integers.

    Attributes
    ----------
    scale : Fraction
        Grid units per millisecond.
    step : int
        Every value of a placement is a multiple of it, so that a gap below `step` proves optimality.
    error : float
        Largest distance in ms of one given number from its grid point. It is the float rounding of a decimal where
        the data are decimals, and at most a unit otherwise.
    """

    scale: Fraction
    step: int
    error: float

    def to_units(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The nearest multiples of :attr:`step`, but nothing positive becomes 0; int64 of the same shape."""
        steps = self.scale / self.step
        high, low = steps.numerator, steps.denominator
        if (high & (high - 1)) == (low & (low - 1)) == 0:  # a power of two: exact
            scaled = np.ldexp(np.asarray(values, np.float64), high.bit_length() - low.bit_length())
        else:
            scaled = np.asarray(values, np.longdouble) * np.longdouble(high) / np.longdouble(low)
        whole = np.maximum(np.rint(scaled), values > 0)
        return whole.astype(np.int64) * self.step

    def to_ms(self, units: int) -> float:
        """Grid units as milliseconds, correctly rounded."""
        return float(Fraction(int(units)) / self.scale)


def grid_for(arrays: list[NDArray[np.float64]], total: float) -> Grid:
    """The grid for the non-negative numbers of `arrays`, of which no sum that matters exceeds `total`.

    Numbers that are decimals with few digits (integers, thousandths and their products) get the grid of their
    greatest common divisor, on which they are exact up to the float64 that carries them. Others get the finest
    power of two that keeps `total` below :data:`LIMIT`.
    """
    numbers = np.unique(np.concatenate([np.ravel(a) for a in arrays])) if arrays else np.zeros(0)
    if total <= 0 or not numbers.any():
        return Grid(Fraction(1), 1, 0.0)
    for digits in range(_MOST_DECIMALS + 1):
        power = 10**digits
        scaled = numbers.astype(np.longdouble) * power
        if total * power >= LIMIT:
            break
        whole = np.rint(scaled)
        # a product of decimals carries a few roundings; beyond 2^44 these would let any number pass
        if scaled[-1] < _LARGEST and np.all(np.abs(scaled - whole) <= _ROUNDING * scaled):
            divisor = int(np.gcd.reduce(whole.astype(np.int64)))
            room = min(_ROOM, int(LIMIT / (total * power / divisor)))
            step = 1 << max(room.bit_length() - 1, 0)
            return Grid(Fraction(power * step, divisor), step, float(np.abs(numbers - whole / power).max()))
    scale = Fraction(2) ** (LIMIT.bit_length() - 1 - frexp(total)[1])
    # rounded to the nearest unit, unless something positive would become 0 and is rounded up
    least = Fraction(float(numbers[numbers > 0][0]))
    unit = Fraction(1, 2) if 2 * least * scale >= 1 else Fraction(1)
    return Grid(scale, 1, float(unit / scale))
