"""Bin packing and 3-PARTITION as spiders: a leg of s chunks for an item of size s, a worker for a bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.construction import Construction, Drawn, chain_forest, from_values
from instances.known import Known
from prefixplace.errors import InputError

__all__ = ["BinPacking", "BinPackingProblem", "ThreePartition", "bin_packing", "first_fit_decreasing"]


@dataclass(frozen=True)
class BinPackingProblem:
    """Items to pack into equal bins.

    Parameters
    ----------
    capacity : int
        Size of a bin, ≥ 1.
    sizes : tuple of int
        Sizes of the items, each in 1 … capacity.
    name : str
    """

    capacity: int
    sizes: tuple[int, ...]
    name: str = ""

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InputError(f"bin packing {self.name!r}: capacity is {self.capacity}, must be ≥ 1")
        for i, size in enumerate(self.sizes):
            if not 1 <= size <= self.capacity:
                raise InputError(
                    f"bin packing {self.name!r}: item {i} has size {size}, not 1 … {self.capacity}"
                )


def first_fit_decreasing(problem: BinPackingProblem) -> list[list[int]]:
    """A packing as item numbers per bin: items by falling size, each into the first bin that has room.

    At most 11/9·OPT + 6/9 bins (Dósa 2007). O(items · bins).
    """
    bins: list[list[int]] = []
    room: list[int] = []
    for i in sorted(range(len(problem.sizes)), key=lambda i: (-problem.sizes[i], i)):
        size = problem.sizes[i]
        for j, free in enumerate(room):
            if size <= free:
                bins[j].append(i)
                room[j] -= size
                break
        else:
            bins.append([i])
            room.append(problem.capacity - size)
    return bins


def bin_packing(
    problem: BinPackingProblem, bins: int, packing: Sequence[Sequence[int]] | None = None, **header: object
) -> Drawn:
    """The spider of a bin packing problem: Δ = 1 on every chunk, no local value, `bins` workers of that capacity.

    A leg is covered completely only by one worker that keeps all of it, so everything can be covered if and only
    if the items fit into `bins` bins. This makes the problem strongly NP-hard even with uniform costs.

    Parameters
    ----------
    problem : BinPackingProblem
    bins : int
        M ≥ 1.
    packing : item numbers per bin, optional
        A packing into at most `bins` bins; when left out, first fit decreasing is tried. With a packing, or in
        the trivial cases, the optimum is known and travels in the meta.
    header
        ``name`` and ``meta`` of the instance; the name is the problem's when left out.

    Raises
    ------
    InputError
        When `packing` is no packing into that many bins.
    """
    if bins < 1:
        raise InputError(f"bin packing {problem.name!r}: {bins} bins, must be ≥ 1")
    parents, start = chain_forest(problem.sizes)
    n = parents.size
    if packing is None:
        packing = first_fit_decreasing(problem)
        packing = packing if len(packing) <= bins else None
    else:
        _check_packing(problem, bins, packing)
    known, witness = Known(), None
    if packing is not None:
        reason = "the items fit into the bins, so every chunk is covered, and there is no local value"
        bound = "Σ Δ bounds it"
        known = Known(
            opt=n,
            configuration_lp=n,
            compact_lp=n,
            reasons={"opt": reason, "configuration_lp": bound, "compact_lp": bound},
        )
        kept = [[int(start[i]) + d for i in items for d in range(problem.sizes[i])] for items in packing]
        witness = kept + [[] for _ in range(bins - len(kept))]
    header.setdefault("name", problem.name)
    instance = from_values(
        parents,
        local=np.zeros((bins, n)),
        coverage=np.ones(n),
        budgets=[problem.capacity] * bins,
        known=known,
        **header,  # type: ignore[arg-type]
    )
    return Drawn(instance, witness)


def _check_packing(problem: BinPackingProblem, bins: int, packing: Sequence[Sequence[int]]) -> None:
    items = sorted(i for group in packing for i in group)
    if items != list(range(len(problem.sizes))) or len(packing) > bins:
        raise InputError(f"bin packing {problem.name!r}: not a packing of every item into {bins} bins")
    for j, group in enumerate(packing):
        load = sum(problem.sizes[i] for i in group)
        if load > problem.capacity:
            raise InputError(f"bin packing {problem.name!r}: bin {j} holds {load} > {problem.capacity}")


@dataclass(frozen=True, kw_only=True)
class ThreePartition(Construction):
    """3-PARTITION spider: 3·`workers` legs that fill `workers` budgets exactly, three to a budget.

    Leg lengths lie strictly between budget/4 and budget/2, so a worker that is filled by whole legs keeps three.
    The optimum covers everything; finding it is strongly NP-hard with all costs equal (Garey and Johnson 1975).

    Parameters
    ----------
    workers : int
        m ≥ 1.
    budget : int
        B; three whole numbers between B/4 and B/2 must be able to sum to it (3, 6, 7 and everything from 9 on).
    """

    workers: int = 4
    budget: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.workers >= 1, "workers >= 1")
        low, high = self._range
        require(
            self,
            low <= high and 3 * low <= self.budget <= 3 * high,
            "budget = sum of three numbers in (budget/4, budget/2)",
        )

    @property
    def _range(self) -> tuple[int, int]:
        return self.budget // 4 + 1, (self.budget - 1) // 2

    def draw(self, seed: int = 0) -> Drawn:
        """Triples uniform among ordered pairs with a fitting third; legs in random order."""
        rng = np.random.default_rng(seed)
        low, high = self._range
        triples = [draw_triple(rng, self.budget, low, high, 1) for _ in range(self.workers)]
        shuffle = rng.permutation(3 * self.workers)
        sizes = np.array(triples).ravel()[shuffle]
        place = np.argsort(shuffle)
        packing = [place[3 * m : 3 * m + 3].tolist() for m in range(self.workers)]
        problem = BinPackingProblem(self.budget, tuple(sizes.tolist()))
        return bin_packing(problem, self.workers, packing, **self._header(seed))


@dataclass(frozen=True, kw_only=True)
class BinPacking(Construction):
    """Random bin packing as a spider: items uniform in a range, as many bins as their sizes need at least.

    The u classes of the literature (Falkenauer 1996) are capacity 150 and sizes 20 to 100. When first fit
    decreasing needs more bins than ⌈Σ sizes / capacity⌉ the optimum is not known, and the meta says nothing.

    Parameters
    ----------
    items, capacity : int
        ≥ 1.
    sizes : (int, int)
        Smallest and largest size, 1 ≤ smallest ≤ largest ≤ capacity.
    """

    items: int = 30
    capacity: int = 150
    sizes: tuple[int, int] = (20, 100)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.items >= 1, "items >= 1")
        require(self, len(self.sizes) == 2, "len(sizes) == 2")
        low, high = self.sizes
        require(self, 1 <= low <= high <= self.capacity, "1 <= sizes[0] <= sizes[1] <= capacity")

    def draw(self, seed: int = 0) -> Drawn:
        """Sizes independent and uniform."""
        low, high = self.sizes
        sizes = np.random.default_rng(seed).integers(low, high, self.items, endpoint=True)
        problem = BinPackingProblem(self.capacity, tuple(sizes.tolist()))
        return bin_packing(problem, -(-int(sizes.sum()) // self.capacity), **self._header(seed))


def draw_triple(rng: np.random.Generator, total: int, low: int, high: int, step: int) -> tuple[int, int, int]:
    """Three numbers in low, low + step, … ≤ high that sum to `total`, the first two uniform among those that fit."""
    pairs = [
        (x, y)
        for x in range(low, high + 1, step)
        for y in range(low, high + 1, step)
        if low <= total - x - y <= high and (total - x - y - low) % step == 0
    ]
    x, y = pairs[int(rng.integers(len(pairs)))]
    return x, y, total - x - y
