"""What is done at a node: bounds that drop states, enumerations that find placements or exhaust it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from exact.bounds import bound
from exact.branch_and_bound.coverage import CoverageDual, CoveragePoint
from exact.branch_and_bound.groups import Region
from exact.branch_and_bound.joint_dual import JointDual
from exact.branch_and_bound.node import Node
from exact.branch_and_bound.parameters import Parameters
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import Problem
from exact.branch_and_bound.relaxation import optimistic, relax
from prefixplace.joint.enumeration import Enumeration, enumerate_space, spread_prices
from prefixplace.joint.prices import Pricing, best_prices
from prefixplace.joint.states import FAR, FREE
from prefixplace.placement import Placement
from prefixplace.stopping import Budget

__all__ = ["Bounding", "Stop"]

Mask = NDArray[np.bool_]

_MANY_CLASSES = 10  # of workers: with more, the price vectors of an enumeration cost more than they save
_PRICE_WORK = (
    400_000_000,
    50_000_000,
)  # pairs of states compared in a descent on prices, at the root and below
_LABEL_CELLS = 20_000_000  # numbers in the tables of the joint bound of labels
_NODE_ROUNDS, _LEAST_ROUNDS = 40, 20  # of the coverage dual below the root
_LATER = 4  # part of the root's rounds that a later descent there gets
_BEGINNING = 0.05  # share of the time left that a beginning in floats may take
_RELAXING = 0.4  # share of the time left in which an LP has to be solved
_PASSES = 4  # coverage duals one after the other on what the last one fixed,
_MUCH = 0.03  # … while that is this share of the free pairs
_JOINT_CELLS = 300_000  # table cells up to which the joint dual gets all its rounds


class Stop(Exception):
    """A limit of the run is reached."""


class Bounding:
    """The three duals and the enumeration, applied to nodes; every step that proves something is noted in the node.

    Methods return False (the enumeration None) when the node is closed: nothing in it is worth more than
    :attr:`floor`. Each raises :class:`Stop` when the run's limit is reached before it begins.

    Parameters
    ----------
    problem : Problem
    primal : Primal
        Keeps the incumbent, and is offered whatever is found.
    parameters : Parameters
    expired : callable
        Asked often; true ends the search.
    remaining : callable
        Seconds left, None without a limit.
    threads : int, default 1
        That the coverage dual of many pairs may use; a second one also looks for placements beside an LP.

    Attributes
    ----------
    evaluations, rounds, labels : int
        Of the budget dual, of the two other duals, and of enumerations, so far.
    points : list of int64 arrays
        Where the coverage duals of the root ended.
    prices : int64 array, or None
        Where the first budget dual ended.
    """

    def __init__(
        self,
        problem: Problem,
        primal: Primal,
        parameters: Parameters,
        expired: Callable[[], bool],
        remaining: Callable[[], float | None] = lambda: None,
        threads: int = 1,
    ) -> None:
        self.problem, self.primal, self.parameters, self.expired = problem, primal, parameters, expired
        self.remaining, self.threads = remaining, threads
        self.evaluations = self.rounds = self.labels = 0
        self.points: list[NDArray[np.int64]] = []
        self.prices: NDArray[np.int64] | None = None

    @property
    def floor(self) -> int:
        """Only placements worth more are looked for.

        Values are multiples of the grid's step, so that one below the next step is enough. Where a step is finer than
        10⁻¹² of the value (data that are no short decimals), that distance counts as closed instead: below it lie
        the rounding of the data and of the multipliers.
        """
        value = self.primal.value
        return value + max(self.problem.grid.step - 1, value >> 40)

    def check(self) -> None:
        """Raise :class:`Stop` when time is up."""
        if self.expired():
            raise Stop

    def close(self, node: Node) -> bool:
        """Nothing in `node` is worth more than the floor."""
        node.bound = node.dual = self.floor
        node.space = None
        return False

    def price(self, node: Node) -> bool:
        """Budget dual, then drop the states that it shows to be no better than the incumbent. False: closed."""
        self.check()
        space = node.space
        assert space is not None
        pricing = Pricing(space)
        classes = np.cumsum(~node.twin) - 1
        limit = self.parameters.price_evaluations if node.depth == 0 else 40
        limit = max(10, min(limit, _PRICE_WORK[node.depth > 0] // max(space.work, 1)))
        bound, prices = best_prices(
            pricing,
            node.prices.astype(np.float64),
            classes,
            floor=self.floor,
            limit=limit,
            expired=self.expired,
        )
        node.lower(bound)
        node.prices = prices
        self.prices = prices if self.prices is None else self.prices
        self.evaluations += pricing.evaluations
        node.steps.append(("prices", prices))
        if node.dual <= self.floor:
            return self.close(node)
        total = pricing.bound(prices)
        return self.reduce(node, pricing.through(total) > self.floor)

    def reduce(self, node: Node, keep: Mask) -> bool:
        """Keep only some states. False: closed."""
        assert node.space is not None
        space = node.space.reduced(keep)
        if space is None:
            return self.close(node)
        if space.size == 0:  # one placement is left
            self.primal.offer(self.problem.to_mask(space.decided))
            return self.close(node)
        node.space, node.fix, node.must = space, space.pairs(), space.held()
        return True

    def cover(self, node: Node, rounds: int | None = None) -> bool:
        """Coverage dual and what it fixes, again while that is much; states are dropped, or written down where few
        pairs are left. At most `rounds` in the first descent, by default more at the root. False: closed."""
        problem = self.problem
        assert problem.local is not None and problem.coverage is not None and node.multipliers is not None
        limit = _NODE_ROUNDS
        if node.depth == 0:
            limit = self.parameters.coverage_rounds // (_LATER if node.covered else 1)
        limit = rounds or limit
        for _ in range(_PASSES):
            self.check()
            dual = self.coverage_dual(node)
            if not dual.feasible:
                return self.close(node)
            visit, every = self.visitor(dual.cells if dual.exact else 0)
            point = dual.descend(
                node.multipliers, node.prices[dual.first], floor=self.floor, target=self.primal.value, rounds=limit,
                visit=visit, every=every, expired=self.expired,
            )  # fmt: skip
            self.covered(node, dual, point)
            if node.dual <= self.floor:
                return self.close(node)
            if point.bound >= FAR // 2:  # int64 could not hold it: nothing is known of what states lose
                return True
            losses = dual.losses(point)
            room = losses.bound - self.floor
            if node.space is not None:
                return self.reduce(node, losses.bound - losses.of_states(node.space) > self.floor)
            free = np.count_nonzero(node.fix == FREE)
            tightened = losses.tightened(problem, node.fix, node.must, room)
            if tightened is None:
                return self.close(node)
            node.fix, node.must = tightened
            left = np.count_nonzero(node.fix == FREE)
            if node.depth == 0 or left <= self.parameters.few_pairs:
                node.space = losses.cheap_space(problem, room)
                if node.space is not None:
                    return self.reduce(node, np.ones(node.space.states, np.bool_))
            if free - left < _MUCH * free:
                return True
            limit = max(limit // 2, _LEAST_ROUNDS)
        return True

    def begin(self, node: Node) -> None:
        """Multipliers, budget prices, average answer and a placement to begin from, of the coverage dual in floats.

        On many chunks its steps, scaled chunk by chunk, are worth more than many of the grid's; nothing is proved here.
        """
        self.check()
        problem, grid = self.problem, self.problem.grid
        left = self.remaining()
        limit = Budget(seconds=None if left is None else _BEGINNING * left)
        start = Placement(problem.instance.tree, self.primal.mask)
        found = bound(problem.instance, "coverage-dual", budget=limit, start=start)
        if found.placement is not None:
            self.primal.offer(np.array(found.placement.mask))
        if "coverage" in found.multipliers and "budget" in found.multipliers and found.weights is not None:
            node.multipliers = grid.to_units(found.multipliers["coverage"])
            node.prices = grid.to_units(np.maximum(found.multipliers["budget"][problem.workers], 0.0))
            node.weights, node.covered = found.weights[problem.workers], True

    def regions(self, node: Node, sizes: Sequence[int]) -> list[Region]:
        """Of each size at most so many pairs that lose little at the multipliers of `node`. O(M·n) each.

        None at all where nothing is known of losses, as int64 could not hold them.
        """
        self.check()
        assert node.multipliers is not None
        dual = self.coverage_dual(node)
        here = dual.descend(node.multipliers, node.prices[dual.first], floor=0, target=0, rounds=1)
        if here.bound >= FAR // 2:
            return []
        room, losses = here.bound - self.floor, dual.losses(here)
        prices = here.prices[dual.owner]
        return [
            Region(optimistic(self.problem, losses, node.fix, room, most), here.multipliers, prices)
            for most in sizes
        ]

    def relax(self, node: Node, region: Region, meanwhile: Callable[[], bool]) -> int | None:
        """Multipliers, budget prices and average answer of the LP over `region`, for the next descent, and its value.

        None when it could not be solved. With a second thread `meanwhile` runs beside it. See
        :mod:`exact.branch_and_bound.relaxation`.
        """
        self.check()
        left = self.remaining()
        seconds = None if left is None else _RELAXING * left
        found = relax(
            self.problem, region.fix, region.multipliers, region.prices, seconds, self.expired,
            meanwhile if self.threads > 1 else lambda: False,
        )  # fmt: skip
        if found is None:
            return None
        node.multipliers, node.prices, node.weights = found.multipliers, found.prices, found.weights
        return found.value

    def coverage_dual(self, node: Node) -> CoverageDual:
        """The coverage dual under the fixings of `node`."""
        problem = self.problem
        assert problem.local is not None and problem.coverage is not None
        return CoverageDual(
            problem.instance.tree.end, problem.local, problem.coverage, problem.budgets, node.twin, node.fix, node.must,
            self.parameters.table_cells, self.threads,
        )  # fmt: skip

    def covered(self, node: Node, dual: CoverageDual, point: CoveragePoint) -> None:
        """Note in `node` what a descent of its coverage dual has shown."""
        self.rounds += point.rounds
        if node.depth == 0:
            self.points.append(point.multipliers)
        node.lower(point.bound)
        node.multipliers, node.weights, node.covered = (
            point.multipliers,
            point.weights[dual.first[dual.owner]],
            True,
        )
        node.steps.append(("coverage", point.multipliers, None if point.exact else point.prices[dual.owner]))

    def visitor(self, cells: int) -> tuple[Callable[[NDArray[np.float64]], int], int]:
        """What a descent tells its workers' answers, and every how many rounds: they are refined into a placement.

        Refining costs about as much as a few rounds on all chunks; `cells` is the size of a round's tables, 0 for
        rounds without any.
        """
        n = self.problem.instance.num_chunks
        every = 16 if cells == 0 else max(8, 2 * n * int(self.problem.budgets.sum()) // cells)

        def visit(answers: NDArray[np.float64]) -> int:
            self.primal.improve_answers(answers)
            return self.primal.value

        return visit, every

    def join(self, node: Node) -> bool:
        """Joint dual, then drop states. False: closed."""
        self.check()
        assert node.space is not None
        dual = JointDual(self.problem, node.space, node.twin)
        if not dual.feasible:
            return self.close(node)
        if dual.cells > self.parameters.most_cells:
            return True
        shape = node.fix.shape
        starts = [np.repeat(node.prices[:, None], shape[1], axis=1)]
        if node.joint is not None:
            starts.append(node.joint)
        if node.multipliers is not None and self.problem.local is not None:
            starts.append(self.problem.local + node.multipliers)
        answers = np.zeros(shape)
        values = [dual.evaluate(dual.clean(start), answers)[0] for start in starts]
        start = starts[int(np.argmin(values))]
        limit = self.parameters.joint_rounds if node.depth == 0 else 60
        limit = max(30, min(limit, limit * _JOINT_CELLS // max(dual.cells, 1)))
        visit, every = self.visitor(dual.cells)
        point = dual.descend(
            start,
            floor=self.floor,
            target=self.primal.value,
            rounds=limit,
            visit=visit,
            every=every,
            expired=self.expired,
        )
        self.rounds += point.rounds
        node.lower(point.bound)
        node.joint, node.weights = point.multipliers, point.weights
        node.steps.append(("joint", point.multipliers))
        if node.dual <= self.floor:
            return self.close(node)
        return self.reduce(node, dual.state_bounds(point) > self.floor)

    def joint_multipliers(self, node: Node) -> NDArray[np.int64] | None:
        """The best π at hand for the labels of an enumeration, if any: that of the joint dual, or a + μ."""
        space = node.space
        assert space is not None
        if self.problem.workers.size * space.size * int(space.slack.max(initial=0)) > _LABEL_CELLS:
            return None
        multipliers = node.joint
        if (
            multipliers is None
            and node.covered
            and node.multipliers is not None
            and self.problem.local is not None
        ):
            multipliers = self.problem.local + node.multipliers
        return None if multipliers is None else JointDual(self.problem, space, node.twin).clean(multipliers)

    def enumerate(self, node: Node, width: int) -> Enumeration | None:
        """Look for better placements by labels. None: closed."""
        self.check()
        space = node.space
        assert space is not None
        pricing = Pricing(space)
        bound = pricing.bound(node.prices)
        classes = np.cumsum(~node.twin) - 1
        multipliers = self.joint_multipliers(node)
        # the joint bound knows what unspent budgets are worth; without it several price vectors together tell
        prices = [node.prices]
        if multipliers is None and classes[-1] < _MANY_CLASSES:
            prices = spread_prices(pricing, node.prices, classes, bound, self.floor)
        found = enumerate_space(
            space, prices, node.twin, self.floor, width=width, multipliers=multipliers, expired=self.expired
        )
        self.labels += found.labels
        if found.holders is not None:
            mask = self.problem.to_mask(found.holders)
            self.primal.offer(mask)
            self.primal.improve(mask)
        if found.exhaustive or found.bound <= self.floor:
            node.steps.append(("enumerate", found.order, prices, multipliers))
            self.close(node)
            return None
        node.bound = min(node.bound, found.bound)
        return found
