"""The curated list of the library: which instances are in it, and how their bounds are first found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import exact
import prefixplace as pp
from exact.branch_and_bound.backend import prove
from exact.certificates import Certificate, certify, issue, write_certificate
from instances.construction import Construction
from instances.known import known_values
from instances.library.checking import enumerated_optimum, rounded_down
from instances.library.rows import Library, Row
from instances.registry import build
from prefixplace.errors import InputError
from prefixplace.files import write_instance
from prefixplace.result import OPTIMALITY_TOLERANCE, relative_gap

__all__ = ["CURATED", "Entry", "add_entry", "add_record"]


@dataclass(frozen=True)
class Entry:
    """An instance of a family that belongs in the library."""

    group: str
    family: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def name(self) -> str:
        """Family, settings and seed as one word."""
        values = [str(v).replace(",", "-").replace(".", "") for v in self.settings.values()]
        return "-".join([self.family, *values, *([f"s{self.seed}"] if self.seed else [])]).lower()


def _entries() -> Iterable[Entry]:
    for family in (
        "one-order-half",
        "all-orders-two-thirds",
        "identical-three-quarters",
        "configuration-gap-four-fifths",
        "configuration-gap-six-sevenths",
        "compact-gap",
    ):
        yield Entry("tight", family)
    for copies in (2, 4):
        yield Entry("tight", "configuration-gap-ten-elevenths", {"copies": copies})
    for pairs in (3, 6, 25):
        yield Entry("tight", "xy-pool", {"pairs": pairs})
    for holders, chunks in ((5, 2), (7, 3)):
        yield Entry("tight", "hypercliques", {"holders": holders, "chunks": chunks})
    for workers, budget in ((4, 20), (6, 30), (10, 40)):
        yield Entry("reduction", "three-partition", {"workers": workers, "budget": budget})
    for workers, budget in ((2, 75), (4, 19), (4, 21), (6, 31), (10, 41)):
        yield Entry("reduction", "parity-blocked", {"workers": workers, "budget": budget})
    yield Entry("reduction", "bin-packing", {"items": 30})
    for graph in ("petersen", "heawood"):
        yield Entry("reduction", "independent-set", {"graph": graph})
    for vertices in (20, 40):
        yield Entry("reduction", "independent-set", {"graph": "cubic", "vertices": vertices})
    yield Entry("reduction", "set-packing")
    yield Entry("reduction", "set-packing", {"system": "random", "sets": 20, "elements": 25})
    for graph in ("cycle", "petersen"):
        yield Entry("reduction", "max-cut", {"graph": graph})
    yield Entry("reduction", "max-cut", {"graph": "half-dense", "vertices": 12})
    for seed in (0, 1):
        yield Entry("reduction", "facility-location", {}, seed)
    for workers in (4, 8):
        yield Entry("reduction", "planted-optimum", {"workers": workers, "chunks": 300, "budget": 30})
    yield Entry("family", "random-values", {"workers": 3, "chunks": 40, "budget": 6})
    for family, settings in (
        ("rag-shaped", {"documents": 12, "document_chunks": "3,5", "queries": 4}),
        ("rag-shaped", {"documents": 30, "document_chunks": "2,4", "queries": 3, "sharing": 0.75}),
        ("mismatched-rag", {}),
        ("multi-turn", {"sessions": 40}),
        ("two-group-rag", {}),
        ("uniform-recursive", {}),
        ("caterpillar", {}),
        ("star", {}),
        ("deep-chain", {}),
        ("tenant-prompts", {}),
        ("agent-traces", {"sessions": 8}),
        ("trace-twin", {}),
    ):
        yield Entry("family", family, settings)


CURATED: tuple[Entry, ...] = tuple(_entries())
"""The instances of the packaged library, beside the records of searches."""


def add_entry(library: Library, entry: Entry, seconds: float) -> Row:
    """Draw an entry and add its row."""
    settings = {name: str(value) for name, value in entry.settings.items()}
    family = build(entry.family, settings)
    instance = family.sample(entry.seed)
    witness = family.witness(entry.seed) if isinstance(family, Construction) else None
    source = {"family": entry.family, "settings": settings, "seed": entry.seed}
    return _add(library, entry.name, entry.group, instance, source, witness, seconds)


def add_record(library: Library, instance: pp.Instance, seconds: float) -> Row:
    """Add the record of a search, an instance with ``meta["record"]``."""
    if "record" not in instance.meta:
        raise InputError(f"instance {instance.name!r} holds no record of a search")
    name = f"record-{instance.name}"
    return _add(library, name, "record", instance, {"record": instance.meta["record"]}, None, seconds)


def _add(
    library: Library,
    name: str,
    group: str,
    instance: pp.Instance,
    source: Mapping[str, Any],
    witness: pp.Placement | None,
    seconds: float,
) -> Row:
    plan, lower_by = witness, "planted by the construction"
    limit = pp.Budget(seconds=seconds)
    if plan is None:
        plan, lower_by = pp.solve(instance, "prefixplace").placement, "prefixplace"
    assert plan is not None  # the empty placement at least
    bound = exact.bound(instance, "configuration-lp", budget=limit, start=plan)
    if bound.placement is not None and instance.value(bound.placement) > instance.value(plan):
        plan, lower_by = bound.placement, "rounding of the configuration LP"
    certificate, upper_by = certify(instance, plan, bound), "configuration LP by column generation"
    if relative_gap(instance.value(plan), bound.bound) > OPTIMALITY_TOLERANCE:
        better, by, proved = _search(instance, plan, limit)
        if better is not None:
            plan, lower_by = better, by
        if proved is not None:
            certificate, upper_by = proved, "branch and bound"
    only = issue(instance, plan, "trivial", {})
    lower = only.value
    upper = rounded_down(instance, certificate.bound)
    proof = "certificate" if upper == certificate.bound else "rounded-certificate"
    reason = f"{certificate.kind} multipliers in the certificate"
    if upper > lower:
        stated, enumerated = known_values(instance).get("opt"), _enumerated(instance)
        if enumerated is not None and enumerated < upper:
            upper, upper_by, proof = enumerated, "enumeration", "enumeration"
            reason = "all placements of largest closed sets"
        elif stated is not None and stated < upper:
            upper, upper_by, proof = stated, "the construction", "stated"
            reason = instance.meta["reasons"]["opt"]
    row = Row(
        name=name,
        group=group,
        digest=instance.digest,
        source=source,
        lower=lower,
        upper=upper,
        lower_by=lower_by,
        upper_by=upper_by,
        proof=proof,
        reason=reason,
    )
    write_instance(instance, library.path("instances", row))
    write_certificate(only, library.path("plans", row))
    if "certificate" in proof:
        write_certificate(certificate, library.path("proofs", row))
    library.rows[name] = row
    return row


def _search(
    instance: pp.Instance, plan: pp.Placement, limit: pp.Budget
) -> tuple[pp.Placement | None, str, Certificate | None]:
    """A better plan, who found it, and a certificate of optimality, each where there is one.

    The project's own prover first; HiGHS where it refuses the instance or ends without a proof.
    """
    best, by, certificate = plan, "", None
    try:
        result, certificate = prove(instance, budget=limit, start=plan)
        if result.placement is not None and instance.value(result.placement) > instance.value(best):
            best, by = result.placement, "branch and bound"
        if certificate is not None and certificate.kind != "state-search":
            certificate = None  # of a search that met its limit
    except InputError:
        certificate = None  # too many holder sets
    if certificate is None:
        improved = exact.solve(instance, "highs", budget=limit, start=best)
        if improved.placement is not None and instance.value(improved.placement) > instance.value(best):
            best, by = improved.placement, "HiGHS"
    return (best if by else None), by, certificate


def _enumerated(instance: pp.Instance) -> Fraction | None:
    try:
        return enumerated_optimum(instance)
    except InputError:
        return None
