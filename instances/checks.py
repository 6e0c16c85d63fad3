"""Checks that parameter dataclasses make on themselves."""

from __future__ import annotations

import re
from dataclasses import fields
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from prefixplace.errors import InputError

__all__ = ["check_types", "require"]


def require(parameters: Any, holds: bool, inequality: str) -> None:
    """Raise :class:`InputError` with `inequality`, and the values of the parameters that it names, unless it holds."""
    if not holds:
        words = set(re.findall(r"\w+", inequality))
        values = (
            f"{f.name} = {getattr(parameters, f.name)!r}" for f in fields(parameters) if f.name in words
        )
        raise InputError(f"{type(parameters).__name__}: {', '.join(values)} violates {inequality}")


def check_types(parameters: Any) -> None:
    """Raise :class:`InputError` when a field is not of its declared type.

    Types are int, float, str, bool, and tuples and unions of these. A whole number is a float too; a bool is neither.
    """
    hints = get_type_hints(type(parameters))
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if not _fits(value, hints[field.name]):
            wanted = field.type if isinstance(field.type, str) else field.type.__name__
            raise InputError(f"{type(parameters).__name__}: {field.name} = {value!r} is no {wanted}")


def _fits(value: object, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(item, get_args(hint)[0]) for item in value)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return isinstance(value, hint)
