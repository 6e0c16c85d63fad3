"""The certificate itself: one JSON document, and nothing believed about it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prefixplace.documents import read_json, write_json

__all__ = [
    "FORMAT",
    "KINDS",
    "VERSION",
    "Certificate",
    "checksum",
    "read_certificate",
    "sealed",
    "write_certificate",
]

FORMAT, VERSION = "prefixplace-certificate", 1

HEAD = ("format", "version", "instance_digest", "kind", "value", "bound", "plan", "checksum")
KINDS: Mapping[str, tuple[str, ...]] = {
    "trivial": (),
    "coverage-dual": ("denominator", "coverage_multipliers", "budget_prices"),
    "budget-dual": ("denominator", "budget_prices"),
    "state-search": ("denominator", "quantum", "floor", "search"),
}
"""The kinds, with the fields that each has beside the common ones."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """A plan, a bound and the multipliers that prove it, for one instance.

    The document is kept as it was read: :func:`exact.verify` decides what is true of it. Chunk numbers and the
    order of chunks are those of the instance's file. Numbers are exact: integers, or fractions ``"p/q"``.

    ========================  ======================================================================================
    ``instance_digest``       SHA-256 of the instance (:attr:`prefixplace.Instance.digest`)
    ``kind``                  one of :data:`KINDS`
    ``value``, ``bound``      F of the plan and a number that no plan exceeds, as fractions
    ``plan``                  ``{"workers": [[chunk numbers, ascending] × M]}``
    ``denominator``           D: the multipliers below are integers in units of 1/D ms
    ``coverage_multipliers``  μ_b (n), 0 … Δ(b); pairwise σ_{mb} (M lists of n), 0 … max_h s_{m←h}(b)
    ``budget_prices``         λ_m ≥ 0 (M); in coverage duals ``null`` asks for the dynamic program of that worker
    ``quantum``, ``floor``    of a ``state-search``: with values rounded to multiples of quantum/D, no plan is worth
                              more than floor/D; the bound adds what rounding took off
    ``search``                its steps in preorder, each shrinking the sets of workers that may hold each chunk:
                              ``["prices", [λ_m]]``, ``["coverage", [μ_b], [λ_m] or null]``, ``["joint", [[π_m(b)]]]``,
                              ``["split", worker, chunk]`` followed by the steps of the branch in which the worker
                              keeps the chunk and those of the other, ``["cover", chunk]`` likewise for whether
                              anybody keeps it, ``["enumerate", [chunks], [[λ_m]], [[π_m(b)]] or null]``; each branch
                              ends in ``["closed"]`` (see :mod:`exact.certificates.replay`)
    ``checksum``              SHA-256 of all other fields; guards against accidents, not against liars
    ========================  ======================================================================================
    """

    document: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What proves the bound."""
        return str(self.document.get("kind"))

    @property
    def value(self) -> Fraction:
        """The stated value of the plan in ms."""
        return Fraction(self.document["value"])

    @property
    def bound(self) -> Fraction:
        """The stated bound in ms."""
        return Fraction(self.document["bound"])

    @property
    def gap(self) -> Fraction:
        """(bound − value)/bound as stated; 0 when the bound is 0."""
        return (self.bound - self.value) / self.bound if self.bound else Fraction(0)

    def __repr__(self) -> str:
        return f"Certificate({self.kind!r}, value={float(self.value):.10g}, bound={float(self.bound):.10g})"


def checksum(document: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the canonical JSON of `document` without its ``checksum``."""
    rest = {name: entry for name, entry in document.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document: Mapping[str, Any]) -> Certificate:
    """A certificate of `document` with its checksum set."""
    return Certificate({**document, "checksum": checksum(document)})


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate from ``.json`` or ``.json.gz``; :class:`InputError` when it is no JSON object."""
    return Certificate(read_json(path))


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate as ``.json`` or ``.json.gz``."""
    write_json(certificate.document, path)
