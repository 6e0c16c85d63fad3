"""`solve` and the table of heuristic methods behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import e
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np

from prefixplace.errors import InputError
from prefixplace.instance import Instance
from prefixplace.params import NoParams, checked_params
from prefixplace.placement import Placement
from prefixplace.planner.baselines import independent, local_dedup, popularity, with_summary
from prefixplace.planner.best import BestParams, best
from prefixplace.planner.exchange import ExchangeParams, exchange
from prefixplace.planner.greedy import worker_greedy
from prefixplace.planner.multistart import multi_start
from prefixplace.planner.nonoblivious import NonObliviousParams, nonoblivious
from prefixplace.planner.refine import refine
from prefixplace.planner.search import Mask, Search, Stopped
from prefixplace.result import Result, StopReason
from prefixplace.stopping import Budget, Clock, ProgressCallback, is_interrupt

__all__ = [
    "METHODS",
    "GreedyParams",
    "Method",
    "MultiStartParams",
    "RefinedParams",
    "solve",
]


@dataclass(frozen=True)
class GreedyParams:
    """Parameters of ``greedy``.

    Parameters
    ----------
    order : sequence of worker numbers, optional
        The order in which workers choose; 0, 1, …, M − 1 when left out.
    """

    order: Sequence[int] | None = None

    def of(self, instance: Instance) -> Sequence[int]:
        """The order for `instance`; :class:`InputError` unless it names each worker once."""
        workers = range(instance.num_workers)
        if self.order is None:
            return workers
        if any(type(m) is not int for m in self.order) or sorted(self.order) != list(workers):
            raise InputError(f"order {list(self.order)} does not name each of {len(workers)} workers once")
        return tuple(self.order)


@dataclass(frozen=True)
class MultiStartParams:
    """Parameters of ``order-starts`` and ``prefixplace``.

    Parameters
    ----------
    tolerance : float ≥ 0, default 1e-9
        Refinement accepts a step only when F rises by more than ``tolerance · F``.
    """

    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise InputError(f"tolerance is {self.tolerance}, must be ≥ 0")


@dataclass(frozen=True)
class RefinedParams(MultiStartParams, GreedyParams):
    """Parameters of ``refined``: the order of greedy, which is also that of every sweep, and the tolerance."""


@dataclass(frozen=True)
class Method:
    """A heuristic of :func:`solve`.

    Attributes
    ----------
    name, summary : str
    guarantee : float or None
        A factor α such that value ≥ α · optimum on every instance; None when there is none.
    objective : {"both", "requester-side", "pairwise"}
        The instances on which it is defined.
    takes_start : bool
        Whether it can begin from a given placement.
    params : type
        The dataclass of its parameters.
    """

    name: str
    summary: str
    run: Callable[[Search, Any, Mask | None], None]
    guarantee: float | None = None
    objective: Literal["both", "requester-side", "pairwise"] = "both"
    takes_start: bool = False
    params: type = NoParams

    def applies_to(self, instance: Instance) -> bool:
        """Whether the method is defined for the objective of `instance`."""
        return self.objective == "both" or (self.objective == "pairwise") == instance.pairwise


def _greedy(search: Search, params: GreedyParams, start: Mask | None) -> None:
    search.offer(worker_greedy(search, params.of(search.instance)).mask, "greedy")


def _refined(search: Search, params: RefinedParams, start: Mask | None) -> None:
    order = params.of(search.instance)
    if start is not None:
        search.offer(start, "given start")
        refine(search, search.working(start), order, params.tolerance, "given start")
        return
    state = worker_greedy(search, order)
    search.offer(state.mask, "greedy")
    refine(search, state, order, params.tolerance, "greedy", answered=True)


def _order_starts(search: Search, params: MultiStartParams, start: Mask | None) -> None:
    multi_start(search, params.tolerance, safeguards=False, start=start)


def _prefixplace(search: Search, params: MultiStartParams, start: Mask | None) -> None:
    multi_start(search, params.tolerance, safeguards=True, start=start)


def _nonoblivious(search: Search, params: NonObliviousParams, start: Mask | None) -> None:
    nonoblivious(search, search.empty() if start is None else start, params)


def _pair_exchange(search: Search, params: ExchangeParams, start: Mask | None) -> None:
    if start is not None:
        search.offer(start, "given start")
    exchange(search, search.empty() if start is None else start, params)


def _baseline(compute: Callable[[Search], Mask]) -> Callable[[Search, NoParams, Mask | None], None]:
    def run(search: Search, params: NoParams, start: Mask | None) -> None:
        search.offer(compute(search), compute.__name__.replace("_", "-"))

    return run


def _summarised(summary: str) -> Callable[[Search, MultiStartParams, Mask | None], None]:
    def run(search: Search, params: MultiStartParams, start: Mask | None) -> None:
        proxy = Search(with_summary(search.instance, summary), search.clock)
        try:
            multi_start(proxy, params.tolerance, safeguards=True)
        finally:  # also when stopped: the best set under the summary is still a plan
            search.offer(proxy.best_mask, summary)

    return run


_ALL = (
    Method(
        "greedy", "WorkerGreedy in one order, each worker answered exactly", _greedy, 0.5, params=GreedyParams
    ),
    Method(
        "refined",
        "greedy, then best responses worker by worker until none improves",
        _refined,
        0.5,
        takes_start=True,
        params=RefinedParams,
    ),
    Method(
        "order-starts",
        "refined greedy starts: all M! orders up to M = 5, else eight",
        _order_starts,
        0.5,
        takes_start=True,
        params=MultiStartParams,
    ),
    Method(
        "prefixplace",
        "the paper's Algorithm 1: order starts and the three baselines as safeguards",
        _prefixplace,
        0.5,
        takes_start=True,
        params=MultiStartParams,
    ),
    Method(
        "non-oblivious",
        "best responses on a potential that counts further copies, then refinement",
        _nonoblivious,
        1 - 1 / e,
        takes_start=True,
        params=NonObliviousParams,
    ),
    Method(
        "pair-exchange",
        "refinement, then two workers at a time answered together",
        _pair_exchange,
        0.5,
        takes_start=True,
        params=ExchangeParams,
    ),
    Method(
        "best",
        "prefixplace, non-oblivious refinement and pair exchange, until nothing helps",
        best,
        1 - 1 / e,
        takes_start=True,
        params=BestParams,
    ),
    Method("independent", "every worker alone, demand × recompute cost", _baseline(independent)),
    Method("popularity", "every worker alone, local demand", _baseline(popularity)),
    Method(
        "local-dedup",
        "workers in turn, covered chunks discounted",
        _baseline(local_dedup),
        objective="requester-side",
    ),
    *(
        Method(
            name,
            f"plan with {text} as if it did not depend on the source",
            _summarised(name),
            objective="pairwise",
            params=MultiStartParams,
        )
        for name, text in (
            ("mean-rate", "the mean link rate"),
            ("mean-transfer-cost", "the mean fetch cost"),
            ("best-source-cost", "the cheapest fetch cost"),
        )
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The heuristics of :func:`solve` by name."""


