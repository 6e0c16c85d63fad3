"""Realism levels: which values (a, Δ) a search may use, as linear images of non-negative variables.

Every level writes a_m(b), Δ(b), the profits Λ_m·w_m of Independent and LocalDedup, and the demand Λ_m of Popularity as
linear functions of variables z ≥ 0, so that any comparison of them is a linear constraint on z.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.search.shapes import Shape
from prefixplace import Instance

__all__ = ["LEVELS", "Level", "Values"]

Matrix = NDArray[np.float64]

NETWORK_SHARES = (0.0, 0.125, 0.25, 0.5, 0.75)
"""Fetch costs as a part of the recompute cost at the level ``requests``."""

GPU_COSTS = {"T4": (396.0, 24.0), "L4": (170.25, 5.125), "A100": (48.125, 2.5)}
"""ms for the first 512-token chunk and for each chunk of prefix: the 7B curves of the paper on L4 and A100, and one
above both for the T4, which is not printed; rounded to ⅛ ms so that products with whole demand are exact."""

FETCH_COSTS = (313.25, 156.625, 78.25, 47.0)
"""ms to fetch a chunk of 29.36 MB at 0.75, 1.5, 3 and 5 Gb/s, rounded likewise."""


@dataclass(frozen=True, eq=False)
class Values:
    """The linear forms of one shape at one level, in d variables.

    Attributes
    ----------
    local, recompute, demand : arrays, shape (M, n, d)
        a_m(b), Λ_m(b)·w_m(b) and Λ_m(b). `demand` is None where it is 1 for every chunk.
    coverage : array, shape (n, d)
        Δ(b).
    build : callable
        z (whole numbers), name, meta → :class:`Instance` with exactly these values.
    """

    local: Matrix
    recompute: Matrix
    demand: Matrix | None
    coverage: Matrix
    build: Callable[[NDArray[np.int64], str, dict[str, Any]], Instance]

    @property
    def variables(self) -> int:
        """d."""
        return int(self.coverage.shape[1])


@dataclass(frozen=True)
class Level:
    """A realism level.

    Attributes
    ----------
    name, summary : str
    identical : bool
        Whether all workers have one budget.
    values : callable
        Shape, random generator → :class:`Values`; the generator chooses costs where the level has some.
    """

    name: str
    summary: str
    identical: bool
    values: Callable[[Shape, np.random.Generator], Values]


def _free(shape: Shape, owners: int) -> Values:
    """a and Δ themselves are the variables; `owners` different rows of a, which the workers share in turn."""
    n, workers = shape.n, shape.workers
    eye = np.eye(n * (owners + 1)).reshape(owners + 1, n, -1)
    local, coverage = eye[np.arange(workers) % owners], eye[owners]

    def build(z: NDArray[np.int64], name: str, meta: dict[str, Any]) -> Instance:
        return Instance.from_values(
            shape.tree,
            local=local @ z,
            coverage=coverage @ z,
            budgets=list(shape.budgets),
            name=name,
            meta=meta,
        )

    return Values(local, local + coverage / workers, None, coverage, build)


def _any(shape: Shape, rng: np.random.Generator) -> Values:
    return _free(shape, shape.workers)


def _identical(shape: Shape, rng: np.random.Generator) -> Values:
    return _free(shape, 1)


def _costed(shape: Shape, recompute: Matrix, fetch: float | Matrix) -> Values:
    """Requests that end at chunks are the variables; costs (M, n) are fixed."""
    n, workers = shape.n, shape.workers
    cost = np.broadcast_to(fetch, (workers, n))
    demand = np.zeros((workers, n, workers, n))
    demand[np.arange(workers), :, np.arange(workers), :] = shape.paths
    flat = demand.reshape(workers, n, workers * n)
    saved = np.maximum(recompute - cost, 0.0)

    def build(z: NDArray[np.int64], name: str, meta: dict[str, Any]) -> Instance:
        return Instance(
            shape.tree,
            demand=flat @ z,
            recompute=recompute,
            fetch=cost,
            budgets=list(shape.budgets),
            name=name,
            meta=meta,
        )

    return Values(
        local=flat * np.minimum(recompute, cost)[:, :, None],
        recompute=flat * recompute[:, :, None],
        demand=flat,
        coverage=(flat * saved[:, :, None]).sum(axis=0),
        build=build,
    )


def _requests(shape: Shape, rng: np.random.Generator) -> Values:
    share = NETWORK_SHARES[int(rng.integers(len(NETWORK_SHARES)))]
    return _costed(shape, np.ones((shape.workers, shape.n)), share)


def _served(shape: Shape, rng: np.random.Generator) -> Values:
    gpus = [list(GPU_COSTS.values())[int(i)] for i in rng.integers(len(GPU_COSTS), size=shape.workers)]
    recompute = np.array([first + step * shape.tree.depth for first, step in gpus])
    return _costed(shape, recompute, FETCH_COSTS[int(rng.integers(len(FETCH_COSTS)))])


LEVELS: Mapping[str, Level] = {
    level.name: level
    for level in (
        Level("any", "any local and coverage values", False, _any),
        Level("identical", "any values, all workers identical", True, _identical),
        Level("requests", "demand of requests, every chunk equally dear, one fetch cost", False, _requests),
        Level("served", "demand of requests, recompute affine in depth per GPU, one network", False, _served),
    )
}
"""Realism levels by name."""
