"""Which workers can use each other's KV cache, and the separate problems of those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.transfer import TransferModel

__all__ = ["WorkerSpec", "split_compatible", "split_instance"]


@dataclass(frozen=True)
class WorkerSpec:
    """One worker of a fleet, as far as its KV cache is concerned.

    Two workers can exchange chunks only when their :attr:`fingerprint` agrees. The GPU is not part of it: it
    changes what a chunk costs, not what is in it.

    Parameters
    ----------
    name : str
    gpu : str
        Selects the recompute profile.
    model, revision : str
        Weights. Another revision computes other keys and values for the same tokens.
    kv_dtype : str
        Precision of the stored cache, such as ``fp16``, ``bf16``, ``fp8_e4m3``.
    positional_encoding : str
        Such as ``rope``, ``rope-yarn-4``: keys are stored with it applied.
    parallelism : str
        Layout of the cache over devices, such as ``tp1``, ``tp2-pp2``: it decides which heads lie in a shard.
    """

    name: str
    gpu: str
    model: str
    revision: str = "main"
    kv_dtype: str = "fp16"
    positional_encoding: str = "rope"
    parallelism: str = "tp1"

    @property
    def fingerprint(self) -> tuple[str, str, str, str, str]:
        """(model, revision, kv_dtype, positional_encoding, parallelism)."""
        return self.model, self.revision, self.kv_dtype, self.positional_encoding, self.parallelism


def split_compatible(workers: Sequence[WorkerSpec]) -> tuple[NDArray[np.int64], ...]:
    """Groups of workers with equal fingerprints, as worker numbers, in order of first appearance."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for m, worker in enumerate(workers):
        groups.setdefault(worker.fingerprint, []).append(m)
    return tuple(np.array(group, np.int64) for group in groups.values())


def split_instance(instance: Instance, workers: Sequence[WorkerSpec]) -> tuple[Instance, ...]:
    """One instance per group of compatible workers; their values add up, since nothing crosses a group.

    The tree is shared and keeps its numbering; chunks without demand in a group are worth nothing there. An
    instance whose workers are all compatible comes back alone, unchanged.

    Raises
    ------
    InputError
        When the number of specifications differs from M, or the instance was given by values (a, Δ): its Δ is
        not split by worker.
    """
    if len(workers) != instance.num_workers:
        raise InputError(f"{len(workers)} worker specifications for {instance.num_workers} workers")
    groups = split_compatible(workers)
    if len(groups) == 1:
        return (instance,)
    if instance.has_values:
        raise InputError(
            "an instance given by local and coverage values cannot be split into groups of workers"
        )
    return tuple(_restricted(instance, group, workers[group[0]]) for group in groups)


def _restricted(instance: Instance, group: NDArray[np.int64], spec: WorkerSpec) -> Instance:
    fetch = instance.fetch
    square = np.ix_(group, group)
    part: NDArray[np.float64] | TransferModel
    if isinstance(fetch, TransferModel):  # an Instance keeps it expanded, with (M, M) links
        part = TransferModel(fetch.chunk_bytes, fetch.goodput_bps[square], fetch.overhead_ms[square])
    else:
        part = fetch[square] if fetch.ndim == 3 else fetch[group]
    return Instance(
        instance.tree,
        demand=instance.demand[group],
        recompute=instance.recompute[group],
        fetch=part,
        budgets=instance.budgets[group],
        name=f"{instance.name} [{', '.join(spec.fingerprint)}]",
        workers=[instance.workers[m] for m in group],
        meta=instance.meta,
    )
