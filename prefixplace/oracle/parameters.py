"""Parameters of the oracle: they move work between its methods and never change an answer's value."""

from __future__ import annotations

from dataclasses import dataclass

from prefixplace.errors import InputError

__all__ = ["OracleParameters"]


@dataclass(frozen=True)
class OracleParameters:
    """Where the oracle switches methods. Every limit counts work, so results do not depend on the machine.

    Attributes
    ----------
    dense_cells : float
        Up to this n·k the dense program runs at once.
    dense_budget : int
        Up to this budget too: a pass over the nodes costs as much as about a hundred columns.
    first_core : int
        Doubtful nodes in the first core.
    core_growth : float
        Factor from one core to the next, > 1.
    core_share : float
        Cells that all cores of a call may compute, as a share of the dense program's.
    branch_share : float
        The same for the passes of the branches.
    most_branches : int
        Branches of one call.
    """

    dense_cells: float = 5e5
    dense_budget: int = 256
    first_core: int = 500
    core_growth: float = 6.0
    core_share: float = 0.15
    branch_share: float = 0.4
    most_branches: int = 24

    def __post_init__(self) -> None:
        for name in ("dense_cells", "dense_budget", "core_share", "branch_share", "most_branches"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} is {getattr(self, name)}; it must be ≥ 0")
        if not self.first_core >= 1:
            raise InputError(f"first_core is {self.first_core}; it must be ≥ 1")
        if not self.core_growth > 1:
            raise InputError(f"core_growth is {self.core_growth}; it must be > 1")
