"""Icicle plot of a placement: one strip per worker, and one for the number of holders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.html import number
from prefixplace.instance import Instance
from prefixplace.placement import Placement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["icicle", "save"]

Width = Literal["leaves", "demand"]

# Okabe and Ito's palette: told apart with every common form of colour blindness, and by lightness in print
NOT_HELD, ONLY_HERE, REPLICATED = "#dddddd", "#0072b2", "#e69f00"
COLUMNS, ROWS = 1400, 120
"""Pixels of a strip; deeper or wider trees are averaged into them."""
LINEAR_DEPTH = 40
"""Deeper forests get a square-root scale of depth: nearly all of their width lies near the roots."""
OUTLINED = 400
"""Forests up to this many chunks get an outline around every chunk and exact shares of colour. In larger ones a kept
chunk counts EMPHASIS times in its pixel, and a pixel that is covered to the fraction c gets c^GAMMA of its colour."""
EMPHASIS, GAMMA = 8.0, 0.4
TALLEST_IN = 60.0


def icicle(instance: Instance, placement: Placement, *, width: Width = "leaves") -> Figure:
    """Draw a placement: depth goes down, a subtree is as wide as its leaves (or as its demand).

    Parameters
    ----------
    instance : Instance
    placement : Placement
    width : "leaves" or "demand"
        ``leaves``: every leaf is equally wide. ``demand``: a chunk is as wide as its total demand, so that area is
        requests times chunks; it needs a demand made of requests.

    Returns
    -------
    matplotlib Figure
        Not attached to any window; :func:`save` writes it, and a notebook shows it.

    Raises
    ------
    InputError
        When the placement does not fit, the forest is empty, or children are wanted more often than their parent.

    Notes
    -----
    Every pixel is an average of the colours that it covers, so a forest of any size is drawn in O(M·n). Beyond
    :data:`OUTLINED` chunks, kept chunks are drawn stronger than their share, so that a budget of 2 % is seen.
    """
    from matplotlib.colors import ListedColormap, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    instance.check(placement)
    if instance.num_chunks == 0:
        raise InputError("a forest without chunks cannot be drawn")
    left, right = _extent(instance, width)
    painter = _Painter(instance, left, right)
    workers = instance.num_workers
    holders = placement.holders
    strip = 1.5 if workers <= 8 else 0.9
    height = min(strip * (workers + 1) + 1.6, TALLEST_IN)
    figure = Figure(figsize=(11, height), dpi=130, layout="constrained")
    axes = figure.subplots(workers + 1, 1, sharex=True, squeeze=False)[:, 0]

    colours = np.array([to_rgb(colour) for colour in (NOT_HELD, ONLY_HERE, REPLICATED)])
    for m, (worker, kept) in enumerate(zip(instance.workers, placement.mask, strict=True)):
        kind = np.where(kept, np.where(holders == 1, 1, 2), 0)
        painter.draw(axes[m], colours[kind], kept)
        axes[m].set_title(_strip_title(instance, placement, m, worker), fontsize=9, loc="left", pad=3)
    most = max(1, int(holders.max()))
    scale = ListedColormap([NOT_HELD, *_shades(most)])
    painter.draw(axes[-1], np.asarray(scale(holders))[:, :3], holders > 0)
    axes[-1].set_title("number of holders", fontsize=9, loc="left", pad=3)
    unit = "leaves" if width == "leaves" else "total demand"
    note = "" if instance.num_chunks <= OUTLINED else "; kept chunks are drawn stronger than their share"
    axes[-1].set_xlabel(f"chunks in preorder; a subtree is as wide as its {unit}{note}", fontsize=9)

    named = (
        (ONLY_HERE, "kept here only"),
        (REPLICATED, "kept here and elsewhere"),
        (NOT_HELD, "not kept here"),
    )
    patches = [Patch(facecolor=colour, label=label) for colour, label in named]
    shown = range(1, most + 1) if most <= 6 else sorted({1, 2, most // 2, most})
    patches += [Patch(facecolor=scale(count), label=_holders(count)) for count in shown]
    figure.legend(
        handles=patches, loc="outside lower center", ncols=min(len(patches), 7), fontsize=8, frameon=False
    )
    value = instance.value(placement)
    title = f"{instance.name or 'placement'}: {instance.num_chunks:,} chunks, {number(value, 7)} ms saved per epoch"
    figure.suptitle(title, fontsize=11)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the form that the suffix names.

    Raises
    ------
    InputError
        For a suffix that is no picture, or a path that cannot be written.
    """
    formats = figure.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise InputError(f"{path}: a picture ends in .png, .svg or .pdf")
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _strip_title(instance: Instance, placement: Placement, m: int, worker: str) -> str:
    kept, budget = int(placement.sizes[m]), int(instance.budgets[m])
    alone = int(np.count_nonzero(placement.mask[m] & (placement.holders == 1)))
    return f"{worker}: {kept:,} of {budget:,} chunks, {alone:,} of them only here"


def _holders(count: int) -> str:
    return "1 holder" if count == 1 else f"{count} holders"


def _shades(count: int) -> list[Any]:
    """`count` colours of cividis, from light to dark: more holders are darker."""
    from matplotlib import colormaps

    return [tuple(rgb) for rgb in colormaps["cividis_r"](np.linspace(0.1, 1.0, count))]


