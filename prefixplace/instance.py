"""One planning problem: tree, demand, costs and budgets, checked once at the door."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace.errors import InputError
from prefixplace.objective import Objective, Pairwise, RequesterSide
from prefixplace.placement import Placement
from prefixplace.transfer import TransferModel
from prefixplace.tree import PrefixTree

__all__ = ["Instance"]


class Instance:
    """Coordinated placement of prefix KV caches for one planning epoch.

    Parameters
    ----------
    tree : PrefixTree
        Forest of n placement chunks.
    demand : float array-like, shape (M, n)
        Λ_m(b): requests per epoch routed to worker m whose prefix needs chunk b; ≥ 0, finite.
    recompute : float array-like, shape (M, n)
        w_m(b): ms for m to recompute b, its prefix being there; ≥ 0, finite.
    fetch : float array-like of shape (M, n) or (M, M, n), or TransferModel
        f_m(b), or f_{m←h}(b) as ``[requester, holder, chunk]``: ms to fetch b from a peer; ≥ 0, ``inf`` = cannot.
        The diagonal of the source-dependent form is 0 by definition, whatever is given.
    budgets : int array-like, shape (M,)
        k_m: chunks that m can hold; ≥ 0, may exceed n.
    name : str
        Shown in tables.
    workers : sequence of M distinct str, optional
        Names of the workers; ``worker-0`` … when left out.
    meta : mapping, optional
        JSON-able facts that travel with the instance (known optimum, origin …).

    All arrays are in preorder of `tree` (see :meth:`PrefixTree.to_preorder`), are copied and are read-only
    afterwards. A worker or chunk that breaks a rule is named in the :class:`InputError`.

    Notes
    -----
    A chunk kept by m costs m nothing. One kept only by peers costs min(w, fetch from the best holder), one kept
    by nobody costs w. The objective is the saving against recomputing everything, in ms per epoch: requester-side
    (separable) when `fetch` does not depend on the holder, pairwise otherwise. The problem is strongly NP-hard;
    one worker alone is solved exactly by :func:`prefixplace.best_closed_set`.
    """

    tree: PrefixTree
    demand: NDArray[np.float64]
    recompute: NDArray[np.float64]
    fetch: NDArray[np.float64] | TransferModel
    budgets: NDArray[np.int64]

    def __init__(
        self,
        tree: PrefixTree,
        *,
        demand: ArrayLike,
        recompute: ArrayLike,
        fetch: ArrayLike | TransferModel,
        budgets: ArrayLike,
        name: str = "",
        workers: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self._enter(tree, budgets, name, workers, meta)
        shape = (self.num_workers, tree.n)
        self.demand = self._checked("demand", demand, shape)
        self.recompute = self._checked("recompute", recompute, shape)
        self.fetch = self._checked_fetch(fetch)
        self._given: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._check_values()

    @classmethod
    def from_values(
        cls,
        tree: PrefixTree,
        *,
        local: ArrayLike,
        coverage: ArrayLike,
        budgets: ArrayLike,
        name: str = "",
        workers: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Instance:
        """Requester-side instance from local values a_m(b), shape (M, n), and coverage values Δ(b), shape (n,).

        Any a, Δ ≥ 0 are legal: with demand 1, fetch a_m and recompute a_m + Δ/M they are real costs, and these
        are what the baselines see. The objective uses the given a and Δ exactly.
        """
        self = cls.__new__(cls)
        self._enter(tree, budgets, name, workers, meta)
        shape = (self.num_workers, tree.n)
        a = self._checked("local", local, shape)
        delta = self._checked("coverage", np.asarray(coverage)[None], (1, tree.n))[0]
        self._given = (a, delta)
        self.demand = _read_only(np.ones(shape))
        self.fetch = a
        self.recompute = _read_only(a + delta / self.num_workers)
        self._check_values()
        return self

    def _enter(
        self,
        tree: PrefixTree,
        budgets: ArrayLike,
        name: str,
        workers: Sequence[str] | None,
        meta: Mapping[str, Any] | None,
    ) -> None:
        if not isinstance(meta or {}, Mapping):
            raise InputError(f"meta must be a mapping, not {type(meta).__name__}")
        self.tree, self.name, self.meta = tree, _checked_text("name", name), copy.deepcopy(dict(meta or {}))
        self.budgets = _checked_budgets(budgets)
        count = self.budgets.size
        names = tuple(f"worker-{m}" for m in range(count)) if workers is None else tuple(workers)
        if len(names) != count:
            raise InputError(f"{len(names)} worker names for {count} budgets")
        for m, worker in enumerate(names):
            if _checked_text(f"the name of worker {m}", worker) in names[:m]:
                raise InputError(f"workers {names.index(worker)} and {m} are both called {worker!r}")
        self.workers = names
        self.named_workers = workers is not None

    @property
    def num_workers(self) -> int:
        """Number of workers M."""
        return int(self.budgets.size)

    @property
    def num_chunks(self) -> int:
        """Number of chunks n."""
        return self.tree.n

    @property
    def pairwise(self) -> bool:
        """Whether fetch costs depend on the holder, so that the objective is F_pair."""
        return isinstance(self.fetch, TransferModel) or self.fetch.ndim == 3

    @property
    def has_values(self) -> bool:
        """Whether the instance was given by local and coverage values instead of costs."""
        return self._given is not None

    @cached_property
    def local_value(self) -> NDArray[np.float64]:
        """a_m(b) = Λ_m(b)·min{w_m(b), f_m(b)} in ms per epoch, shape (M, n); requester-side only."""
        if self._given is not None:
            return self._given[0]
        return _read_only(self.demand * np.minimum(self.recompute, self._requester_fetch()))

    @cached_property
    def coverage_value(self) -> NDArray[np.float64]:
        """Δ(b) = Σ_m Λ_m(b)·[w_m(b) − f_m(b)]₊ in ms per epoch, shape (n,); requester-side only."""
        if self._given is not None:
            return self._given[1]
        total = np.zeros(self.num_chunks)
        for m, fetch in enumerate(self._requester_fetch()):
            total += self.demand[m] * np.maximum(self.recompute[m] - fetch, 0.0)
        return _read_only(total)

    def _requester_fetch(self) -> NDArray[np.float64]:
        if isinstance(self.fetch, TransferModel) or self.fetch.ndim == 3:
            raise InputError(
                "local and coverage values exist only where the fetch cost does not depend on the holder; "
                "this instance is pairwise: use instance.objective.saving"
            )
        return self.fetch

    @cached_property
    def objective(self) -> Objective:
        """The objective function: :class:`RequesterSide` or :class:`Pairwise`."""
        if self.pairwise:
            return Pairwise(self.demand, self.recompute, self.fetch)
        return RequesterSide(self.local_value, self.coverage_value)

    def value(self, placement: Placement) -> float:
        """F or F_pair of a placement: ms saved per epoch against recomputing everything.

        Raises
        ------
        InputError
            When the placement belongs to another tree, has another number of workers or breaks a budget.
        """
        self.check(placement)
        return self.objective.value(placement.mask)

    def check(self, placement: Placement) -> None:
        """Raise :class:`InputError` unless `placement` fits this instance (tree, workers, budgets)."""
        if not isinstance(placement, Placement):
            raise InputError(f"a plan must be a Placement, not {type(placement).__name__}")
        if placement.tree is not self.tree and placement.tree != self.tree:
            raise InputError("the placement belongs to another tree")
        placement.check_budgets(self.budgets)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the numbers that define the problem, in the order in which the nodes were given.

        Names, labels and meta do not enter: two instances with the same digest have the same plans and values.
        """
        hasher = hashlib.sha256(b"prefixplace-instance 1")

        def add(field: str, array: NDArray[Any]) -> None:
            hasher.update(f"|{field} {array.dtype.str} {array.shape}|".encode())
            hasher.update(np.ascontiguousarray(array).data)

        tree = self.tree
        add("parent", tree.given_parents.astype("<i8"))
        add("budgets", self.budgets.astype("<i8"))
        if self._given is not None:
            add("local", _canonical(tree.to_given(self._given[0])))
            add("coverage", _canonical(tree.to_given(self._given[1])))
            return hasher.hexdigest()
        add("demand", _canonical(tree.to_given(self.demand)))
        add("recompute", _canonical(tree.to_given(self.recompute)))
        if isinstance(self.fetch, TransferModel):
            add("chunk_bytes", _canonical(tree.to_given(self.fetch.chunk_bytes)))
            add("goodput_bps", _canonical(self.fetch.goodput_bps))
            add("overhead_ms", _canonical(self.fetch.overhead_ms))
        else:
            add("fetch", _canonical(tree.to_given(self.fetch)))
        return hasher.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        # through the door again: copies and pickles are checked and read-only as well
        common = {
            "budgets": self.budgets,
            "name": self.name,
            "workers": self.workers if self.named_workers else None,
            "meta": self.meta,
        }
        if self._given is not None:
            return _rebuilt, (
                Instance.from_values,
                self.tree,
                {"local": self._given[0], "coverage": self._given[1], **common},
            )
        costs = {"demand": self.demand, "recompute": self.recompute, "fetch": self.fetch}
        return _rebuilt, (Instance, self.tree, {**costs, **common})

    def __repr__(self) -> str:
        kind = "pairwise" if self.pairwise else "requester-side"
        return f"Instance({self.name!r}, n={self.num_chunks}, workers={self.num_workers}, {kind})"

    def _repr_html_(self) -> str:
        from prefixplace.html import instance_html

        return instance_html(self)

    def _checked(
        self, field: str, values: ArrayLike, shape: tuple[int, ...], infinite: bool = False
    ) -> NDArray[np.float64]:
        try:
            raw = np.asarray(values)
        except ValueError as error:
            raise InputError(f"{field} is ragged: {error}") from None
        if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
            raise InputError(f"{field} has masked entries: give them a value")
        if raw.shape != shape and not (raw.size == 0 and 0 in shape):
            raise InputError(f"{field} has shape {raw.shape}, not {shape}")
        if raw.dtype.kind not in "iufb":
            raise InputError(f"{field} holds {raw.dtype}, not real numbers")
        array = np.array(raw, np.float64).reshape(shape)
        allowed = array >= 0 if infinite else (array >= 0) & (array < np.inf)
        if not allowed.all():
            index = np.argwhere(~allowed)[0]
            raise InputError(
                f"{field} of {self._place(field, index)} is {array[tuple(index)]}: "
                f"must be a number ≥ 0{'' if infinite else ' and finite'}"
            )
        return _read_only(array)

    def _place(self, field: str, index: NDArray[np.int64]) -> str:
        chunk = int(index[-1])
        at = f"chunk {self.tree.origin[chunk]}"
        if self.tree.has_labels:
            at += f" ({self.tree.labels[chunk]!r})"
        if field == "coverage":
            return at
        place = f"worker {index[0]} ({self.workers[index[0]]})"
        if index.size == 3:
            place += f" from holder {index[1]} ({self.workers[index[1]]})"
        return f"{place}, {at}"

    def _checked_fetch(self, fetch: ArrayLike | TransferModel) -> NDArray[np.float64] | TransferModel:
        workers, chunks = self.num_workers, self.num_chunks
        if isinstance(fetch, TransferModel):
            if fetch.source_dependent:
                return fetch.expanded(workers, chunks)
            return _read_only(fetch.requester_costs(workers, chunks))
        array = np.asarray(fetch)
        if array.ndim == 3 and array.shape == (workers, workers, chunks) and array.dtype.kind in "iufb":
            array = np.array(array, np.float64)
            array[np.arange(workers), np.arange(workers)] = 0.0
            return self._checked("fetch", array, (workers, workers, chunks), infinite=True)
        if array.ndim == 3:
            raise InputError(f"fetch has shape {array.shape}, not {(workers, workers, chunks)}")
        return self._checked("fetch", fetch, (workers, chunks), infinite=True)

    def _check_values(self) -> None:
        """Refuse data whose products or sums overflow, before any method meets an infinity."""
        largest = np.zeros(self.num_chunks)
        with np.errstate(over="ignore"):
            for m in range(self.num_workers):
                largest += self.demand[m] * self.recompute[m]
            total = largest.sum() + (self._given[0].sum() + self._given[1].sum() if self._given else 0.0)
        if not np.isfinite(total):
            raise InputError(
                "the total cost of recomputing everything (demand × recompute) overflows a float64"
            )


def _rebuilt(make: Callable[..., Instance], tree: PrefixTree, fields: dict[str, Any]) -> Instance:
    return make(tree, **fields)


def _checked_text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}, not a string")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is {text!r}, which holds half a character (a lone surrogate)") from None
    return text


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


def _canonical(array: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(array + 0.0, "<f8")  # −0.0 and 0.0 are the same number


def _checked_budgets(budgets: ArrayLike) -> NDArray[np.int64]:
    raw = np.asarray(budgets)
    if raw.ndim != 1 or raw.size == 0:
        raise InputError(f"budgets must list one whole number per worker, not have shape {raw.shape}")
    for m, budget in enumerate(raw.tolist()):
        number = isinstance(budget, int | float | np.integer | np.floating) and not isinstance(budget, bool)
        if not number or budget != budget or budget < 0:
            raise InputError(f"budget of worker {m} is {budget!r}: must be a whole number ≥ 0")
        if int(min(budget, 2**62)) != budget:
            raise InputError(f"budget of worker {m} is {budget!r}: must be a whole number below 2^62")
    array = raw.astype(np.int64)
    array.setflags(write=False)
    return array
