"""Certificates: a plan and a dual bound that anyone can check in exact arithmetic, without a solver.

:func:`verify` lives in :mod:`exact.certificates.verification`, which can be imported without loading anything that
searches or optimises.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.certificates.certificate import Certificate as Certificate
    from exact.certificates.certificate import read_certificate as read_certificate
    from exact.certificates.certificate import write_certificate as write_certificate
    from exact.certificates.issuing import certify as certify
    from exact.certificates.issuing import issue as issue
    from exact.certificates.verification import Verification as Verification
    from exact.certificates.verification import verify as verify

_HOME = {
    "Certificate": "certificate",
    "Verification": "verification",
    "certify": "issuing",
    "issue": "issuing",
    "read_certificate": "certificate",
    "verify": "verification",
    "write_certificate": "certificate",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
