"""Records: what a search found, with small whole values, verified exactly, as an instance file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.known import exact_number
from instances.search.realism import Values
from instances.search.revealing import Row, objective_row
from instances.search.runs import METHODS
from instances.search.shapes import Shape
from instances.search.targets import Target
from instances.search.verify import exact_ratio
from prefixplace import Instance

__all__ = ["Record", "make_record"]

_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 30, 60, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)
_SLACK = 1e-3


@dataclass(frozen=True, eq=False)
class Record:
    """A verified find.

    Attributes
    ----------
    target, realism : str
    ratio : Fraction
        Exactly what the target is on `instance`; for gaps an upper bound of it.
    limit : Fraction
        The infimum of the same decisions and optimum, where choices tie: what `ratio` tends to as the margin by which
        the decisions are forced goes to 0. Equal to `ratio` for gaps.
    instance : Instance
        With all this in ``meta["record"]``.
    """

    target: str
    realism: str
    ratio: Fraction
    limit: Fraction
    instance: Instance


def make_record(
    target: Target, realism: str, shape: Shape, values: Values, z: Row, origin: dict[str, Any]
) -> Record | None:
    """Round the values at `z` to the smallest whole numbers that keep the ratio, and verify it exactly.

    None when no rounding keeps it to 0.001, which then is no record.
    """
    examined = target.examine(shape, values, z)
    if examined is None:
        return None
    size = _size(target, shape, values, z)
    for scale in _SCALES:
        whole = _whole(z / size, scale)
        if not whole.any():
            continue
        instance = values.build(whole, "", {})
        ratio = exact_ratio(instance, target.name)
        if ratio <= examined.ratio + _SLACK:
            break
    else:
        return None
    limit = _limit(target, shape, values, examined.fixed) or ratio
    name = f"{target.name}-{realism}-m{shape.workers}"
    facts = {
        "target": target.name,
        "realism": realism,
        "ratio": exact_number(ratio),
        "limit": exact_number(limit),
        **origin,
    }
    return Record(target.name, realism, ratio, limit, values.build(whole, name, {"record": facts}))


def _size(target: Target, shape: Shape, values: Values, z: Row) -> float:
    """The unit in which the values are small numbers: the least positive variable above a thousandth of the largest."""
    large = z[z > 1e-3 * z.max()]
    return float(large.min())


def _whole(z: Row, scale: int) -> NDArray[np.int64]:
    whole = np.rint(z * scale).astype(np.int64)
    common = reduce(gcd, whole.tolist(), 0)
    return whole // common if common else whole


def _limit(target: Target, shape: Shape, values: Values, fixed: Any) -> Fraction | None:
    """The ratio without margin, exactly, at rounded values where every decision is one of the best."""
    if target.name not in METHODS:
        return None
    revealed = target.reveal(shape, values, fixed, 0.0)
    if revealed is None:
        return None
    decisions, outcomes, _ = fixed
    least = revealed[1][revealed[1] > 1e-6 * revealed[1].max()].min()
    for scale in _SCALES:
        z = _whole(revealed[1] / least, scale).astype(np.float64)
        if not z.any():
            continue
        # whole values times small dyadic coefficients: these sums are exact
        for decision in decisions:
            profit = shape.within(decision.worker) @ (decision.form @ z)
            if profit.max() > (decision.form @ z)[decision.chosen].sum():
                break
        else:
            optimum, _ = shape.best_placement(values.local @ z, values.coverage @ z)
            reached = max(float(objective_row(values, outcome) @ z) for outcome in outcomes)
            ratio = Fraction(reached) / Fraction(optimum)
            if ratio <= revealed[0] + _SLACK:
                return ratio
    return None