def solve(
    instance: Instance,
    method: str = "prefixplace",
    *,
    budget: Budget | None = None,
    seed: int = 0,
    start: Placement | None = None,
    progress: ProgressCallback | None = None,
    params: Any = None,
) -> Result:
    """Plan the placement of `instance` by a heuristic.

    Parameters
    ----------
    instance : Instance
    method : str, default "prefixplace"
        A name of :data:`METHODS`.
    budget : Budget, optional
        Limits on seconds and iterations (oracle calls). When one is met, or on Ctrl-C, the best placement found
        so far is returned; keeping nothing is always one.
    seed : int, default 0
        Seed of methods that draw at random; the paper's methods draw nothing. Recorded in the result.
    start : Placement, optional
        A placement to improve, for methods that take one.
    progress : callable, optional
        Called with a :class:`Progress` after each start and sweep.
    params : dataclass, optional
        Parameters of the method (``METHODS[name].params``).

    Returns
    -------
    Result
        Without a bound: heuristics prove none beyond their factor (``METHODS[name].guarantee``).

    Raises
    ------
    InputError
        For an unknown method, one that is not defined for this objective, or parameters of another method.
    """
    chosen = METHODS.get(method)
    if chosen is None:
        raise InputError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    if not chosen.applies_to(instance):
        raise InputError(f"method {method!r} is defined for {chosen.objective} instances only")
    params = checked_params(f"method {method!r}", params, chosen.params)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed is {seed!r}: must be a whole number ≥ 0")
    if start is not None:
        if not chosen.takes_start:
            raise InputError(f"method {method!r} takes no start")
        instance.check(start)

    search = Search(instance, Clock(budget or Budget()), progress)
    stop_reason = "finished"
    try:
        chosen.run(search, params, None if start is None else np.array(start.mask))
    except Stopped as stopped:
        stop_reason = stopped.reason
        search.offer_unfinished()
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stop_reason = "user"
        search.offer_unfinished()
    return Result.of(
        instance,
        method,
        Placement(instance.tree, search.best_mask),
        stop_reason=cast(StopReason, stop_reason),
        seconds=search.clock.seconds,
        trace=tuple(search.trace),
        counters={"oracle_calls": search.clock.iterations},
        seed=seed,
        log=tuple(search.log),
    )
