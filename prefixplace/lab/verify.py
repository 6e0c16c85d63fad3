"""Is a plan or a certificate what it claims to be? Checked from the file alone, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exact.certificates.certificate import FORMAT as CERTIFICATE_FORMAT
from exact.certificates.certificate import Certificate
from exact.certificates.evaluation import exact_instance, plan_value
from exact.certificates.verification import verify
from prefixplace.errors import InputError
from prefixplace.files import PLAN_FORMAT, VERSION
from prefixplace.instance import Instance

__all__ = ["Check", "check", "check_certificate", "check_plan"]

VALUE_TOLERANCE = Fraction(1, 10**9)
"""Relative distance at which the float value of a plan file still counts as its exact value."""


@dataclass(frozen=True)
class Check:
    """One claim, whether it holds, and what was found."""

    claim: str
    holds: bool
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return dict(vars(self))


def check(instance: Instance, document: Mapping[str, Any]) -> list[Check]:
    """Check a parsed plan or certificate, whichever `document` says it is.

    Raises
    ------
    InputError
        When it is neither.
    """
    kind = document.get("format")
    if kind == PLAN_FORMAT:
        return check_plan(instance, document)
    if kind == CERTIFICATE_FORMAT:
        return check_certificate(instance, document)
    raise InputError(f"format is {kind!r}, not {PLAN_FORMAT!r} or {CERTIFICATE_FORMAT!r}")


def check_certificate(instance: Instance, document: Mapping[str, Any]) -> list[Check]:
    """Check every statement of a parsed certificate by :func:`exact.verify`; what it found, claim by claim."""
    found = verify(instance, Certificate(document))
    checks = [Check("plan, value and bound are what it says", found.ok, "; ".join(found.errors) or "exactly")]
    if found.ok and found.value is not None and found.bound is not None and found.gap is not None:
        gap = "0: the plan is optimal" if found.optimal else f"{float(found.gap):.3e}"
        checks += [
            Check("value of the plan, ms", True, repr(float(found.value))),
            Check("no plan is worth more than, ms", True, repr(float(found.bound))),
            Check("relative gap", True, gap),
        ]
    return checks


def check_plan(instance: Instance, document: Mapping[str, Any]) -> list[Check]:
    """Check a parsed plan document: instance, chunks, closure, budgets, value. No solver code takes part.

    Raises
    ------
    InputError
        When the document is no plan at all.
    """
    sets = _sets(instance, document)
    digest = document.get("instance_digest")
    same = digest in (None, instance.digest)
    checks = [
        Check(
            "made for this instance",
            same,
            "digest agrees" if digest == instance.digest else f"digest {digest}",
        )
    ]
    parent = instance.tree.given_parents.tolist()
    chunks = _chunks_exist(instance, sets)
    checks.append(chunks)
    if not chunks.holds:
        return checks
    checks += [_closed(instance, sets, parent), _within_budgets(instance, sets)]
    if all(done.holds for done in checks) and "value" in document:
        checks.append(_value(instance, sets, document["value"]))
    return checks


def _sets(instance: Instance, document: Mapping[str, Any]) -> list[list[int]]:
    if document.get("format") != PLAN_FORMAT or document.get("version") != VERSION:
        raise InputError(f"not a {PLAN_FORMAT} of version {VERSION}")
    sets = document.get("workers")
    if not isinstance(sets, list) or len(sets) != instance.num_workers:
        raise InputError(f"workers must list the chunks of {instance.num_workers} workers")
    for m, chunks in enumerate(sets):
        if not isinstance(chunks, list) or any(type(chunk) is not int for chunk in chunks):
            raise InputError(f"workers[{m}] must be a list of chunk numbers")
    return sets


def _chunks_exist(instance: Instance, sets: list[list[int]]) -> Check:
    claim = "every chunk exists and is named once"
    for m, chunks in enumerate(sets):
        seen: set[int] = set()
        for chunk in chunks:
            if not 0 <= chunk < instance.num_chunks:
                return Check(claim, False, f"worker {m} keeps chunk {chunk} of {instance.num_chunks}")
            if chunk in seen:
                return Check(claim, False, f"worker {m} keeps chunk {chunk} twice")
            seen.add(chunk)
    return Check(claim, True, f"{sum(map(len, sets)):,} copies")


def _closed(instance: Instance, sets: list[list[int]], parent: list[int]) -> Check:
    claim = "every chunk is kept with its parent"
    for m, chunks in enumerate(sets):
        kept = set(chunks)
        for chunk in chunks:
            if parent[chunk] >= 0 and parent[chunk] not in kept:
                return Check(
                    claim, False, f"worker {m} keeps chunk {chunk} without its parent {parent[chunk]}"
                )
    return Check(claim, True, "parent-closed")


def _within_budgets(instance: Instance, sets: list[list[int]]) -> Check:
    claim = "every worker is within its budget"
    for m, (chunks, budget) in enumerate(zip(sets, instance.budgets.tolist(), strict=True)):
        if len(chunks) > budget:
            return Check(claim, False, f"worker {m} keeps {len(chunks)} chunks with a budget of {budget}")
    return Check(
        claim, True, ", ".join(f"{len(chunks):,}" for chunks in sets[:8]) + (", …" if len(sets) > 8 else "")
    )


def _value(instance: Instance, sets: list[list[int]], stated: Any) -> Check:
    claim = "the value is what the plan says"
    data = exact_instance(instance)
    position = instance.tree.position
    value = plan_value(data, [position[chunks].tolist() for chunks in sets])
    exact = Fraction(value, data.denominator)
    if type(stated) not in (int, float):
        return Check(claim, False, f"it says {stated!r}; it is {float(exact)!r}")
    holds = abs(Fraction(stated) - exact) <= VALUE_TOLERANCE * abs(exact)
    return Check(
        claim, holds, f"{float(exact)!r}" if holds else f"it says {stated!r}; it is {float(exact)!r}"
    )
