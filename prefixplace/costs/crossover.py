"""Fetch or recompute: where the cheaper action changes, and how fast a link must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.costs.profiles import RecomputeProfile, Table
from prefixplace.errors import InputError

__all__ = ["break_even_goodput_bps", "crossover_depth", "crossovers", "fetch_ms"]


def fetch_ms(
    chunk_bytes: ArrayLike, goodput_bps: ArrayLike, overhead_ms: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """f = overhead_ms + 8e3 · chunk_bytes / goodput_bps in ms; a goodput of 0 gives ``inf`` (no link).

    The scalar form of :class:`prefixplace.transfer.TransferModel`, for curves and tables. Shapes broadcast.

    Examples
    --------
    >>> float(fetch_ms(29_360_128, 3e9).round(1))
    78.3
    """
    size, goodput, overhead = (np.asarray(x, np.float64) for x in (chunk_bytes, goodput_bps, overhead_ms))
    for field, array in (("chunk_bytes", size), ("goodput_bps", goodput), ("overhead_ms", overhead)):
        if not (np.isfinite(array) & (array >= 0)).all():
            raise InputError(f"{field} = {array} violates 0 <= {field} < inf")
    linked = goodput > 0
    return np.where(linked, overhead + 8e3 * size / np.where(linked, goodput, 1.0), np.inf)


def crossovers(profile: RecomputeProfile, fetch_ms: float, limit_tokens: float) -> NDArray[np.float64]:
    """Prefix lengths in (0, limit] where the cheaper action changes, ascending; often none or one.

    Fetching is preferred exactly where w(p) > f, as in the objective. Exact for profiles that are linear
    between their breakpoints; for a :class:`Table` the first measured length of each new regime is
    returned, since nothing is known in between.

    Parameters
    ----------
    profile : RecomputeProfile
    fetch_ms : float
        Cost f of fetching the chunk, ≥ 0, may be ``inf``.
    limit_tokens : float
        End of the range, > 0.
    """
    if not fetch_ms >= 0:
        raise InputError(f"fetch_ms = {fetch_ms} violates fetch_ms >= 0")
    if not 0 < limit_tokens < np.inf:
        raise InputError(f"limit_tokens = {limit_tokens} violates 0 < limit_tokens < inf")
    p = profile.breakpoints(limit_tokens)
    if p.size < 2 or fetch_ms == np.inf:
        return np.empty(0)
    excess = profile.ms(p) - fetch_ms
    change = np.flatnonzero((excess[1:] > 0) != (excess[:-1] > 0))
    if isinstance(profile, Table):
        return p[change + 1]
    low, high = excess[change], excess[change + 1]
    return p[change] + (p[change + 1] - p[change]) * (low / (low - high))


def crossover_depth(profile: RecomputeProfile, fetch_ms: float, limit_tokens: float) -> float:
    """Smallest prefix length in tokens from which fetching is cheaper.

    0.0 when fetching already wins after an empty prefix, ``inf`` when recomputing wins up to `limit_tokens`.

    Examples
    --------
    Qwen2.5-7B on an A100 at 3 Gb/s (the paper: near 6.1K tokens):

    >>> from prefixplace.costs import profile
    >>> round(crossover_depth(profile("A100", "qwen2.5-7b"), 78.293675, 32_768))
    6039
    """
    changes = crossovers(profile, fetch_ms, limit_tokens)
    if float(profile.ms(profile.breakpoints(limit_tokens)[:1])[0]) > fetch_ms:
        return 0.0
    return float(changes[0]) if changes.size else np.inf


def break_even_goodput_bps(
    profile: RecomputeProfile, chunk_bytes: float, prefix_tokens: ArrayLike, overhead_ms: float = 0.0
) -> NDArray[np.float64]:
    """r*(p) = 8e3 · Z / (w(p) − overhead) in bit/s: the goodput above which fetching the chunk is cheaper.

    ``inf`` where the overhead alone is not below the cost of recomputing.

    Examples
    --------
    >>> from prefixplace.costs import profile
    >>> (break_even_goodput_bps(profile("A100", "qwen2.5-7b"), 29_360_128, 0) / 1e9).round(2).tolist()
    4.88
    """
    if not 0 < chunk_bytes < np.inf:
        raise InputError(f"chunk_bytes = {chunk_bytes} violates 0 < chunk_bytes < inf")
    if not 0 <= overhead_ms < np.inf:
        raise InputError(f"overhead_ms = {overhead_ms} violates 0 <= overhead_ms < inf")
    spare = profile.ms(prefix_tokens) - overhead_ms
    return np.where(spare > 0, 8e3 * chunk_bytes / np.where(spare > 0, spare, 1.0), np.inf)
