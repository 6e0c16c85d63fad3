"""``branch-and-bound``: the project's own prover behind :func:`exact.solve`."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from exact.backend import Backend, Outcome, Run
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import MOST_STATES, Problem, problem_of
from exact.branch_and_bound.search import Parameters, Search
from prefixplace.instance import Instance
from prefixplace.result import StopReason

__all__ = ["BranchAndBound"]


class BranchAndBound(Backend):
    """Duals, fixing, enumeration by labels and branching on an integer grid; see :mod:`exact.branch_and_bound`."""

    name = "branch-and-bound"
    summary = "the project's own prover: holder-set and coverage duals, fixing, enumeration, branching"
    bound_proof = "float"
    params = Parameters

    def refuses(self, instance: Instance, params: Parameters) -> str | None:
        """Pairwise instances need all holder states written down; more than 62 workers do not fit a word."""
        holders = int(np.count_nonzero(instance.budgets))
        if holders > 62:
            return f"{holders} workers can hold chunks, and holder sets are words of 62 bits"
        if instance.pairwise and (holders >= 24 or instance.num_chunks << holders > MOST_STATES):
            return f"2^{holders} holder sets of {instance.num_chunks} chunks are too many to write down"
        return None

    def run(self, run: Run, params: Parameters) -> Outcome:
        """Search until the proof or a limit; incumbent and bound are reported as they improve."""
        problem = problem_of(run.instance)

        def better(mask: NDArray[np.bool_]) -> None:
            run.offer(mask, "search")

        def report(bound: int, line: str) -> None:
            run.tighten(ceiling(problem, bound))
            run.say(line)

        primal = Primal(problem, better)
        run.offer(primal.mask, "nothing")
        search = Search(problem, primal, params, lambda: run.clock.expired() is not None, report)
        reason = "error"
        try:
            if run.start is not None:
                primal.improve(run.start)
            primal.improve(np.zeros_like(primal.mask))
            reason = search.run(node_limit=run.budget.nodes, gap=run.budget.gap)
        except KeyboardInterrupt:
            reason = "user"
        run.tighten(ceiling(problem, search.bound))
        counters = {
            "nodes": search.nodes,
            "price_evaluations": search.evaluations,
            "coverage_rounds": search.rounds,
            "labels": search.labels,
        }
        return Outcome(cast(StopReason, reason), counters=counters)


def ceiling(problem: Problem, units: int) -> float:
    """An upper bound in grid units as one in ms on the objective itself: the grid's error is added, rounded up."""
    if units <= 0:
        return 0.0  # on the grid nothing positive became 0
    return float(np.nextafter(problem.grid.to_ms(units) + problem.error, np.inf))
