"""``branch-and-bound``: the project's own prover behind :func:`exact.solve`."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from exact.backend import Backend, Outcome, Run
from exact.branch_and_bound.bounding import Bounding
from exact.branch_and_bound.parameters import Parameters
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import Problem, problem_of
from exact.branch_and_bound.search import Search
from exact.certificates.certificate import Certificate
from exact.certificates.verification import Rejected
from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.placement import Placement
from prefixplace.result import BoundProof, Result, StopReason
from prefixplace.stopping import Budget, ProgressCallback

__all__ = ["BranchAndBound", "prove", "searched"]


class BranchAndBound(Backend):
    """Duals, fixing, enumeration by labels and branching on an integer grid; see :mod:`exact.branch_and_bound`."""

    name = "branch-and-bound"
    summary = "the project's own prover: holder-set and coverage duals, fixing, enumeration, branching"
    bound_proof = "float"
    params = Parameters

    def load(self) -> None:
        """Compile or load all kernels; cached on disk after the first time."""
        from exact.branch_and_bound.warm_up import warm_up

        warm_up()

    def refuses(self, instance: Instance, params: Parameters) -> str | None:
        """Pairwise instances need all holder states written down; more than 62 workers do not fit a word."""
        holders = int(np.count_nonzero(instance.budgets))
        if holders > 62:
            return f"{holders} workers can hold chunks, and holder sets are words of 62 bits"
        if instance.pairwise and (holders >= 24 or instance.num_chunks << holders > params.most_states):
            return f"2^{holders} holder sets of {instance.num_chunks} chunks are too many to write down"
        return None

    def run(self, run: Run, params: Parameters) -> Outcome:
        """Search until the proof or a limit; incumbent and bound are reported as they improve."""
        outcome, _ = searched(run, params)
        return outcome


def searched(run: Run, params: Parameters) -> tuple[Outcome, Search]:
    """Run the search of an instance; also the search itself, from which a certificate can be made."""
    problem = problem_of(run.instance, params.most_states)

    def better(mask: NDArray[np.bool_]) -> None:
        run.offer(mask, "search")

    def report(bound: int, line: str) -> None:
        run.tighten(ceiling(problem, bound))
        run.say(line)

    primal = Primal(problem, better)
    run.offer(primal.mask, "nothing")
    bounding = Bounding(
        problem,
        primal,
        params,
        lambda: run.clock.expired() is not None,
        lambda: run.clock.remaining,
        run.threads,
    )
    search = Search(bounding, report)
    reason = "user"
    try:
        if run.start is not None:
            primal.improve(run.start)
        primal.improve(np.zeros_like(primal.mask))
        reason = search.run(node_limit=run.budget.nodes, gap=run.budget.gap)
    except KeyboardInterrupt:
        run.say("interrupted")
    run.tighten(ceiling(problem, search.bound))
    counters = {
        "nodes": search.nodes,
        "price_evaluations": bounding.evaluations,
        "dual_rounds": bounding.rounds,
        "labels": bounding.labels,
    }
    return Outcome(cast(StopReason, reason), counters=counters), search


def ceiling(problem: Problem, units: int) -> float:
    """An upper bound in grid units as one in ms on the objective itself: the grid's error is added, rounded up."""
    if units <= 0:
        return 0.0  # on the grid nothing positive became 0
    return float(np.nextafter(problem.grid.to_ms(units) + problem.error, np.inf))


def prove(
    instance: Instance,
    *,
    budget: Budget | None = None,
    start: Placement | None = None,
    progress: ProgressCallback | None = None,
    params: Parameters | None = None,
    threads: int = 1,
) -> tuple[Result, Certificate | None]:
    """Solve `instance` as ``exact.solve(instance, "branch-and-bound")`` does, and certify what it has shown.

    Parameters are those of :func:`exact.solve`.

    Returns
    -------
    (Result, Certificate or None)
        After a proof the certificate is a ``state-search`` that replays it in exact arithmetic (:func:`exact.verify`);
        None when the replay does not close every branch (the log then says so). The bound of the result is that of
        the certificate and its proof is ``exact``. After a limit or Ctrl-C the certificate holds the incumbent and the
        best bound of the root's duals; the result keeps the search's own bound where that is better, as ``float``. The
        seconds of the result are those of the search, without certifying.

    Raises
    ------
    InputError
        When the prover refuses the instance, or the start does not fit.
    """
    from exact.branch_and_bound.partial import partial_certificate
    from exact.branch_and_bound.proof import certificate_of

    backend, chosen = BranchAndBound(), params or Parameters()
    refusal = backend.refuses(instance, chosen)
    if refusal is not None:
        raise InputError(f"{backend.name!r} cannot take this instance: {refusal}")
    if start is not None:
        instance.check(start)
    backend.load()
    run = Run(
        instance,
        budget or Budget(),
        threads,
        None if start is None else np.array(start.mask),
        progress=progress,
    )
    outcome, search = searched(run, chosen)
    seconds = run.clock.seconds
    certificate = None
    if search.bound > search.bounding.floor:
        certificate = partial_certificate(search)
    else:
        try:
            certificate = certificate_of(search)
        except (
            Rejected
        ) as reason:  # the verifier's rounding is coarser than the search's: no certificate, and no claim
            run.say(f"no certificate: {reason}")
    bound = run.bound
    proof: BoundProof = backend.bound_proof
    if certificate is not None:
        stated = float(certificate.bound)
        if stated < certificate.bound:
            stated = float(np.nextafter(stated, np.inf))
        # of a search that has not ended the certificate may say less than the search
        if certificate.kind == "state-search" or bound is None or stated <= bound:
            bound, proof = stated, "exact"
    assert run.best_mask is not None
    result = Result.of(
        instance,
        backend.name,
        Placement(instance.tree, run.best_mask),
        stop_reason=outcome.stop_reason,
        seconds=seconds,
        bound=bound,
        bound_proof=proof,
        trace=tuple(run.trace),
        counters=outcome.counters,
        log=tuple(run.lines),
    )
    return result, certificate
