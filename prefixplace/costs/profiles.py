"""Recompute profiles: how long one chunk takes after a prefix of given length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.tree import PrefixTree

__all__ = ["Affine", "Interpolated", "RecomputeProfile", "Table", "recompute_matrix"]

Outside = Literal["extend", "error"]


class RecomputeProfile(Protocol):
    """Cost of recomputing one chunk of `chunk_tokens` tokens when the prefix before it is in the cache."""

    @property
    def chunk_tokens(self) -> int:
        """Tokens in the chunk that the profile describes."""

    def ms(self, prefix_tokens: ArrayLike) -> NDArray[np.float64]:
        """w(p) in ms for each prefix length p ≥ 0 in tokens; the shape is that of `prefix_tokens`."""

    def for_chunk(self, chunk_tokens: int) -> RecomputeProfile:
        """The profile of a chunk of another length."""

    def breakpoints(self, limit: float) -> NDArray[np.float64]:
        """Ascending prefix lengths within [0, limit] between which w is linear, both ends included."""


@dataclass(frozen=True)
class Affine:
    """w(p) = base_ms + slope_ms · p.

    Attention reads the whole prefix once per token of the chunk, everything else does not depend on it, so an
    affine curve fits kernels closely (within 3 % over 32K tokens for the kernel-level curves shipped here).

    Parameters
    ----------
    base_ms : float
        Cost after an empty prefix, ≥ 0.
    slope_ms : float
        Growth in ms per token of prefix, ≥ 0.
    chunk_tokens : int, default 512

    Examples
    --------
    >>> Affine(48.1, 0.005).ms([0, 512]).round(2).tolist()
    [48.1, 50.66]
    """

    base_ms: float
    slope_ms: float
    chunk_tokens: int = 512

    def __post_init__(self) -> None:
        for field, value in (("base_ms", self.base_ms), ("slope_ms", self.slope_ms)):
            if not 0 <= value < np.inf:
                raise InputError(f"affine profile: {field} = {value} violates 0 <= {field} < inf")
        _check_chunk(self.chunk_tokens)

    def ms(self, prefix_tokens: ArrayLike) -> NDArray[np.float64]:
        """w(p) in ms."""
        return self.base_ms + self.slope_ms * _checked_prefix(prefix_tokens)

    def for_chunk(self, chunk_tokens: int) -> Affine:
        """Affine profile of a chunk of another length.

        A token after t others costs α + β·t; the two numbers follow from this profile. For a multiple of
        `chunk_tokens` the result is exactly the sum of consecutive chunks; for a part it is an
        extrapolation, because small chunks use a GPU less well.
        """
        _check_chunk(chunk_tokens)
        ratio = chunk_tokens / self.chunk_tokens
        base = ratio * (self.base_ms + self.slope_ms * (chunk_tokens - self.chunk_tokens) / 2)
        if base < 0:
            raise InputError(
                f"affine profile {self} is too steep to be cut into chunks of {chunk_tokens} tokens"
            )
        return Affine(base, ratio * self.slope_ms, chunk_tokens)

    def breakpoints(self, limit: float) -> NDArray[np.float64]:
        """0 and `limit`."""
        return np.array([0.0, limit])


@dataclass(frozen=True)
class Interpolated:
    """Piecewise linear through measured points.

    Parameters
    ----------
    prefix_tokens : sequence of K ≥ 1 numbers
        Measured prefix lengths, strictly ascending, ≥ 0.
    cost_ms : sequence of K numbers
        Measured costs, ≥ 0, finite.
    chunk_tokens : int, default 512
    outside : "extend" or "error"
        Outside the measured range either the nearest segment is continued in a straight line (the default; a
        single point continues as a constant, and a line that would fall below 0 stops there), or an
        :class:`InputError` names the prefix.
    """

    prefix_tokens: tuple[float, ...]
    cost_ms: tuple[float, ...]
    chunk_tokens: int = 512
    outside: Outside = "extend"

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix_tokens", tuple(float(p) for p in self.prefix_tokens))
        object.__setattr__(self, "cost_ms", tuple(float(c) for c in self.cost_ms))
        _check_points(self.prefix_tokens, self.cost_ms)
        _check_chunk(self.chunk_tokens)
        if self.outside not in ("extend", "error"):
            raise InputError(f"outside is {self.outside!r}, not 'extend' or 'error'")

    def ms(self, prefix_tokens: ArrayLike) -> NDArray[np.float64]:
        """w(p) in ms; see the class for the rule outside the measured range."""
        p = _checked_prefix(prefix_tokens)
        x, y = np.array(self.prefix_tokens), np.array(self.cost_ms)
        beyond = (p < x[0]) | (p > x[-1])
        if self.outside == "error" and beyond.any():
            raise InputError(
                f"prefix of {p[beyond].flat[0]:g} tokens is outside the measured {x[0]:g} to {x[-1]:g}"
            )
        if x.size == 1:
            return np.full(p.shape, y[0])
        # The segment to the left of each point, clipped to the first and last, continues outside the range.
        segment = np.clip(np.searchsorted(x, p, side="right") - 1, 0, x.size - 2)
        slope = np.diff(y) / np.diff(x)
        cost: NDArray[np.float64] = np.maximum(y[segment] + slope[segment] * (p - x[segment]), 0.0)
        return cost

    def for_chunk(self, chunk_tokens: int) -> Interpolated:
        """Profile of a multiple of the measured chunk: consecutive chunks summed, at the measured prefixes.

        Raises
        ------
        InputError
            When `chunk_tokens` is no multiple of the measured chunk: a measurement does not say what a part
            costs.
        """
        times = _whole_multiple(chunk_tokens, self.chunk_tokens)
        starts = np.array(self.prefix_tokens)
        if self.outside == "error":
            starts = starts[starts + self.chunk_tokens * (times - 1) <= starts[-1]]
        parts = starts[:, None] + self.chunk_tokens * np.arange(times)
        return Interpolated(tuple(starts), tuple(self.ms(parts).sum(1)), chunk_tokens, self.outside)

    def breakpoints(self, limit: float) -> NDArray[np.float64]:
        """0, the measured points, the points where a continued line stops at 0, and `limit`.

        With ``outside="error"`` only the measured points up to `limit`.
        """
        x, y = np.array(self.prefix_tokens), np.array(self.cost_ms)
        if self.outside == "error":
            return x[x <= limit]
        stops = [
            x[i] - y[i] * (x[j] - x[i]) / (y[j] - y[i])
            for i, j in ((0, 1), (-1, -2))
            if x.size > 1 and y[i] != y[j]
        ]
        inner = np.concatenate((x, stops))
        points: NDArray[np.float64] = np.concatenate(([0.0], inner[(inner > 0) & (inner < limit)], [limit]))
        return np.unique(points)


@dataclass(frozen=True)
class Table:
    """Costs known only at the listed prefix lengths; any other is an error, nothing is interpolated.

    The parameters are those of :class:`Interpolated`. This is the choice when every chunk boundary that
    occurs was measured, and a guess in between would be wrong (cost jumps when a kernel changes its
    tiling).
    """

    prefix_tokens: tuple[float, ...]
    cost_ms: tuple[float, ...]
    chunk_tokens: int = 512

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix_tokens", tuple(float(p) for p in self.prefix_tokens))
        object.__setattr__(self, "cost_ms", tuple(float(c) for c in self.cost_ms))
        _check_points(self.prefix_tokens, self.cost_ms)
        _check_chunk(self.chunk_tokens)

    def ms(self, prefix_tokens: ArrayLike) -> NDArray[np.float64]:
        """w(p) in ms at measured prefixes.

        Raises
        ------
        InputError
            Naming the first prefix that was not measured.
        """
        p = _checked_prefix(prefix_tokens)
        x = np.array(self.prefix_tokens)
        at = np.minimum(np.searchsorted(x, p), x.size - 1)
        missing = x[at] != p
        if missing.any():
            raise InputError(f"the table has no cost after a prefix of {p[missing].flat[0]:g} tokens")
        return np.array(self.cost_ms)[at]

    def for_chunk(self, chunk_tokens: int) -> Table:
        """Table of a multiple of the measured chunk, at the prefixes where all its parts were measured."""
        times = _whole_multiple(chunk_tokens, self.chunk_tokens)
        cost = dict(zip(self.prefix_tokens, self.cost_ms, strict=True))
        parts = {p: [p + self.chunk_tokens * i for i in range(times)] for p in cost}
        sums = {p: sum(cost[q] for q in parts[p]) for p in cost if all(q in cost for q in parts[p])}
        if not sums:
            raise InputError(f"no {times} consecutive chunks of {self.chunk_tokens} tokens are in the table")
        return Table(tuple(sums), tuple(sums.values()), chunk_tokens)

    def breakpoints(self, limit: float) -> NDArray[np.float64]:
        """The measured points up to `limit`."""
        return np.array([p for p in self.prefix_tokens if p <= limit])


def recompute_matrix(
    tree: PrefixTree, profiles: Sequence[RecomputeProfile], chunk_tokens: int | None = None
) -> NDArray[np.float64]:
    """w_m(b) in ms, shape (M, n) in preorder: the profile of worker m after the ``depth(b)`` chunks above b.

    Parameters
    ----------
    tree : PrefixTree
    profiles : sequence of M profiles
        One per worker. Equal profiles are evaluated once.
    chunk_tokens : int, optional
        Tokens per chunk of the tree. Profiles of another length are converted with ``for_chunk``; by
        default all must agree.

    Raises
    ------
    InputError
        When profiles disagree on the chunk length, or one has no cost at a depth of the tree.
    """
    if chunk_tokens is None:
        lengths = sorted({profile.chunk_tokens for profile in profiles})
        if len(lengths) != 1:
            raise InputError(
                f"profiles are for chunks of {lengths} tokens: say which chunk_tokens the tree has"
            )
        chunk_tokens = lengths[0]
    deepest = int(tree.depth.max()) + 1 if tree.n else 0
    prefix = chunk_tokens * np.arange(deepest)  # one evaluation per depth, not per chunk
    rows: dict[RecomputeProfile, NDArray[np.float64]] = {}
    matrix = np.empty((len(profiles), tree.n))
    for m, profile in enumerate(profiles):
        if profile not in rows:
            fitting = profile if profile.chunk_tokens == chunk_tokens else profile.for_chunk(chunk_tokens)
            rows[profile] = fitting.ms(prefix)
        matrix[m] = rows[profile][tree.depth]
    return matrix


def _checked_prefix(prefix_tokens: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(prefix_tokens, np.float64)
    bad = ~((p >= 0) & np.isfinite(p))
    if bad.any():
        raise InputError(f"prefix length {p[bad].flat[0]} violates 0 <= prefix_tokens < inf")
    return p


def _check_chunk(chunk_tokens: int) -> None:
    if isinstance(chunk_tokens, bool) or not isinstance(chunk_tokens, int | np.integer) or chunk_tokens < 1:
        raise InputError(f"chunk_tokens = {chunk_tokens!r} violates chunk_tokens >= 1 (a whole number)")


def _check_points(prefix_tokens: tuple[float, ...], cost_ms: tuple[float, ...]) -> None:
    if not prefix_tokens or len(prefix_tokens) != len(cost_ms):
        raise InputError(
            f"a profile needs one cost per prefix: {len(prefix_tokens)} prefixes, {len(cost_ms)} costs"
        )
    _checked_prefix(prefix_tokens)
    for i, cost in enumerate(cost_ms):
        if not 0 <= cost < np.inf:
            raise InputError(f"cost after {prefix_tokens[i]:g} tokens is {cost}: must be finite and ≥ 0")
        if i and prefix_tokens[i] <= prefix_tokens[i - 1]:
            raise InputError(
                f"prefix lengths must ascend: {prefix_tokens[i]:g} comes after {prefix_tokens[i - 1]:g}"
            )


def _whole_multiple(chunk_tokens: int, measured: int) -> int:
    _check_chunk(chunk_tokens)
    if chunk_tokens % measured:
        raise InputError(f"a chunk of {chunk_tokens} tokens is no multiple of the measured {measured}")
    return chunk_tokens // measured
