"""A fleet of workers: GPUs, model, links and budgets, turned into the costs of an instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.checks import check_types, require
from prefixplace import Instance, PrefixTree, TransferModel
from prefixplace.costs import RecomputeProfile, model, profile, recompute_matrix
from prefixplace.errors import InputError

__all__ = ["Fleet"]


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """M workers that serve one model and can use each other's KV cache.

    Parameters
    ----------
    workers : int
        M ≥ 1.
    gpus : tuple of str
        GPU of each worker; a shorter list is repeated in turn. Each needs a profile of `source` for `model`.
    model : str
        A name of :data:`prefixplace.costs.MODELS`; gives the bytes of a chunk.
    source : "paper" or "aiconfigurator"
        Where recompute profiles come from, see :func:`prefixplace.costs.profile`.
    engine : str
        Serving engine of the kernel-level profiles; the paper's have none.
    goodput_gbps : float
        Effective KV goodput of every link in Gb/s; 0 = no links.
    overhead_ms : float
        Fixed cost of fetching a chunk in ms.
    budget_fraction : float
        Budget of every worker as a fraction of the n chunks, rounded down but at least one chunk.
    budget_chunks : tuple of int
        Budgets in chunks instead, one for all workers or one for each; empty = use the fraction.
    """

    workers: int = 3
    gpus: tuple[str, ...] = ("T4", "L4", "A100")
    model: str = "qwen2.5-7b"
    source: str = "paper"
    engine: str = "vllm"
    goodput_gbps: float = 3.0
    overhead_ms: float = 0.0
    budget_fraction: float = 0.10
    budget_chunks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_types(self)
        require(self, self.workers >= 1, "workers >= 1")
        require(self, len(self.gpus) >= 1, "len(gpus) >= 1")
        require(self, 0 <= self.goodput_gbps < np.inf, "0 <= goodput_gbps < inf")
        require(self, 0 <= self.overhead_ms < np.inf, "0 <= overhead_ms < inf")
        require(self, 0 <= self.budget_fraction <= 1, "0 <= budget_fraction <= 1")
        require(
            self, len(self.budget_chunks) in (0, 1, self.workers), "len(budget_chunks) in (0, 1, workers)"
        )
        require(self, all(k >= 0 for k in self.budget_chunks), "budget_chunks >= 0")

    @property
    def worker_gpus(self) -> tuple[str, ...]:
        """GPU of each of the M workers."""
        return tuple(self.gpus[m % len(self.gpus)] for m in range(self.workers))

    @property
    def worker_names(self) -> tuple[str, ...]:
        """``gpu-0``, ``gpu-1``, … numbered within each GPU type."""
        seen: dict[str, int] = {}
        names = []
        for gpu in self.worker_gpus:
            number = seen.get(gpu, 0)
            seen[gpu] = number + 1
            names.append(f"{gpu}-{number}")
        return tuple(names)

    def profiles(self) -> tuple[RecomputeProfile, ...]:
        """Recompute profile of each worker."""
        return tuple(profile(gpu, self.model, self.source, self.engine) for gpu in self.worker_gpus)

    def transfer(self, chunk_bytes: float) -> TransferModel:
        """Cost of fetching a chunk: the same for every pair of workers."""
        return TransferModel(chunk_bytes, self.goodput_gbps * 1e9, self.overhead_ms)

    def budgets(self, chunks: int) -> NDArray[np.int64]:
        """k_m for a forest of `chunks` nodes, shape (M,)."""
        if self.budget_chunks:
            return np.resize(np.array(self.budget_chunks, np.int64), self.workers)
        # A relative 1e-12 keeps 0.1 · 600 from falling to 59 when the product is rounded downwards.
        share = int(np.floor(self.budget_fraction * chunks * (1 + 1e-12)))
        return np.full(self.workers, max(1, share) if self.budget_fraction > 0 else 0, np.int64)

    def instance(
        self,
        tree: PrefixTree,
        demand: NDArray[np.float64],
        *,
        chunk_tokens: int,
        name: str,
        meta: Mapping[str, Any] | None = None,
        profiles: Sequence[RecomputeProfile] | None = None,
    ) -> Instance:
        """The planning problem of this fleet for demand (M, n); `profiles` replace the named ones."""
        if profiles is not None and len(profiles) != self.workers:
            raise InputError(f"{len(profiles)} recompute profiles for {self.workers} workers")
        return Instance(
            tree,
            demand=demand,
            recompute=recompute_matrix(tree, self.profiles() if profiles is None else profiles, chunk_tokens),
            fetch=self.transfer(model(self.model).chunk_bytes(chunk_tokens)),
            budgets=self.budgets(tree.n),
            name=name,
            workers=self.worker_names,
            meta=meta,
        )
