"""How a bound came about: the upper bound and its master from below, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from exact.bounds import Bound
from prefixplace.errors import InputError
from prefixplace.lab.curves import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bound_curves"]


def bound_curves(bounds: Sequence[Bound], *, optimum: float | None = None) -> Figure:
    """Relative distance of every bound, and of its master, from the least bound (or the optimum), over seconds.

    Solid lines are valid upper bounds and fall; dotted ones are masters (restricted LP or cutting-plane model) and
    rise. Both axes are logarithmic; a line ends where it has reached the reference to 12 digits.

    Parameters
    ----------
    bounds : results of :func:`exact.bound` for one instance
    optimum : float, optional
        The reference; the least of `bounds` when left out.

    Raises
    ------
    InputError
        Without bounds, with more than six, or with bounds of different instances.
    """
    from matplotlib.figure import Figure

    if not 0 < len(bounds) <= len(COLOURS):
        raise InputError(f"{len(bounds)} bounds to draw; between one and {len(COLOURS)} can be told apart")
    if len({bound.instance_digest for bound in bounds}) > 1:
        raise InputError("the bounds belong to different instances")
    reference = min(bound.bound for bound in bounds) if optimum is None else optimum
    figure = Figure(figsize=(8, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    for colour, bound in zip(COLOURS, bounds, strict=False):
        seconds = np.array([point.seconds for point in bound.history])
        for values, style, label in (
            ([point.bound for point in bound.history], "-", bound.kind),
            ([np.nan if p.master is None else p.master for p in bound.history], ":", None),
        ):
            distance = np.abs(np.array(values, float) - reference) / max(abs(reference), 1e-300)
            shown = np.isfinite(distance) & (distance > 1e-12)
            axes.plot(seconds[shown], distance[shown], style, color=colour, linewidth=1.8, label=label)
    what = "least bound" if optimum is None else "optimum"
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel=f"relative distance from the {what}")
    axes.legend(fontsize=9, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
