"""Multi-turn conversations: chains that grow turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.checks import require
from instances.families.base import ServedFamily, Workload, chain_blocks, zipf

__all__ = ["MultiTurn"]


@dataclass(frozen=True, kw_only=True)
class MultiTurn(ServedFamily):
    """Multi-turn: independent session chains of different length.

    The paper's second workload (arXiv 2608.01655, section V): 120 chains of 3 to 15 chunks, sessions
    Zipf(0.8), requests attached to workers as in the RAG shape. Fleet, `sharing`, `requests` and
    `chunk_tokens` are inherited.

    Parameters
    ----------
    sessions : int
    session_chunks : (int, int)
        Smallest and largest length of a session, uniform in between.
    session_skew : float
        Zipf exponent of the sessions.
    system_chunks : int
        Length of a system prefix shared by all sessions; the paper names none, so 0.
    growing : bool
        Where the requests of a session end. The paper does not say. False (default): all need the whole
        chain. True: they are spread evenly over the turns, the t-th needing t chunks, so demand falls along
        the chain.
    """

    sessions: int = 120
    session_chunks: tuple[int, int] = (3, 15)
    session_skew: float = 0.8
    system_chunks: int = 0
    growing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.sessions >= 1, "sessions >= 1")
        require(self, len(self.session_chunks) == 2, "len(session_chunks) == 2")
        low, high = self.session_chunks
        require(self, 1 <= low <= high, "1 <= session_chunks[0] <= session_chunks[1]")
        require(self, 0 <= self.session_skew < np.inf, "0 <= session_skew < inf")
        require(self, self.system_chunks >= 0, "system_chunks >= 0")

    def workload(self, rng: np.random.Generator) -> Workload:
        """Requests end at the last chunk of a session, or at every chunk when sessions grow."""
        low, high = self.session_chunks
        lengths = rng.integers(low, high, size=self.sessions, endpoint=True)
        parents, start, session = chain_blocks(lengths, 0, self.system_chunks)
        share = self.requests * zipf(self.sessions, self.session_skew)
        ending = np.zeros(parents.size)
        if self.growing:
            ending[self.system_chunks :] = (share / lengths)[session[self.system_chunks :]]
        else:
            ending[start + lengths - 1] = share
        return Workload(parents, ending, session, self.sessions)
