"""Fetch costs given by a transfer model instead of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError

__all__ = ["TransferModel"]

Block = slice | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TransferModel:
    """Cost of moving one chunk over a link: ``overhead_ms + 8e3 · chunk_bytes / goodput_bps`` milliseconds.

    The sizes and links are all that is stored, so that source-dependent costs of a million chunks need
    n + 2·M² numbers and not M·M·n.

    Parameters
    ----------
    chunk_bytes : float or array, shape (n,)
        Size Z_b of a chunk in bytes, finite and ≥ 0, in preorder of the tree. A number stands for every chunk.
    goodput_bps : float, array of shape (M,) or (M, M)
        Effective goodput r in bit/s. One number for all, one per requester, or ``[requester, holder]``.
        0 means that there is no link: the fetch costs ``inf``.
    overhead_ms : float, array of shape (M,) or (M, M), default 0
        Fixed part per chunk in ms, of the same three shapes.

    Examples
    --------
    A 29.36 MB chunk at 3 Gb/s:

    >>> float(TransferModel(29_360_128, 3e9).requester_costs(1, 1).round(1)[0, 0])
    78.3
    """

    chunk_bytes: NDArray[np.float64]
    goodput_bps: NDArray[np.float64]
    overhead_ms: NDArray[np.float64]

    def __init__(self, chunk_bytes: ArrayLike, goodput_bps: ArrayLike, overhead_ms: ArrayLike = 0.0) -> None:
        for name, value, dimensions in (
            ("chunk_bytes", chunk_bytes, (0, 1)),
            ("goodput_bps", goodput_bps, (0, 1, 2)),
            ("overhead_ms", overhead_ms, (0, 1, 2)),
        ):
            try:
                array = np.array(value, np.float64)
            except (TypeError, ValueError):
                raise InputError(f"{name} of a transfer model is no number and no array of numbers") from None
            if array.ndim not in dimensions or (array.ndim == 2 and array.shape[0] != array.shape[1]):
                raise InputError(f"{name} of a transfer model has shape {array.shape}")
            bad = np.argwhere(~(np.isfinite(array) & (array >= 0)))
            if bad.size or (array.ndim == 0 and not (np.isfinite(array) and array >= 0)):
                place = "" if array.ndim == 0 else str(bad[0].tolist())
                raise InputError(f"{name}{place} is {array[tuple(bad[0])]}: must be finite and ≥ 0")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[Any, ...]:
        return TransferModel, (
            self.chunk_bytes,
            self.goodput_bps,
            self.overhead_ms,
        )  # a copy is read-only too

    @property
    def source_dependent(self) -> bool:
        """Whether the cost depends on which peer holds the chunk."""
        return self.goodput_bps.ndim == 2 or self.overhead_ms.ndim == 2

    def expanded(self, workers: int, chunks: int) -> TransferModel:
        """The same model with full arrays: sizes (n,), links (M, M).

        Raises
        ------
        InputError
            When a shape fits neither M nor n.
        """
        if self.chunk_bytes.ndim == 1 and self.chunk_bytes.size != chunks:
            raise InputError(f"chunk_bytes has {self.chunk_bytes.size} entries for {chunks} chunks")
        links = []
        for name in ("goodput_bps", "overhead_ms"):
            array: NDArray[np.float64] = getattr(self, name)
            if array.ndim and array.shape[0] != workers:
                raise InputError(f"{name} has shape {array.shape} for {workers} workers")
            links.append(np.broadcast_to(array[:, None] if array.ndim == 1 else array, (workers, workers)))
        return TransferModel(np.broadcast_to(self.chunk_bytes, (chunks,)), *links)

    def requester_costs(self, workers: int, chunks: int) -> NDArray[np.float64]:
        """f_m(b) in ms, shape (M, n), of a model whose cost does not depend on the holder."""
        if self.source_dependent:
            raise InputError("this transfer model depends on the holder; ask for holder_costs")
        full = self.expanded(workers, chunks)
        return full._costs(full.goodput_bps[:, :1], full.overhead_ms[:, :1], full.chunk_bytes)

    def holder_costs(self, holder: int, block: Block) -> NDArray[np.float64]:
        """f_{m←h}(b) in ms for every requester m, shape (M, len(block)); needs the :meth:`expanded` model."""
        return self._costs(
            self.goodput_bps[:, holder, None], self.overhead_ms[:, holder, None], self.chunk_bytes[block]
        )

    @staticmethod
    def _costs(
        goodput: NDArray[np.float64], overhead: NDArray[np.float64], size: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        linked = goodput > 0
        with np.errstate(over="ignore"):  # a cost beyond float64 is inf: no fetch is that slow
            cost = overhead + 8e3 * size / np.where(linked, goodput, 1.0)
        return np.where(linked, cost, np.inf)
