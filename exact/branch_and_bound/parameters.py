"""What can be set about the prover."""

from __future__ import annotations

from dataclasses import dataclass

from prefixplace.errors import InputError

__all__ = ["Parameters"]


@dataclass(frozen=True)
class Parameters:
    """Parameters of ``branch-and-bound``.

    Parameters
    ----------
    widths : tuple of int
        Labels kept per chunk in the successive enumerations of a node; the last one may prove, the first ones
        mostly find placements.
    price_evaluations : int
        Most evaluations of the budget dual at the root.
    coverage_rounds : int
        Most rounds of the coverage dual at the root.
    joint_rounds : int
        The same of the joint dual.
    few_workers : int
        Up to this many the budget dual comes before the coverage dual.
    most_cells : int
        Largest tables of all workers' dynamic programs for which the joint dual is tried.
    most_labels : int
        Wider enumerations than the first are skipped when width × undecided chunks exceeds this.
    most_states : int
        Largest n·2^M for which all states are written down at the start. With more, requester-side instances begin with
        the coverage dual, and pairwise instances are refused.
    table_cells : int
        Cells of all workers' dynamic programs up to which a coverage dual keeps budgets exactly; beyond it they are
        priced. Dives and searches over groups of workers, which need no bound, price them from a tenth of it.
    few_pairs : int
        Free pairs up to which states are written down below the root.
    heavy : int
        Pairs of states of parents and children above which a node below the root is split rather than enumerated.
    """

    widths: tuple[int, ...] = (40, 400, 4000, 40_000, 400_000)
    price_evaluations: int = 400
    coverage_rounds: int = 400
    joint_rounds: int = 300
    few_workers: int = 4
    most_cells: int = 5_000_000
    most_labels: int = 20_000_000
    most_states: int = 1 << 23
    table_cells: int = 3_000_000
    few_pairs: int = 400
    heavy: int = 20_000

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1:
            raise InputError(f"widths is {self.widths}, must be at least one number ≥ 1")
        for name in ("price_evaluations", "coverage_rounds", "joint_rounds"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}, must be ≥ 1")
