"""Sets and parameters of the compact integer programme, from which every back-end writes its model."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from exact.compact.reduction import Reduction, reduce_forest, worth
from exact.compact.symmetry import identical_workers
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.objective import Pairwise

__all__ = ["MODEL", "CompactProblem", "Formulation", "compact_problem"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Formulation:
    """How the compact programme is written. Every choice has the same optimum.

    Parameters
    ----------
    linking : {"disaggregated", "aggregated"}
        One row x_{mc} ≤ x_{mb} per child c of b, and z_{rhb} ≤ x_{hb} per requester r; or their sums
        Σ_c x_{mc} ≤ |children|·x_{mb} and Σ_r z_{rhb} ≤ |requesters|·x_{hb}: fewer rows, a weaker LP.
    depth_cuts : bool
        No variable x_{mb} where the path to b alone exceeds k_m. Strengthens the LP.
    chain_aggregation : bool
        A run of chunks that pays only at its end is one variable. Same LP value, fewer rows.
    symmetry_breaking : bool
        Order identical workers by Σ_b ω_b·x_{mb}, ω_b = 1 + number of b. Same LP value.
    """

    linking: Literal["disaggregated", "aggregated"] = "disaggregated"
    depth_cuts: bool = True
    chain_aggregation: bool = True
    symmetry_breaking: bool = False

    def __post_init__(self) -> None:
        if self.linking not in ("disaggregated", "aggregated"):
            raise InputError(f"linking is {self.linking!r}, must be 'disaggregated' or 'aggregated'")
        for option in fields(self)[1:]:
            if not isinstance(getattr(self, option.name), bool):
                raise InputError(f"{option.name} is {getattr(self, option.name)!r}, must be true or false")


MODEL = Formulation(depth_cuts=False, chain_aggregation=False, symmetry_breaking=False)
"""The programme exactly as it is defined, whose LP optimum is *the* compact LP bound."""


@dataclass(frozen=True, eq=False)
class CompactProblem:
    """The compact programme over a reduced forest of N nodes.

    max Σ a_m(b)·x_{mb} + Σ Δ(b)·y_b  (requester-side)  or  Σ s_{r←h}(b)·z_{rhb}  (pairwise), subject to
    x_{mc} ≤ x_{m,parent(c)};  Σ_b size_b·x_{mb} ≤ k_m;  y_b ≤ Σ_m x_{mb};  z_{rhb} ≤ x_{hb};  Σ_h z_{rhb} ≤ 1;
    x binary, y and z in [0, 1].

    A *solution vector* is x, then y or z, in the order of the lists below.

    Attributes
    ----------
    instance, formulation, reduction
    budgets : int64 array, shape (M,)
        k_m, at most n.
    x_of : int64 array, shape (M, N)
        Number of the variable x_{mb}; -1 where there is none (it would be 0 in some optimum).
    holder, chunk : int64 arrays, shape (P,)
        Worker and node of each x.
    local : float array, shape (P,)
        Objective coefficient of each x in ms.
    covered : int64 array, shape (Y,); coverage : float array, shape (Y,)
        Node and Δ of each y; empty when pairwise.
    link_requester, link_holder, link_chunk : int64 arrays, shape (Z,); saving : float array, shape (Z,)
        Requester, holder, node and s of each z; empty when requester-side.
    ordered : list of (int, int)
        Pairs of identical workers (m, m') with Σ ω_b·x_{mb} ≥ Σ ω_b·x_{m'b}.
    """

    instance: Instance
    formulation: Formulation
    reduction: Reduction
    budgets: Ints
    x_of: Ints
    holder: Ints
    chunk: Ints
    local: Floats
    covered: Ints
    coverage: Floats
    link_requester: Ints
    link_holder: Ints
    link_chunk: Ints
    saving: Floats
    ordered: list[tuple[int, int]] = field(default_factory=list)

    @property
    def num_nodes(self) -> int:
        """Nodes of the reduced forest N."""
        return int(self.reduction.parent.size)

    @property
    def num_variables(self) -> int:
        """Length of a solution vector."""
        return int(self.holder.size + self.covered.size + self.saving.size)

    @cached_property
    def cost(self) -> Floats:
        """Objective coefficient of every variable in ms, shape (num_variables,)."""
        return np.concatenate((self.local, self.coverage, self.saving))

    @cached_property
    def rank(self) -> Ints:
        """ω_b of the symmetry breaking, shape (N,)."""
        return np.arange(1, self.num_nodes + 1)

    @cached_property
    def objective_scale(self) -> float:
        """A power of two that brings the largest coefficient into [2⁹, 2¹⁰).

        Solvers judge reduced costs and objectives by absolute tolerances, so ms of any magnitude must look alike
        to them; a power of two changes no digit. Values below 2⁻⁹⁹⁰ stay small: the power itself must be a float64.
        """
        largest = float(self.cost.max(initial=0.0))
        return 1.0 if largest == 0.0 else float(np.exp2(min(10 - int(np.frexp(largest)[1]), 1000)))

    def placement_values(self, solution: NDArray[Any]) -> Floats:
        """x of a solution vector for every (worker, chunk) of the instance, shape (M, n)."""
        values = np.zeros(
            (self.budgets.size, self.num_nodes + 1)
        )  # the last column serves chunks without node
        values[self.holder, self.chunk] = np.asarray(solution, np.float64)[: self.holder.size]
        return np.ascontiguousarray(values[:, self.reduction.node])

    def complete(self, mask: NDArray[np.bool_]) -> Floats:
        """The best solution vector with the placement `mask` (shape (M, n)), every variable set.

        Chunks that have no variable are dropped, which loses no value, and identical workers are renamed into
        the order that symmetry breaking asks for.
        """
        held = self._in_order(mask[:, self.reduction.last] & (self.x_of >= 0))
        x = held[self.holder, self.chunk]
        y = np.asarray(held.any(axis=0))[self.covered]
        return np.concatenate((x, y, self._best_links(held))).astype(np.float64)

    def _in_order(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if not self.ordered:
            return held
        result, weight = held.copy(), held @ self.rank
        for members in identical_workers(self.instance):
            result[members] = held[sorted(members, key=lambda m: (-weight[m], m))]
        return result

    def _best_links(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        chosen = np.zeros(self.saving.size, np.bool_)
        usable = np.flatnonzero(held[self.link_holder, self.link_chunk])
        demand = self.link_requester[usable] * self.num_nodes + self.link_chunk[usable]
        order = np.lexsort((-self.saving[usable], demand))  # by (requester, node), the largest saving first
        first = np.ones(order.size, np.bool_)
        first[1:] = demand[order[1:]] != demand[order[:-1]]
        chosen[usable[order[first]]] = True
        return chosen


def compact_problem(instance: Instance, formulation: Formulation | None = None) -> CompactProblem:
    """Sets and parameters of the compact programme of `instance`.

    O(M·n) for the requester-side objective and O(M²·n) for the pairwise one, in array operations; no part of it
    depends on the depth of the tree.
    """
    chosen = formulation or Formulation()
    valuable = worth(instance)
    reduction = reduce_forest(
        instance, np.asarray(valuable.any(axis=0)), merge_chains=chosen.chain_aggregation
    )
    last, tree = reduction.last, instance.tree
    budgets = np.minimum(instance.budgets, instance.num_chunks)

    below = np.zeros((instance.num_workers, tree.n + 1), np.int64)
    np.cumsum(valuable, axis=1, out=below[:, 1:])
    wanted = below[:, tree.end[last]] > below[:, last]
    if chosen.depth_cuts:
        wanted &= tree.depth[last] < budgets[:, None]
    x_of = np.where(wanted, np.cumsum(wanted).reshape(wanted.shape) - 1, -1)
    holder, chunk = (part.astype(np.int64) for part in np.nonzero(wanted))

    none, empty = np.zeros(0, np.int64), np.zeros(0)
    local, covered, coverage = np.zeros(holder.size), none, empty
    links: tuple[Ints, Ints, Ints, Floats] = (none, none, none, empty)
    if isinstance(instance.objective, Pairwise):
        links = _links(instance.objective, last, wanted)
    else:
        local = instance.local_value[holder, last[chunk]]
        covered = np.flatnonzero(wanted.any(axis=0) & (instance.coverage_value[last] > 0))
        coverage = instance.coverage_value[last[covered]]
    ordered = []
    if chosen.symmetry_breaking:
        ordered = [pair for members in identical_workers(instance) for pair in pairwise(members)]
    return CompactProblem(
        instance, chosen, reduction, budgets, x_of, holder, chunk, local, covered, coverage, *links, ordered
    )


def _links(objective: Pairwise, last: Ints, wanted: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Floats]:
    """Requester, holder, node and saving of every link that saves anything."""
    parts: list[tuple[Ints, Ints, Ints, Floats]] = []
    for holder in range(objective.num_workers):
        nodes = np.flatnonzero(wanted[holder])
        saving = objective.saving(holder, last[nodes])
        requester, column = np.nonzero(saving > 0)
        parts.append((requester, np.full(requester.size, holder), nodes[column], saving[requester, column]))
    r, h, b, s = (np.concatenate(column) for column in zip(*parts, strict=True))
    return r.astype(np.int64), h.astype(np.int64), b.astype(np.int64), s
