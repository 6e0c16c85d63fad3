"""A placement: which chunks every worker keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.tree import PrefixTree

__all__ = ["Placement"]


class Placement:
    """The resident targets T_1 … T_M of all workers, each parent-closed.

    Parameters
    ----------
    tree : PrefixTree
    mask : bool array-like, shape (M, n)
        ``mask[m, b]``: worker m keeps chunk b (preorder).
    budgets : int array-like, shape (M,), optional
        When given, sizes are checked against them too.

    Raises
    ------
    InputError
        For a wrong shape, a chunk without its parent, or a set over its budget; the message names worker and chunk.
    """

    tree: PrefixTree
    mask: NDArray[np.bool_]

    def __init__(self, tree: PrefixTree, mask: ArrayLike, budgets: ArrayLike | None = None) -> None:
        try:
            array = np.array(mask)
        except ValueError as error:
            raise InputError(f"a placement mask is ragged: {error}") from None
        if array.dtype != np.bool_ and not (array.size == 0 or np.isin(array, (0, 1)).all()):
            raise InputError("a placement mask holds only true and false")
        array = array.astype(np.bool_)
        if array.ndim != 2 or array.shape[1] != tree.n:
            raise InputError(f"a placement mask has shape (workers, {tree.n}), not {array.shape}")
        orphan = array & (tree.parent >= 0) & ~array[:, tree.parent]
        if orphan.any():
            m, b = (int(x) for x in np.argwhere(orphan)[0])
            raise InputError(
                f"worker {m} keeps chunk {tree.origin[b]} without its parent chunk {tree.origin[tree.parent[b]]}"
            )
        array.setflags(write=False)
        self.tree, self.mask = tree, array
        if budgets is not None:
            self.check_budgets(np.asarray(budgets))

    @classmethod
    def empty(cls, tree: PrefixTree, workers: int) -> Placement:
        """The placement of `workers` workers that keeps nothing."""
        return cls(tree, np.zeros((workers, tree.n), np.bool_))

    @classmethod
    def from_sets(cls, tree: PrefixTree, sets: Sequence[Iterable[int]], *, given: bool = False) -> Placement:
        """Placement from one collection of chunks per worker.

        Chunks are preorder positions, or with ``given=True`` the numbers under which the tree got them (the
        numbers of a file). A chunk that is named twice or does not exist raises :class:`InputError`.
        """
        mask = np.zeros((len(sets), tree.n), np.bool_)
        for m, chunks in enumerate(sets):
            for chunk in chunks:
                whole = isinstance(chunk, int | np.integer) and not isinstance(chunk, bool)
                if not whole or not 0 <= chunk < tree.n:
                    raise InputError(
                        f"worker {m} keeps chunk {chunk!r}, which is not a chunk number below {tree.n}"
                    )
                b = int(tree.position[int(chunk)]) if given else int(chunk)
                if mask[m, b]:
                    raise InputError(f"worker {m} keeps chunk {chunk} twice")
                mask[m, b] = True
        return cls(tree, mask)

    @property
    def num_workers(self) -> int:
        """Number of workers M."""
        return int(self.mask.shape[0])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Chunks kept by each worker, shape (M,)."""
        return np.count_nonzero(self.mask, axis=1).astype(np.int64)

    @property
    def holders(self) -> NDArray[np.int64]:
        """How many workers keep each chunk, shape (n,)."""
        return np.count_nonzero(self.mask, axis=0).astype(np.int64)

    def sets(self, *, given: bool = False) -> list[NDArray[np.int64]]:
        """Chunks of each worker, ascending: preorder positions, or the given numbers with ``given=True``."""
        rows = self.tree.to_given(self.mask) if given else self.mask
        return [np.flatnonzero(row) for row in rows]

    def check_budgets(self, budgets: NDArray[np.int64]) -> None:
        """Raise :class:`InputError` when a worker keeps more chunks than `budgets` (shape (M,)) allow."""
        if budgets.shape != (self.num_workers,):
            raise InputError(f"the placement has {self.num_workers} workers, the budgets {budgets.shape}")
        for m, (size, budget) in enumerate(zip(self.sizes.tolist(), budgets.tolist(), strict=True)):
            if size > budget:
                raise InputError(f"worker {m} keeps {size} chunks with a budget of {budget}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        return self.tree == other.tree and np.array_equal(self.mask, other.mask)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Placement, (self.tree, self.mask)  # through the door again, so that a copy is read-only too

    def __repr__(self) -> str:
        return f"Placement(workers={self.num_workers}, sizes={self.sizes.tolist()})"
