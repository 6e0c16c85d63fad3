"""Values that are known before any solver runs, as exact fractions with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from prefixplace.errors import InputError
from prefixplace.instance import Instance

__all__ = ["Known", "as_fraction", "exact_number", "known_values"]

_FIELDS = ("opt", "configuration_lp", "compact_lp")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of an instance, in ms per epoch.

    Parameters
    ----------
    opt, configuration_lp, compact_lp : Fraction or int, optional
        The optimum and the optima of the two relaxations; they must be in this order.
    reasons : mapping of str to str
        Why each value given is true, by the same names.
    """

    opt: Fraction | int | None = None
    configuration_lp: Fraction | int | None = None
    compact_lp: Fraction | int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = [name for name in _FIELDS if getattr(self, name) is not None]
        missing = [name for name in given if not self.reasons.get(name)]
        if missing:
            raise InputError(f"the known value {missing[0]} needs a reason")
        values = [getattr(self, name) for name in given]
        if any(low > high for low, high in pairwise(values)):
            raise InputError(f"known values must satisfy {' <= '.join(given)}, not {values}")

    def to_meta(self) -> dict[str, Any]:
        """The fields of ``Instance.meta``: each value (int, or ``"p/q"``) and ``reasons``."""
        values = {name: getattr(self, name) for name in _FIELDS}
        found: dict[str, Any] = {
            name: exact_number(Fraction(x)) for name, x in values.items() if x is not None
        }
        return {**found, "reasons": dict(self.reasons)} if found else {}


def exact_number(value: Fraction) -> int | str:
    """A fraction as JSON data that loses nothing: an int, or the text ``"p/q"``."""
    return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def as_fraction(number: int | float | str) -> Fraction:
    """The reverse of :func:`exact_number`; a float counts as the binary fraction that it is.

    Raises
    ------
    InputError
        For anything that is not a finite number.
    """
    try:
        return Fraction(number)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"{number!r} is not a number or a fraction 'p/q'") from None


def known_values(instance: Instance) -> dict[str, Fraction]:
    """The known values in the meta of `instance`, by name; empty when there are none."""
    return {name: as_fraction(instance.meta[name]) for name in _FIELDS if name in instance.meta}
