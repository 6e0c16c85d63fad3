"""Tenants with system prompts of their own, and the prompts of their users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.families.base import Workload
from instances.families.popularity import PopularFamily

__all__ = ["TenantPrompts"]


@dataclass(frozen=True, kw_only=True)
class TenantPrompts(PopularFamily):
    """System prompts × tenants: a long prompt per tenant, short private continuations under it.

    The shape that serving benchmarks call a generated shared prefix: groups (tenants), a system prompt for each,
    and prompts per group. Fleet, `sharing`, `requests`, `chunk_tokens`, `popularity` and `skew` are inherited;
    popularity is over the tenants, the prompts of a tenant are wanted equally.

    Parameters
    ----------
    vendor_chunks : int
        Length of a prefix that all tenants share; 0 makes each tenant a root.
    tenants : int
        ≥ 1.
    system_chunks : (int, int)
        Smallest and largest length of a tenant's system prompt, 1 ≤ smallest ≤ largest.
    prompts : int
        Continuations under each system prompt ≥ 1.
    prompt_chunks : (int, int)
        Smallest and largest length of a continuation, 1 ≤ smallest ≤ largest.
    """

    vendor_chunks: int = 0
    tenants: int = 24
    system_chunks: tuple[int, int] = (2, 8)
    prompts: int = 8
    prompt_chunks: tuple[int, int] = (1, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.vendor_chunks >= 0, "vendor_chunks >= 0")
        require(self, self.tenants >= 1, "tenants >= 1")
        require(self, self.prompts >= 1, "prompts >= 1")
        for name in ("system_chunks", "prompt_chunks"):
            bounds = getattr(self, name)
            require(self, len(bounds) == 2, f"len({name}) == 2")
            require(self, 1 <= bounds[0] <= bounds[1], f"1 <= {name}[0] <= {name}[1]")

    def workload(self, rng: np.random.Generator) -> Workload:
        """Requests end at the continuations."""
        system = rng.integers(*self.system_chunks, size=self.tenants, endpoint=True)
        prompt = rng.integers(*self.prompt_chunks, size=(self.tenants, self.prompts), endpoint=True)
        pieces = np.concatenate((system[:, None], prompt), axis=1)  # a system prompt, then its continuations
        first = self.vendor_chunks + np.concatenate(([0], np.cumsum(pieces)[:-1])).reshape(pieces.shape)
        n = self.vendor_chunks + int(pieces.sum())
        parents = np.arange(-1, n - 1)
        parents[first[:, 0]] = self.vendor_chunks - 1
        parents[first[:, 1:]] = (first[:, 0] + system - 1)[:, None]
        ending = np.zeros(n)
        ending[first[:, 1:] + prompt - 1] = (self.shares(self.tenants, rng) / self.prompts)[:, None]
        tenant = np.zeros(n, np.int64)
        tenant[self.vendor_chunks :] = np.repeat(np.arange(self.tenants), pieces.sum(axis=1))
        return Workload(parents, ending, tenant, self.tenants)