def _extent(instance: Instance, width: Width) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Left and right edge of each chunk in [0, 1], shape (n,): children lie side by side under their parent."""
    tree = instance.tree
    if width == "leaves":
        own = (tree.end == np.arange(1, tree.n + 1)).astype(np.float64)
    else:
        total = instance.demand.sum(axis=0)
        inner = np.flatnonzero(tree.parent >= 0)
        own = total - np.bincount(tree.parent[inner], total[inner], tree.n)
        bad = np.flatnonzero(own < -1e-9 * total)
        if bad.size:
            raise InputError(
                f"the children of chunk {tree.origin[bad[0]]} are wanted more often than the chunk itself: "
                "draw this instance by leaves"
            )
        own = np.maximum(own, 0.0)
    # what a chunk has beyond its children lies to the right of them: sum of `own` over the preorder before it,
    # without its ancestors' own parts, is its left edge
    before = np.concatenate(([0.0], np.cumsum(own)))
    size = before[tree.end] - before[:-1]
    ancestors = np.zeros(tree.n)
    for i, p in enumerate(tree.parent.tolist()):
        if p >= 0:
            ancestors[i] = ancestors[p] + own[p]
    left = before[:-1] - ancestors
    whole = max(float(before[-1]), np.finfo(float).tiny)
    return left / whole, (left + size) / whole


class _Painter:
    """Averages the colours of all chunks into the pixels of a strip."""

    def __init__(self, instance: Instance, left: NDArray[np.float64], right: NDArray[np.float64]) -> None:
        depth = instance.tree.depth
        self._depths = int(depth.max()) + 1
        self._left, self._right, self._depth = left, right, depth
        self._outlined = instance.num_chunks <= OUTLINED
        self._deep = self._depths > LINEAR_DEPTH
        # rows of the image: bands of depths, thin near the root when the forest is deep
        bands = min(self._depths, ROWS)
        edges = np.ceil(self._depths * np.linspace(0, 1, bands + 1) ** (2 if self._deep else 1) - 1e-9)
        self._edges = np.unique(edges.astype(np.int64))
        self._rows = self._edges.size - 1
        self._row = np.searchsorted(self._edges, depth, side="right") - 1
        self._levels = np.diff(self._edges)

    def draw(self, axes: Axes, colours: NDArray[np.float64], kept: NDArray[np.bool_]) -> None:
        """Draw one strip; `colours` are RGB per chunk, shape (n, 3); chunks in `kept` show through others."""
        weight = np.ones(kept.size) if self._outlined else np.where(kept, EMPHASIS, 1.0)
        shares = self._coverage(weight)
        drawn = shares > 1e-6  # what cumulated rounding leaves beside the chunks is nothing
        ink = np.clip(self._coverage(np.ones(kept.size)) / self._levels[:, None], 0, 1)
        if not self._outlined:
            ink **= GAMMA
        image = np.ones((self._rows, COLUMNS, 3))
        for channel in range(3):
            mean = self._coverage(weight * colours[:, channel])[drawn] / shares[drawn]
            image[drawn, channel] = 1 - ink[drawn] * (1 - mean)
        # every pixel row takes the band that holds its depth
        height = self._rows if not self._deep else 4 * ROWS
        middle = self._scaled_inverse((np.arange(height) + 0.5) / height)
        band = np.clip(np.searchsorted(self._edges, middle, side="right") - 1, 0, self._rows - 1)
        axes.imshow(np.clip(image, 0, 1)[band], extent=(0, 1, 1, 0), aspect="auto", interpolation="nearest")
        if self._outlined:
            self._outline(axes)
        shown = _depth_ticks(self._depths)
        axes.set_yticks([float(self._scaled(d)) for d in shown], [f"{d:,}" for d in shown], fontsize=6)
        axes.set_xticks([])
        axes.set_ylabel("depth", fontsize=7)
        for side in axes.spines.values():
            side.set_visible(False)

    def _scaled(self, depth: float | NDArray[np.int64]) -> NDArray[np.float64]:
        """Height in [0, 1] at which a depth begins."""
        part = np.asarray(depth, np.float64) / self._depths
        return np.sqrt(part) if self._deep else part

    def _scaled_inverse(self, height: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._depths * (height**2 if self._deep else height)

    def _outline(self, axes: Axes) -> None:
        from matplotlib.collections import PolyCollection

        top, bottom = self._scaled(self._depth).tolist(), self._scaled(self._depth + 1).tolist()
        sides = zip(self._left.tolist(), self._right.tolist(), top, bottom, strict=True)
        boxes = [((a, c), (b, c), (b, d), (a, d)) for a, b, c, d in sides]
        axes.add_collection(PolyCollection(boxes, facecolors="none", edgecolors="white", linewidths=0.6))

    def _coverage(self, amount: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over chunks of `amount` times the covered fraction of each pixel, shape (rows, COLUMNS)."""
        size = self._rows * (COLUMNS + 2)
        steps = np.zeros(size)
        for edge, sign in ((self._left, 1.0), (self._right, -1.0)):
            at = edge * COLUMNS
            pixel = np.minimum(at.astype(np.int64), COLUMNS)
            part = at - pixel  # a step inside a pixel covers the rest of it, and all pixels after it
            place = self._row * (COLUMNS + 2) + pixel
            steps += np.bincount(place, sign * amount * (1 - part), size)
            steps += np.bincount(place + 1, sign * amount * part, size)
        covered: NDArray[np.float64] = np.cumsum(steps.reshape(self._rows, COLUMNS + 2), axis=1)
        return covered[:, :COLUMNS]


def _depth_ticks(depths: int) -> list[int]:
    """About four round depths, from 0 to the deepest."""
    if depths <= 12:
        return list(range(0, depths + 1, 1 if depths <= 4 else 2))
    step = 10 ** (len(str(depths)) - 1)
    ticks = [
        0,
        *(d for d in (step // 5, step // 2, step, 2 * step, 5 * step) if depths / 40 < d < 0.8 * depths),
    ]
    return [*ticks, depths]
