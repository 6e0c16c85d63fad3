"""Agent traces: long private chains behind a shared tool prefix, with sub-agents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.families.base import Workload
from instances.families.popularity import PopularFamily

__all__ = ["AgentTraces"]


@dataclass(frozen=True, kw_only=True)
class AgentTraces(PopularFamily):
    """Agent traces: one tool prefix, a long private chain per session, sub-agents that branch off it.

    Every step of an agent sends its whole context again and adds to it, so demand falls along a chain and nearly
    everything is reused, by one session only. Fleet, `sharing`, `requests`, `chunk_tokens`, `popularity` and `skew`
    are inherited; popularity is over the sessions. Sticky routing is `sharing` = 0.

    Parameters
    ----------
    tool_chunks : int
        Length of the prefix of tool descriptions and instructions that all sessions share; ≥ 0.
    sessions : int
        ≥ 1.
    session_chunks : (int, int)
        Smallest and largest length of a session's own chain, 1 ≤ smallest ≤ largest.
    subagents : int
        Chains that branch off each session at a random chunk of it; ≥ 0.
    subagent_chunks : (int, int)
        Smallest and largest length of such a chain, 1 ≤ smallest ≤ largest.
    """

    tool_chunks: int = 4
    sessions: int = 16
    session_chunks: tuple[int, int] = (10, 40)
    subagents: int = 1
    subagent_chunks: tuple[int, int] = (2, 10)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.tool_chunks >= 0, "tool_chunks >= 0")
        require(self, self.sessions >= 1, "sessions >= 1")
        require(self, self.subagents >= 0, "subagents >= 0")
        for name in ("session_chunks", "subagent_chunks"):
            bounds = getattr(self, name)
            require(self, len(bounds) == 2, f"len({name}) == 2")
            require(self, 1 <= bounds[0] <= bounds[1], f"1 <= {name}[0] <= {name}[1]")

    def workload(self, rng: np.random.Generator) -> Workload:
        """A session's requests are shared evenly by all chunks of its chain and of its sub-agents."""
        main = rng.integers(*self.session_chunks, size=self.sessions, endpoint=True)
        side = rng.integers(*self.subagent_chunks, size=(self.sessions, self.subagents), endpoint=True)
        pieces = np.concatenate((main[:, None], side), axis=1)  # the chain of a session, then its sub-agents
        first = self.tool_chunks + np.concatenate(([0], np.cumsum(pieces)[:-1])).reshape(pieces.shape)
        n = self.tool_chunks + int(pieces.sum())
        parents = np.arange(-1, n - 1)
        parents[first[:, 0]] = self.tool_chunks - 1
        fork = rng.integers(main[:, None], size=side.shape)
        parents[first[:, 1:]] = first[:, :1] + fork
        own = pieces.sum(axis=1)
        session = np.zeros(n, np.int64)
        session[self.tool_chunks :] = np.repeat(np.arange(self.sessions), own)
        ending = np.zeros(n)
        ending[self.tool_chunks :] = np.repeat(self.shares(self.sessions, rng) / own, own)
        return Workload(parents, ending, session, self.sessions)
