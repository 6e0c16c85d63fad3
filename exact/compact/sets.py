"""The compact programme in plain index sets, for modelling languages that write one constraint at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from exact.compact.problem import CompactProblem

__all__ = ["CompactSets", "compact_sets"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class CompactSets:
    """Index sets and coefficients; m, h are workers (holders), r requesters, b, c nodes.

    Attributes
    ----------
    x : list of (m, b); a : list of float
        The x variables in order, with a_m(b).
    y : list of b; delta : list of float
        The y variables in order, with Δ(b).
    z : list of (r, h, b); s : list of float
        The z variables in order, with s_{r←h}(b).
    closure : list of ((m, b), [c …])
        Σ_c x_{mc} ≤ |{c}|·x_{mb}: one child each when disaggregated, all children of b when aggregated.
    budget : list of (m, [b …], [size_b …], k_m)
        Σ_b size_b·x_{mb} ≤ k_m.
    cover : list of (b, [m …])
        y_b ≤ Σ_m x_{mb}.
    link : list of ((h, b), [r …])
        Σ_r z_{rhb} ≤ |{r}|·x_{hb}: one requester each, or all.
    once : list of ((r, b), [h …])
        Σ_h z_{rhb} ≤ 1, where there are at least two.
    order : list of (m, m')
        Σ_b ω_b·x_{mb} ≥ Σ_b ω_b·x_{m'b} over the nodes in ``chunks``, ω_b = ``rank[b]``.
    """

    x: list[tuple[int, int]]
    a: list[float]
    y: list[int]
    delta: list[float]
    z: list[tuple[int, int, int]]
    s: list[float]
    closure: list[tuple[tuple[int, int], list[int]]]
    budget: list[tuple[int, list[int], list[int], int]]
    cover: list[tuple[int, list[int]]]
    link: list[tuple[tuple[int, int], list[int]]]
    once: list[tuple[tuple[int, int], list[int]]]
    order: list[tuple[int, int]]
    chunks: dict[int, list[int]]
    rank: list[int]


def compact_sets(problem: CompactProblem) -> CompactSets:
    """`problem` as lists of Python numbers. O(number of variables and entries)."""
    parent, size = problem.reduction.parent.tolist(), problem.reduction.size.tolist()
    x = list(zip(problem.holder.tolist(), problem.chunk.tolist(), strict=True))
    z = list(
        zip(
            problem.link_requester.tolist(),
            problem.link_holder.tolist(),
            problem.link_chunk.tolist(),
            strict=True,
        )
    )
    y = problem.covered.tolist()
    chunks = _grouped(x)
    holders = _grouped((b, m) for m, b in x)
    choices = _grouped(((r, b), h) for r, h, b in z)
    together = problem.formulation.linking == "aggregated"
    return CompactSets(
        x=x,
        a=problem.local.tolist(),
        y=y,
        delta=problem.coverage.tolist(),
        z=z,
        s=problem.saving.tolist(),
        closure=_linked((((m, parent[c]), c) for m, c in x if parent[c] >= 0), together),
        budget=[(m, bs, [size[b] for b in bs], int(problem.budgets[m])) for m, bs in chunks.items()],
        cover=[(b, holders[b]) for b in y],
        link=_linked((((h, b), r) for r, h, b in z), together),
        once=[(rb, hs) for rb, hs in choices.items() if len(hs) > 1],
        order=problem.ordered,
        chunks=chunks,
        rank=problem.rank.tolist(),
    )


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, member in pairs:
        groups[key].append(member)
    return dict(groups)


def _linked(pairs: Iterable[tuple[K, V]], together: bool) -> list[tuple[K, list[V]]]:
    return list(_grouped(pairs).items()) if together else [(upper, [lower]) for upper, lower in pairs]
