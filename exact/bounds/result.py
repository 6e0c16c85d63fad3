"""What every bound returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.result import BoundProof, StopReason, package_versions

__all__ = ["Bound", "BoundPoint", "Column"]


class BoundPoint(NamedTuple):
    """State of a bounding method at one moment.

    `master` estimates the limit from below (value of a restricted master problem or of a cutting-plane model;
    None where there is none); `bound` is the least valid upper bound so far.
    """

    seconds: float
    master: float | None
    bound: float


class Column(NamedTuple):
    """One configuration of a configuration LP: a closed set of a class of identical workers.

    `weight` is x_{m,S} summed over the class, `nodes` the preorder positions of the set.
    """

    workers: tuple[int, ...]
    nodes: NDArray[np.int64]
    weight: float


@dataclass(frozen=True, eq=False)
class Bound:
    """A number that no placement can exceed, and what makes it true.

    Attributes
    ----------
    kind : str
        Name of the bound in :data:`exact.BOUNDS`.
    bound : float
        In ms per epoch; ≥ the optimum.
    proof : {"float", "solver-claim", "exact"}
        ``float``: a dual function of the model evaluated here in float64 at the `multipliers`, valid whatever
        produced them. :func:`exact.certify` turns it into exact arithmetic.
    seconds : float
        Wall-clock time.
    stop_reason : str
        ``finished`` when the method reached its limit or the gap asked for, else the limit that it met.
    history : tuple of (seconds, master, bound)
    multipliers : mapping of str to float array
        ``coverage``: μ_b, shape (n,), or for the pairwise objective σ_{mb}, shape (M, n). ``budget``: the price
        λ_m of a chunk on each worker, shape (M,).
    columns : tuple of (workers, nodes, weight)
        Solution of a configuration LP: the sets with positive weight.
    weights : float array (M, n), or None
        Primal (near-)solution: how much of each chunk each worker keeps, for rounding.
    placement : Placement or None
        The best placement met on the way: the given start or a rounding.
    value : float or None
        Its objective value.
    counters : mapping of str to number
    instance_digest : str
    versions : mapping of str to str
    """

    kind: str
    bound: float
    proof: BoundProof
    seconds: float
    stop_reason: StopReason
    history: tuple[BoundPoint, ...] = ()
    multipliers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    weights: NDArray[np.float64] | None = None
    placement: Placement | None = None
    value: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    instance_digest: str = ""
    versions: Mapping[str, str] = field(default_factory=package_versions)

    @property
    def gap(self) -> float | None:
        """(bound − value) / |bound| for the placement met on the way; None without one."""
        return (
            None if self.value is None else max(0.0, self.bound - self.value) / max(abs(self.bound), 1e-300)
        )

    @property
    def master(self) -> float | None:
        """Last lower estimate of the method's limit: value of the restricted master or of the cutting-plane model."""
        return next((point.master for point in reversed(self.history) if point.master is not None), None)

    def check(self, instance: Instance) -> None:
        """Raise :class:`InputError` unless this bound was computed for `instance`."""
        from prefixplace.errors import InputError

        if self.instance_digest != instance.digest:
            raise InputError(f"the {self.kind} bound belongs to another instance than {instance.name!r}")

    def to_dict(self) -> dict[str, Any]:
        """The fields of the command line's JSON."""
        return {
            "kind": self.kind,
            "bound": self.bound,
            "proof": self.proof,
            "master": self.master,
            "seconds": self.seconds,
            "stop_reason": self.stop_reason,
            "value": self.value,
            "gap": self.gap,
            "counters": dict(self.counters),
            "history": [list(point) for point in self.history],
            "instance_digest": self.instance_digest,
            "versions": dict(self.versions),
        }

    def __repr__(self) -> str:
        known = "" if self.value is None else f", value={self.value:.10g}"
        how = f"{self.stop_reason} in {self.seconds:.3g} s"
        return f"Bound({self.kind!r}, {self.bound:.10g} ({self.proof}){known}, {how})"
