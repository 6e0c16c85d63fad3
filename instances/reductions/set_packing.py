"""Set packing (exact cover by 3-sets among it) as placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from instances.checks import require
from instances.construction import Construction, Drawn, chain_forest, from_values
from instances.known import Known
from instances.reductions.graphs import independence
from prefixplace.errors import InputError

__all__ = ["SetPacking", "set_packing"]


def set_packing(
    sets: Sequence[Sequence[int]],
    *,
    bonus: float | None = None,
    packing: Sequence[int] | None = None,
    packing_number: int | None = None,
    **header: Any,
) -> Drawn:
    """The placement problem of N sets of size s: OPT = N·(s + c) + (s − c)·ν, ν the most disjoint sets.

    A worker for every set, with budget s. A root chunk for every element, worth Δ = 1, and a = 1 to the workers
    of the sets that contain it. A private chain of s chunks for every set, worth s + c at its end. A worker that
    keeps its elements reaches 2s when it alone covers them, otherwise at most 2s − 1 ≤ s + c.

    Parameters
    ----------
    sets : sequence of N sequences of s distinct whole numbers ≥ 0
    bonus : float, optional
        c in [s − 1, s); s − 1 when left out.
    packing : numbers of disjoint sets, optional
        A largest packing; gives ν and a witness.
    packing_number : int, optional
        ν where the caller knows it.
    header
        ``name`` and ``meta`` of the instance.

    Raises
    ------
    InputError
        For sets of different sizes or with repeated elements, `bonus` out of range, or a `packing` that overlaps.
    """
    if not sets or any(len(set(group)) != len(sets[0]) or len(group) != len(sets[0]) for group in sets):
        raise InputError("set packing needs at least one set, all of one size and without repeated elements")
    size, count = len(sets[0]), len(sets)
    c = float(size - 1 if bonus is None else bonus)
    if not (size >= 1 and size - 1 <= c < size):
        raise InputError(f"set packing: bonus = {c} violates s − 1 <= bonus < s with s = {size}")
    elements = sorted({x for group in sets for x in group})
    number = {x: i for i, x in enumerate(elements)}
    parents, start = chain_forest([1] * len(elements) + [size] * count)
    chain = start[len(elements) :]
    local, coverage = np.zeros((count, parents.size)), np.zeros(parents.size)
    coverage[: len(elements)] = 1
    for j, group in enumerate(sets):
        local[j, [number[x] for x in group]] = 1
        local[j, chain[j] + size - 1] = size + c
    witness = None
    if packing is not None:
        packed = [x for j in packing for x in sets[j]]
        if len(set(packed)) != len(packed):
            raise InputError("set packing: the packing holds an element twice")
        packing_number = len(packing)
        inside = set(packing)
        witness = [
            [number[x] for x in group] if j in inside else list(range(chain[j], chain[j] + size))
            for j, group in enumerate(sets)
        ]
    known = Known()
    if packing_number is not None:
        exact = Fraction(c)
        known = Known(
            opt=count * (size + exact) + (size - exact) * packing_number,
            reasons={"opt": f"N·(s + c) + (s − c)·ν with ν = {packing_number}"},
        )
    instance = from_values(
        parents, local=local, coverage=coverage, budgets=[size] * count, known=known, **header
    )
    return Drawn(instance, witness)


@dataclass(frozen=True, kw_only=True)
class SetPacking(Construction):
    """Set packing: a worker for each set, a chunk for each element; OPT = N(s + c) + (s − c)·ν.

    The default is the Fano plane (seven lines of three points, any two of which meet): 36. Otherwise random
    3-sets; ν is computed by branching, which takes seconds for at most about 60 sets.

    Parameters
    ----------
    system : str
        fano, or random.
    sets, elements : int
        N and the number of elements; the Fano plane has seven of both. N ≥ 1, elements ≥ 3.
    """

    system: str = "fano"
    sets: int = 7
    elements: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.system not in ("fano", "random"):
            raise InputError(f"SetPacking: system is {self.system!r}, not fano or random")
        require(self, self.sets >= 1, "sets >= 1")
        require(self, self.elements >= 3, "elements >= 3")
        require(
            self,
            self.system == "random" or self.sets == self.elements == 7,
            "system = random or sets = elements = 7",
        )

    def draw(self, seed: int = 0) -> Drawn:
        """Random systems are drawn from the seed; the Fano plane is the same for every seed."""
        import networkx as nx

        if self.system == "fano":
            groups = [[i, (i + 1) % 7, (i + 3) % 7] for i in range(7)]
        else:
            rng = np.random.default_rng(seed)
            groups = [sorted(rng.permutation(self.elements)[:3].tolist()) for _ in range(self.sets)]
        conflicts: nx.Graph[int] = nx.empty_graph(len(groups))
        conflicts.add_edges_from(
            (i, j) for j in range(len(groups)) for i in range(j) if set(groups[i]) & set(groups[j])
        )
        return set_packing(groups, packing=independence(conflicts), **self._header(seed))
