"""The one exception that every wrong input raises."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """Input that breaks a rule of the model; the message names the place (worker, chunk, field) and the value."""
