"""The paper's exactly solved and LP-checked instances as lists of (name, family, seed).

Counts and shapes are the paper's (arXiv 2608.01655, section V). Where it gives a number of levels but not
the levels, they are chosen here and marked *chosen*: sharing ρ ∈ {0.5, 0.75, 1} for three levels and {0.5,
1} for two (the paper plots .75 and 1 and calls 1 full sharing), goodputs from its range 0.75–5 Gb/s around
the crossovers of the three GPUs, Zipf exponents around its default 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from instances.families.base import ServedFamily
from instances.families.rag import MismatchedRag, RagShaped, TwoGroupRag
from prefixplace.instance import Instance

__all__ = ["Setting", "exact_block_1", "exact_block_2", "lp_checkpoints", "source_dependent"]

MIXED = ("T4", "L4", "A100")
FLEETS = {"mixed": MIXED, "3×L4": ("L4",), "3×A100": ("A100",)}
SHARING = (0.5, 0.75, 1.0)


class Setting(NamedTuple):
    """One instance of an experiment: ``family.sample(seed)``."""

    name: str
    family: ServedFamily
    seed: int

    def instance(self) -> Instance:
        """Draw the instance."""
        return self.family.sample(self.seed)


def exact_block_1() -> Iterator[Setting]:
    """216 settings with M = 3: 8 seeds × 3 sharing levels × 3 goodputs × {T4+L4+A100, 3×L4, 3×A100}.

    30 documents of 2 to 4 chunks with 3 questions each; seeds 0 to 7 give 175 to 189 chunks, the paper's range. Chosen:
    goodputs 1.5, 3 and 5 Gb/s.
    """
    for (fleet, gpus), goodput, sharing, seed in product(FLEETS.items(), (1.5, 3.0, 5.0), SHARING, range(8)):
        family = RagShaped(
            documents=30, document_chunks=(2, 4), queries=3, gpus=gpus, goodput_gbps=goodput, sharing=sharing
        )
        yield Setting(f"exact-1 {fleet} {goodput:g} Gb/s ρ={sharing:g} seed {seed}", family, seed)


def exact_block_2() -> Iterator[Setting]:
    """216 settings on T4+L4+A100: 3 mismatch levels × 2 skews × 2 budgets × 3 sharing levels × 2 goodputs × 3 seeds.

    22 documents of 2 to 9 chunks with 3 questions each, 183 chunks. Chosen: mismatch 0, 0.5 and 1
    (:class:`MismatchedRag`), document skews 0.9 and 1.2, budgets 10 and 20 %, goodputs 1.5 and 3 Gb/s.
    """
    axes = ((0.0, 0.5, 1.0), (0.9, 1.2), (0.10, 0.20), SHARING, (1.5, 3.0), range(3))
    for mismatch, skew, budget, sharing, goodput, seed in product(*axes):
        family = MismatchedRag(
            mismatch=mismatch,
            document_skew=skew,
            budget_fraction=budget,
            sharing=sharing,
            goodput_gbps=goodput,
        )
        levels = f"mismatch {mismatch:g} skew {skew:g} budget {budget:.0%} {goodput:g} Gb/s ρ={sharing:g}"
        yield Setting(f"exact-2 {levels} seed {seed}", family, int(seed))


def source_dependent() -> Iterator[Setting]:
    """45 pairwise settings on two groups of T4+L4+A100: 3 goodputs between the groups × 3 sharing levels × 5 seeds.

    10 Gb/s inside, 1, 2 and 3 Gb/s between, as in the paper's Fig. 6; the reduced shape is that of
    :class:`TwoGroupRag`. Chosen: how 45 splits into levels.
    """
    for between, sharing, seed in product((1.0, 2.0, 3.0), SHARING, range(5)):
        family = TwoGroupRag(goodput_between_gbps=between, sharing=sharing)
        yield Setting(f"two groups {between:g} Gb/s ρ={sharing:g} seed {seed}", family, seed)


def lp_checkpoints() -> Iterator[Setting]:
    """40 settings of the full RAG shape: {3×T4, 3×L4, 3×A100, mixed} × 2 sharing levels × 5 seeds.

    About 601 chunks each. Chosen: ρ = 0.5 and 1; 3 Gb/s and 10 % budgets are the paper's defaults.
    """
    fleets = {"3×T4": ("T4",), **FLEETS}
    for (fleet, gpus), sharing, seed in product(fleets.items(), (0.5, 1.0), range(5)):
        yield Setting(f"LP {fleet} ρ={sharing:g} seed {seed}", RagShaped(gpus=gpus, sharing=sharing), seed)
