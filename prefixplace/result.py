"""What every method returns, heuristic or exact."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

from prefixplace.instance import Instance
from prefixplace.placement import Placement

__all__ = [
    "OPTIMALITY_TOLERANCE",
    "BoundProof",
    "Result",
    "Status",
    "StopReason",
    "TracePoint",
    "package_versions",
    "relative_gap",
]

Status = Literal["optimal", "feasible", "none", "infeasible"]
StopReason = Literal["finished", "time", "nodes", "iterations", "user", "error", "unavailable"]
BoundProof = Literal["none", "solver-claim", "float", "exact"]

OPTIMALITY_TOLERANCE = 1e-9
"""Relative distance of bound and value, both given as float64, at which a value counts as optimal.

Certificates compare the same two numbers without any tolerance, in rational arithmetic."""


class TracePoint(NamedTuple):
    """State of a run at one moment: best value and bound known then (None = not yet)."""

    seconds: float
    value: float | None
    bound: float | None


def relative_gap(value: float, bound: float) -> float:
    """(bound − value) / max(|bound|, tiny): 0 when the bound is met, at most 1 for non-negative values."""
    return (bound - value) / max(abs(bound), 1e-300)


@dataclass(frozen=True, eq=False)
class Result:
    """Outcome of one run of one method on one instance.

    Build it with :meth:`of`, which recomputes the value from the sets, gates the bound and derives the status.

    Attributes
    ----------
    method : str
    value : float or None
        F or F_pair of `placement` in ms per epoch, recomputed; None without a placement.
    bound : float or None
        A number ≥ the optimum, or None when nothing better than infinity is known.
    bound_proof : {"none", "solver-claim", "float", "exact"}
        What makes the bound true: a solver said so, our own float64 evaluation, or exact arithmetic.
    status : {"optimal", "feasible", "none", "infeasible"}
        What is known. ``optimal``: value and bound meet within :data:`OPTIMALITY_TOLERANCE`. ``none``: no
        placement was found. ``infeasible``: a solver claimed so, which is wrong for every valid instance, since
        keeping nothing is feasible.
    stop_reason : str
        Why the run ended: finished (also at a gap asked for), time, nodes, iterations, user, error, unavailable.
    placement : Placement or None
    seconds : float
        Wall-clock time of the run.
    trace : tuple of (seconds, value, bound)
    counters : mapping of str to int or float
        What the method counts, e.g. ``oracle_calls``.
    seed : int or None
    versions : mapping of str to str
    instance_digest : str
    log : tuple of str
        What happened, line by line.
    """

    method: str
    value: float | None
    bound: float | None
    bound_proof: BoundProof
    status: Status
    stop_reason: StopReason
    placement: Placement | None
    seconds: float
    trace: tuple[TracePoint, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    instance_digest: str = ""
    log: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        instance: Instance,
        method: str,
        placement: Placement | None,
        *,
        stop_reason: StopReason,
        seconds: float,
        bound: float | None = None,
        bound_proof: BoundProof = "none",
        claims_infeasible: bool = False,
        trace: tuple[TracePoint, ...] = (),
        counters: Mapping[str, float] | None = None,
        seed: int | None = None,
        versions: Mapping[str, str] | None = None,
        log: tuple[str, ...] = (),
    ) -> Result:
        """Result with value recomputed from `placement`, the bound gated by it, and the status derived.

        A bound that lies below the recomputed value by more than the tolerance is false and is dropped, which
        the log says; one that lies below it by rounding is raised to the value, which is itself feasible.
        """
        value = None if placement is None else instance.value(placement)
        lines = list(log)
        if bound is not None and value is not None and bound < value:
            if bound < value - OPTIMALITY_TOLERANCE * abs(value):
                lines.append(f"dropped a false bound: {bound!r} is below the value {value!r}")
                bound = None
            else:
                bound = value
        if bound is None:
            bound_proof = "none"
        return cls(
            method=method,
            value=value,
            bound=bound,
            bound_proof=bound_proof,
            status=_status(value, bound, claims_infeasible),
            stop_reason=stop_reason,
            placement=placement,
            seconds=seconds,
            trace=trace,
            counters=dict(counters or {}),
            seed=seed,
            versions=package_versions() if versions is None else dict(versions),
            instance_digest=instance.digest,
            log=tuple(lines),
        )

    @property
    def gap(self) -> float | None:
        """(bound − value) / max(|bound|, tiny); None while either is unknown."""
        return None if self.value is None or self.bound is None else relative_gap(self.value, self.bound)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able data; the plan as ``{"workers": [[chunk numbers of the file] per worker]}``."""
        data: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "method",
                "value",
                "bound",
                "bound_proof",
                "gap",
                "status",
                "stop_reason",
                "seconds",
                "seed",
                "instance_digest",
            )
        }
        data["counters"] = dict(self.counters)
        data["versions"] = dict(self.versions)
        data["trace"] = [list(point) for point in self.trace]
        data["log"] = list(self.log)
        if self.placement is not None:
            data["plan"] = {"workers": [chunks.tolist() for chunks in self.placement.sets(given=True)]}
        else:
            data["plan"] = None
        return data

    def __repr__(self) -> str:
        parts = [repr(self.method), self.status]
        if self.value is not None:
            parts.append(f"value={self.value:.10g}")
        if self.bound is not None:
            parts.append(f"bound={self.bound:.10g} ({self.bound_proof})")
        return f"Result({', '.join(parts)}, {self.stop_reason} after {self.seconds:.3g} s)"

    def _repr_html_(self) -> str:
        from prefixplace.html import result_html

        return result_html(self)


def _status(value: float | None, bound: float | None, claims_infeasible: bool) -> Status:
    if value is None:
        return "infeasible" if claims_infeasible else "none"
    if bound is None:
        return "feasible"
    return "optimal" if bound - value <= OPTIMALITY_TOLERANCE * abs(bound) else "feasible"


def package_versions(*packages: str) -> dict[str, str]:
    """Versions of Python, prefixplace, NumPy, Numba and the named `packages`, for the record of a run."""
    names = ("prefixplace", "numpy", "numba", *packages)
    return {"python": platform.python_version(), **{name: _installed_version(name) for name in names}}


@cache
def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
