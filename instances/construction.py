"""What tight examples and reductions share: parameters that check themselves, known values, a witness."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.checks import check_types
from instances.known import Known
from prefixplace import Instance, Placement, PrefixTree

__all__ = ["Construction", "Drawn", "chain_forest", "from_costs", "from_values"]

Sets = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A constructed instance.

    Attributes
    ----------
    instance : Instance
        Its meta carries the known values and their reasons (:class:`~instances.known.Known`).
    witness : list of M lists of int, or None
        A placement that attains the known optimum, in the numbers under which the chunks were given.
    """

    instance: Instance
    witness: Sets | None = None


@dataclass(frozen=True, kw_only=True)
class Construction(ABC):
    """A parametrised construction with known values: the same bytes for the same parameters and seed."""

    def __post_init__(self) -> None:
        check_types(self)

    @classmethod
    def family(cls) -> str:
        """Name of the construction: the class name in kebab case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @abstractmethod
    def draw(self, seed: int = 0) -> Drawn:
        """Construct the instance together with an optimal placement, where one is known.

        Constructions that draw nothing at random give the same instance for every seed and say so.
        """

    def sample(self, seed: int = 0) -> Instance:
        """The instance of this seed."""
        return self.draw(seed).instance

    def witness(self, seed: int = 0) -> Placement | None:
        """A placement that attains ``meta["opt"]`` of :meth:`sample`; None where none is known."""
        drawn = self.draw(seed)
        if drawn.witness is None:
            return None
        return Placement.from_sets(drawn.instance.tree, drawn.witness, given=True)

    def _header(self, seed: int) -> dict[str, Any]:
        """Name and origin of the instance, as keywords of :func:`from_values` and :func:`from_costs`."""
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        tags = [str(v) for v in plain.values() if isinstance(v, int | str)]
        return {
            "name": "-".join([self.family(), *tags, *([f"seed{seed}"] if seed else [])]),
            "meta": {"family": self.family(), "seed": seed, "parameters": plain},
        }


def chain_forest(lengths: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Separate chains of the given lengths (≥ 0): parents (n,) and the first chunk of each chain.

    Chain j holds the chunks ``start[j] : start[j] + lengths[j]``, top first.
    """
    size = np.asarray(lengths, np.int64)
    start = np.concatenate(([0], np.cumsum(size)))
    parents = np.arange(-1, int(start[-1]) - 1)
    parents[start[:-1][size > 0]] = -1
    return parents, start[:-1]


def from_values(
    parents: ArrayLike,
    *,
    local: ArrayLike,
    coverage: ArrayLike,
    budgets: ArrayLike,
    known: Known,
    name: str = "",
    meta: Mapping[str, Any] | None = None,
) -> Instance:
    """Requester-side instance whose values, shapes (M, n) and (n,), are in the order of `parents`."""
    tree = PrefixTree.from_parents(parents)
    return Instance.from_values(
        tree,
        local=tree.to_preorder(np.asarray(local, np.float64)),
        coverage=tree.to_preorder(np.asarray(coverage, np.float64)),
        budgets=budgets,
        name=name,
        meta={**(meta or {}), **known.to_meta()},
    )


def from_costs(
    parents: ArrayLike,
    *,
    demand: NDArray[np.float64],
    recompute: NDArray[np.float64],
    fetch: NDArray[np.float64],
    budgets: ArrayLike,
    known: Known,
    workers: Sequence[str] | None = None,
    name: str = "",
    meta: Mapping[str, Any] | None = None,
) -> Instance:
    """Pairwise instance whose costs, shapes (M, n), (M, n) and (M, M, n), are in the order of `parents`."""
    tree = PrefixTree.from_parents(parents)
    return Instance(
        tree,
        demand=tree.to_preorder(demand),
        recompute=tree.to_preorder(recompute),
        fetch=tree.to_preorder(fetch),
        budgets=budgets,
        workers=workers,
        name=name,
        meta={**(meta or {}), **known.to_meta()},
    )
