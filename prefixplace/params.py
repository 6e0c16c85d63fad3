"""Parameters of a method: a frozen dataclass each, checked in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from prefixplace.errors import InputError

__all__ = ["NoParams", "checked_params"]


@dataclass(frozen=True)
class NoParams:
    """Parameters of a method that has none."""


def checked_params(method: str, params: Any, wanted: type) -> Any:
    """`params`, or the defaults of the dataclass `wanted` for None.

    Raises
    ------
    InputError
        When they are of another class; the message begins with `method` and names the parameters that it takes.
    """
    if params is None:
        return wanted()
    if type(params) is not wanted:
        names = ", ".join(field.name for field in fields(wanted)) or "nothing"
        raise InputError(f"{method} takes {wanted.__name__} ({names}), not {type(params).__name__}")
    return params
