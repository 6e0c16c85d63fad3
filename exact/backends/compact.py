"""What all back-ends that solve the compact programme share."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.backend import Backend, Outcome, Run
from exact.compact import CompactProblem, Formulation, compact_problem

__all__ = ["CompactBackend", "CompactParams", "building"]


@dataclass(frozen=True)
class CompactParams:
    """Parameters of a solver of the compact programme.

    Parameters
    ----------
    formulation : Formulation
        How the programme is written.
    options : mapping of str to value
        Options of the solver by its own names, set after ours. One that the solver does not know is an error.
    """

    formulation: Formulation = field(default_factory=Formulation)
    options: Mapping[str, Any] = field(default_factory=dict)


class CompactBackend(Backend):
    """Builds the compact programme, completes the start, and leaves the rest to :meth:`optimise`."""

    params = CompactParams

    def run(self, run: Run, params: CompactParams) -> Outcome:
        """Solve the compact programme; one without any variable is solved by keeping nothing."""
        problem = compact_problem(run.instance, params.formulation)
        if problem.num_variables == 0:
            run.offer(problem.placement_values(np.zeros(0)))
            run.tighten(0.0)
            return Outcome("finished", counters={"variables": 0})
        start = None if run.start is None else problem.complete(run.start)
        return self.optimise(problem, start, run, params)

    @abstractmethod
    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Write `problem` in the solver's terms, solve it from `start`, and report to `run`."""


@contextmanager
def building() -> Iterator[None]:
    """Pause garbage collection while a model of many small objects is built.

    All of them stay alive, so that every full collection visits each once more and frees nothing; with hundreds of
    thousands of variables that is a third of the building time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
