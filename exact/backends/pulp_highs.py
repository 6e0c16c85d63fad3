"""HiGHS by PuLP: the same solver as ``highs``, through a modelling language."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exact.backend import Availability, Outcome, Run
from exact.backends.compact import CompactBackend, CompactParams, building
from exact.backends.highs import new_highs, solve_highs
from exact.backends.pulp_model import pulp_availability, pulp_model
from exact.compact import CompactProblem

__all__ = ["PulpHighs"]


class PulpHighs(CompactBackend):
    """Branch and cut by HiGHS on the compact programme written in PuLP.

    PuLP writes the model and turns it into HiGHS's; solving and reading is done on the HiGHS object itself. PuLP
    would pass on neither start nor bound, calls a stop at the time limit optimal, fills the variables with LP
    values when there is no incumbent, and fails at a node limit.
    """

    name = "pulp-highs"
    summary = "HiGHS on the compact programme, written in PuLP"
    packages = ("pulp", "highspy")
    modules = ("pulp", "highspy")
    hint = "pip install 'pulp>=3.3.2,<4' 'highspy>=1.16,<1.17'"

    def available(self) -> Availability:
        """PuLP 3 and highspy."""
        found = pulp_availability(self.hint)
        return super().available() if found.usable else found

    def optimise(
        self, problem: CompactProblem, start: NDArray[np.float64] | None, run: Run, params: CompactParams
    ) -> Outcome:
        """Write the model in PuLP, let it build HiGHS's, and solve."""
        import pulp

        with building():
            model, variables = pulp_model(problem, problem.objective_scale)
        model.solverModel = new_highs(run.say)
        pulp.HiGHS().buildSolverModel(model)  # negates the objective of a maximisation
        column = np.array([variable.index for variable in variables])
        return solve_highs(model.solverModel, problem, column, -1.0, start, run, params)
