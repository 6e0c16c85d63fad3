"""Optimal solvers, upper bounds and certificates for coordinated prefix KV placement.

Imports :mod:`prefixplace`, never the other way round. Everything named here is imported on first use, so that
``import exact`` loads no solver.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.backend import Availability as Availability
    from exact.backend import Backend as Backend
    from exact.bounds import BOUNDS as BOUNDS
    from exact.bounds import Bound as Bound
    from exact.bounds import bound as bound
    from exact.branch_and_bound.backend import prove as prove
    from exact.certificates import Certificate as Certificate
    from exact.certificates import certify as certify
    from exact.certificates import read_certificate as read_certificate
    from exact.certificates import verify as verify
    from exact.certificates import write_certificate as write_certificate
    from exact.compact import Formulation as Formulation
    from exact.doctor import examine as examine
    from exact.export import read_solution as read_solution
    from exact.export import write_model as write_model
    from exact.guarantees import audit as audit
    from exact.solving import BACKENDS as BACKENDS
    from exact.solving import solve as solve

_HOME = {
    "Availability": "exact.backend",
    "BACKENDS": "exact.solving",
    "BOUNDS": "exact.bounds",
    "Backend": "exact.backend",
    "Bound": "exact.bounds",
    "Certificate": "exact.certificates",
    "Formulation": "exact.compact",
    "audit": "exact.guarantees",
    "bound": "exact.bounds",
    "certify": "exact.certificates",
    "examine": "exact.doctor",
    "prove": "exact.branch_and_bound.backend",
    "read_certificate": "exact.certificates",
    "read_solution": "exact.export",
    "solve": "exact.solving",
    "verify": "exact.certificates",
    "write_certificate": "exact.certificates",
    "write_model": "exact.export",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
