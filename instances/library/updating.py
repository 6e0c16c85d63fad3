"""Improvements of a row: accepted when they are verified, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from exact.certificates import Certificate, issue, read_certificate, verify, write_certificate
from instances.library.checking import rounded_down
from instances.library.rows import Library, Row
from prefixplace.documents import read_json
from prefixplace.errors import InputError
from prefixplace.files import read_plan
from prefixplace.instance import Instance

__all__ = ["update_row"]


def update_row(library: Library, name: str, file: str | Path, by: str) -> tuple[Row, Row]:
    """Improve a row by a plan or certificate file, in place.

    Parameters
    ----------
    library : Library
    name : str
        The row.
    file : path
        A plan or a certificate of its instance.
    by : str
        Who or what found it.

    Returns
    -------
    (Row, Row)
        The row before and after.

    Raises
    ------
    InputError
        When the file is of another instance, false in any statement, or no improvement: neither a better plan,
        nor a lower bound on the optimum, nor an exact certificate in place of a weaker proof of the same bound.
    """
    before = library[name]
    instance = library.instance(name)
    certificate = _certificate(Path(file), instance)
    checked = verify(instance, certificate)
    if not checked.ok or checked.value is None or checked.bound is None:
        raise InputError(f"{file}: {'; '.join(checked.errors)}")
    after = before
    if checked.value > before.lower:
        after = replace(after, lower=checked.value, lower_by=by)
    rounded = rounded_down(instance, checked.bound)
    if certificate.kind != "trivial":
        firmer = before.proof in ("stated", "enumeration") and rounded == before.upper
        if rounded < before.upper or firmer:
            proof = "certificate" if rounded == checked.bound else "rounded-certificate"
            after = replace(after, upper=rounded, upper_by=by, proof=proof, reason=certificate.kind)
    if after == before:
        raise InputError(
            f"{file}: value {float(checked.value):.10g} and bound {float(checked.bound):.10g} improve nothing: "
            f"row {name} has {float(before.lower):.10g} and {float(before.upper):.10g} ({before.proof})"
        )
    if after.lower != before.lower:
        write_certificate(certificate, library.path("plans", after))
    if (after.upper, after.proof) != (before.upper, before.proof):
        write_certificate(certificate, library.path("proofs", after))
    library.rows[name] = after
    library.save()
    return before, after


def _certificate(file: Path, instance: Instance) -> Certificate:
    """A certificate file as it is; a plan file as a certificate that bounds nothing."""
    document = read_json(file)
    if document.get("format") == "prefixplace-certificate":
        return read_certificate(file)
    return issue(instance, read_plan(file, instance), "trivial", {})
