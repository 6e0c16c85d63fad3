"""The search: bounds, fixing, enumeration and branching over holder states."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.coverage import CoverageDual
from exact.branch_and_bound.joint_dual import JointDual, JointPoint
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import Problem
from prefixplace.joint.enumeration import Enumeration, enumerate_space, spread_prices
from prefixplace.joint.prices import Pricing, best_prices
from prefixplace.joint.states import FREE, INSIDE, NEVER, OUTSIDE, StateSpace

__all__ = ["Node", "Parameters", "Search", "Stop"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Step = tuple[Any, ...]


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
    """

    widths: tuple[int, ...] = (40, 400, 4000, 40_000, 400_000)
    price_evaluations: int = 400
    coverage_rounds: int = 400
    joint_rounds: int = 300
    few_workers: int = 4
    most_cells: int = 5_000_000
    most_labels: int = 20_000_000


@dataclass(eq=False)
class Node:
    """A part of the placements: those whose states lie in `space`, or obey `fix` while there is no space yet.

    Attributes
    ----------
    bound : int
        Nothing in here is worth more, in grid units.
    dual : int
        The same as far as the steps show it, that is without enumerations that were cut short. A node is closed by
        this one, so that the certificate holds what closed it.
    space : StateSpace or None
    fix : int8 array (M, n)
    twin : bool array (M,)
        Workers that are still interchangeable with their predecessor.
    prices, multipliers : int64 arrays
        Where the duals begin, inherited.
    steps : list
        What was proved here, for the certificate.
    weights_only : bool
        Whether it branched without states.
    branch : (worker, chunk), or None
        The branching that ended this node, followed by the parts `children` (kept, not kept).
    """

    bound: int
    dual: int
    space: StateSpace | None
    fix: NDArray[np.int8]
    twin: Mask
    prices: Ints
    multipliers: Ints | None
    depth: int = 0
    weights_only: bool = False
    steps: list[Step] = field(default_factory=list)
    joint: Ints | None = None
    weights: NDArray[np.float64] | None = None
    branch: tuple[int, int] | None = None
    children: tuple[Node, Node] | None = None

    def lower(self, bound: int) -> None:
        """A dual bound has been found."""
        self.dual = min(self.dual, bound)
        self.bound = min(self.bound, bound)

    def twin_class(self, worker: int) -> range:
        """`worker`, the first of its class, and those interchangeable with it."""
        last = worker + 1
        while last < self.twin.size and self.twin[last]:
            last += 1
        return range(worker, last)

    def child(
        self, space: StateSpace | None, fix: NDArray[np.int8] | None = None, *, apart: int | None = None
    ) -> Node:
        """A part of this node; worker `apart`, first of its class, leaves it because the part treats it specially."""
        twin = self.twin.copy()
        if apart is not None and apart + 1 < twin.size:
            twin[apart + 1] = False
        if fix is None:
            fix = self.fix if space is None else space.pairs()
        return Node(
            self.bound,
            self.dual,
            space,
            fix,
            twin,
            self.prices,
            self.multipliers,
            self.depth + 1,
            joint=self.joint,
        )


_PROMISING = 0.5  # share of chunks with labels left out up to which ten times as many may prove
_MANY_CLASSES = 10  # of workers: with more, the price vectors of an enumeration cost more than they save
_PRICE_WORK = 50_000_000  # pairs of states compared in all evaluations of one descent on prices
_JOINT_CELLS = 300_000  # table cells up to which the joint dual gets all its rounds
_MOST_EXCHANGE = 20_000  # pairs of workers × chunks that an exchange may cost
_LARGE_GAP = 1e-3  # above it the incumbent is worth the effort of pair exchange


class Stop(Exception):
    """A limit of the run is reached."""


class Search:
    """Best-bound branch and bound with dives.

    Parameters
    ----------
    problem : Problem
    primal : Primal
        Keeps the incumbent.
    parameters : Parameters
    expired : callable
        Asked often; true ends the search.
    report : callable
        Told ``(bound in grid units, line)`` when the bound of the whole has moved.
    """

    def __init__(
        self,
        problem: Problem,
        primal: Primal,
        parameters: Parameters,
        expired: Callable[[], bool],
        report: Callable[[int, str], None],
    ) -> None:
        self.problem, self.primal, self.parameters = problem, primal, parameters
        self.expired, self.report = expired, report
        self.nodes = 0
        self.evaluations = 0
        self.rounds = 0
        self.labels = 0
        self._pushed = 0
        self._open: list[tuple[int, int, Node]] = []
        self._current: Node | None = None
        self.root = self._root()

    @property
    def floor(self) -> int:
        """Only placements worth more are looked for.

        Values are multiples of the grid's step, so that one below the next step is enough. Where a step is finer than
        10⁻¹² of the value (data that are no short decimals), that distance counts as closed instead: below it lie
        the rounding of the data and of the multipliers.
        """
        value = self.primal.value
        return value + max(self.problem.grid.step - 1, value >> 40)

    @property
    def bound(self) -> int:
        """Upper bound on the optimum, in grid units."""
        waiting = [node.bound for _, _, node in self._open]
        if self._current is not None:
            waiting.append(self._current.bound)
        value, step = self.primal.value, self.problem.grid.step
        best = max(waiting, default=self.floor)
        return best if best - value >= step else value

    def _root(self) -> Node:
        problem = self.problem
        shape = problem.workers.size, problem.instance.num_chunks
        if problem.table is not None:
            bound, space = int(problem.table.max(axis=1).sum()), problem.all_states()
        else:
            assert problem.local is not None and problem.coverage is not None
            bound, space = int(problem.local.sum() + problem.coverage.sum()), None
        multipliers = None if problem.coverage is None else problem.coverage // 2
        node = Node(
            bound,
            bound,
            space,
            np.zeros(shape, np.int8),
            problem.twin,
            np.zeros(shape[0], np.int64),
            multipliers,
        )
        values = problem.table[:, -1] if problem.table is not None else problem.coverage
        if values is not None and values.size and problem.budgets.size:
            # a chunk of the budget is worth about what the best chunks that fill it are worth
            worth = np.sort(values)[::-1]
            filled = np.minimum(problem.budgets, worth.size) - 1
            node.prices = worth[filled] // problem.budgets.size
        return node

    def run(self, *, node_limit: int | None = None, gap: float = 0.0) -> str:
        """Search until the proof, or until a limit: ``finished``, ``time`` or ``nodes``."""
        self._push(self.root)
        while self._open:
            if self.primal.value > 0 and self.bound - self.primal.value <= gap * self.bound:
                return "finished"
            node: Node | None = heapq.heappop(self._open)[2]
            while node is not None and node.dual > self.floor:
                self._current = node  # counts for the bound until it is closed or its parts take its place
                if node_limit is not None and self.nodes >= node_limit:
                    return "nodes"
                self.nodes += 1
                try:
                    children = sorted(self._process(node), key=lambda child: -child.bound)
                except Stop:
                    return "time"
                for child in children[1:]:
                    self._push(child)
                self._current = children[0] if children else None  # dive
                self._say(node)
                node = self._current
            self._current = None
        return "finished"

    def _push(self, node: Node) -> None:
        self._pushed += 1
        heapq.heappush(self._open, (-node.bound, self._pushed, node))

    def _say(self, node: Node) -> None:
        pairs = node.fix.size
        fixed = 1.0 if pairs == 0 else np.count_nonzero(node.fix) / pairs
        self.report(self.bound, f"node {self.nodes}: {len(self._open)} open, {fixed:.1%} of its pairs fixed")

    def _check(self) -> None:
        if self.expired():
            raise Stop

    def _process(self, node: Node) -> tuple[Node, ...]:
        """Close a node, or split it."""
        if self._covers_first(node):
            if not self._cover(node):
                return ()
            pairs = self.problem.workers.size**2 // 2
            if (
                node.depth == 0
                and node.bound - self.primal.value > _LARGE_GAP * node.bound
                and pairs * self.problem.instance.num_chunks <= _MOST_EXCHANGE
            ):
                self.primal.exchange(self.expired)
                if not self._cover(node):
                    return ()
            if node.space is None:
                return self._split_pairs(node)
        cut = 0.0
        for attempt, width in enumerate(self.parameters.widths):
            if not self._price(node):
                return ()
            assert node.space is not None
            # wider enumerations must be affordable, and below the root promising: most chunks uncut so far
            if attempt > 0 and width * node.space.size > self.parameters.most_labels:
                break
            if node.depth > 0 and cut > _PROMISING:
                break
            # with less to decide, the coverage dual is cheaper and often exact in budgets that it priced before
            if attempt > 0 and self._covers_first(node) and not self._cover(node):
                return ()
            # the joint dual is the dearest and the strongest: after the first placements, where labels did not prove
            if (attempt == 2 or node.depth > 0) and not self._join(node):
                return ()
            found = self._enumerate(node, width)
            if found is None:
                return ()
            cut = found.cut
        if not self._price(node):
            return ()
        return self._split_states(node)

    @property
    def _can_cover(self) -> bool:
        return self.problem.coverage is not None

    def _covers_first(self, node: Node) -> bool:
        """With few workers the budget dual is the cheaper one and mostly enough."""
        return node.space is None or (
            self._can_cover and self.problem.workers.size > self.parameters.few_workers
        )

    def _close(self, node: Node) -> bool:
        node.bound = node.dual = self.floor
        node.space = None
        return False

    def _price(self, node: Node) -> bool:
        """Budget dual, then drop the states that it shows to be no better than the incumbent. False: closed."""
        self._check()
        space = node.space
        assert space is not None
        pricing = Pricing(space)
        classes = np.cumsum(~node.twin) - 1
        limit = self.parameters.price_evaluations if node.depth == 0 else 40
        limit = max(10, min(limit, _PRICE_WORK // max(space.work, 1)))
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
        self.evaluations += pricing.evaluations
        node.steps.append(("prices", prices))
        if node.dual <= self.floor:
            return self._close(node)
        total = pricing.bound(prices)
        return self._reduce(node, pricing.through(total) > self.floor)

    def _reduce(self, node: Node, keep: Mask) -> bool:
        assert node.space is not None
        space = node.space.reduced(keep)
        if space is None:
            return self._close(node)
        if space.size == 0:  # one placement is left
            self.primal.offer(self.problem.to_mask(space.decided))
            return self._close(node)
        node.space, node.fix = space, space.pairs()
        return True

    def _cover(self, node: Node) -> bool:
        """Coverage dual, then drop states, or write down those that are left for the first time. False: closed."""
        self._check()
        problem = self.problem
        assert problem.local is not None and problem.coverage is not None and node.multipliers is not None
        dual = CoverageDual(
            problem.instance.tree.end, problem.local, problem.coverage, problem.budgets, node.twin, node.fix
        )
        if not dual.feasible:
            return self._close(node)
        every = 8 if dual.exact else 50
        seen = 0

        def visit(answers: NDArray[np.float64]) -> int:
            nonlocal seen
            seen += 1
            if seen % every == 0:
                self.primal.improve_answers(answers)
            return self.primal.value

        limit = self.parameters.coverage_rounds if node.depth == 0 else 60
        point = dual.descend(
            node.multipliers, node.prices[dual.first], floor=self.floor, target=self.primal.value, rounds=limit,
            visit=visit, expired=self.expired,
        )  # fmt: skip
        self.rounds += point.rounds
        node.lower(point.bound)
        node.multipliers, node.weights = point.multipliers, point.weights
        node.steps.append(("coverage", point.multipliers, None if point.exact else point.prices[dual.owner]))
        if node.dual <= self.floor:
            return self._close(node)
        losses = dual.losses(point)
        if node.space is not None:
            return self._reduce(node, losses.bound - losses.of_states(node.space) > self.floor)
        node.fix = losses.fixed(node.fix, losses.bound - self.floor)
        node.space = losses.cheap_space(problem, losses.bound - self.floor)
        if node.space is None:
            return True
        return self._reduce(node, np.ones(node.space.states, np.bool_))

    def _join(self, node: Node) -> bool:
        """Joint dual, then drop states. False: closed."""
        self._check()
        assert node.space is not None
        dual = JointDual(self.problem, node.space, node.twin)
        if not dual.feasible:
            return self._close(node)
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
        seen = 0

        def visit(answers: NDArray[np.float64]) -> int:
            nonlocal seen
            seen += 1
            if seen % 25 == 0:
                self.primal.improve_answers(answers)
            return self.primal.value

        limit = self.parameters.joint_rounds if node.depth == 0 else 60
        limit = max(30, min(limit, limit * _JOINT_CELLS // max(dual.cells, 1)))
        point = dual.descend(
            start, floor=self.floor, target=self.primal.value, rounds=limit, visit=visit, expired=self.expired
        )
        self.rounds += point.rounds
        node.lower(point.bound)
        node.joint, node.weights = point.multipliers, point.weights
        node.steps.append(("joint", point.multipliers))
        if node.dual <= self.floor:
            return self._close(node)
        return self._reduce(node, dual.state_bounds(point) > self.floor)

    def _state_bounds(self, node: Node) -> tuple[int, Ints]:
        """The bound of the node and of each of its states by the better dual at hand."""
        assert node.space is not None
        pricing = Pricing(node.space)
        total = pricing.bound(node.prices)
        through = pricing.through(total)
        if node.joint is not None:
            dual = JointDual(self.problem, node.space, node.twin)
            bound, _, _ = dual.evaluate(dual.clean(node.joint), np.zeros(node.fix.shape))
            if bound < total:
                point = JointPoint(bound, dual.clean(node.joint), node.fix.astype(np.float64), 0)
                return bound, np.minimum(through, dual.state_bounds(point))
        return total, through

    def _enumerate(self, node: Node, width: int) -> Enumeration | None:
        """Look for better placements by labels. None: closed."""
        self._check()
        space = node.space
        assert space is not None
        pricing = Pricing(space)
        bound = pricing.bound(node.prices)
        classes = np.cumsum(~node.twin) - 1
        # the joint bound knows what unspent budgets are worth; without it several price vectors together tell
        prices = [node.prices]
        if node.joint is None and classes[-1] < _MANY_CLASSES:
            prices = spread_prices(pricing, node.prices, classes, bound, self.floor)
        multipliers = None
        if node.joint is not None:
            multipliers = JointDual(self.problem, space, node.twin).clean(node.joint)
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
            self._close(node)
            return None
        node.bound = min(node.bound, found.bound)
        return found

    def _split_states(self, node: Node) -> tuple[Node, ...]:
        """Branch on the pair nearest to one half in the dual's average answer; without one, where both sides cost."""
        space = node.space
        assert space is not None
        total, through = self._state_bounds(node)
        best = (-1.0, 0, 0)
        for m in np.flatnonzero(~node.twin).tolist():
            held = ((space.holders >> m) & 1).astype(np.bool_)
            with_m = np.maximum.reduceat(np.where(held, through, NEVER), space.offset[:-1])
            without = np.maximum.reduceat(np.where(held, NEVER, through), space.offset[:-1])
            cheaper = np.maximum(with_m, without)
            dearer = np.minimum(with_m, without)
            room = float(max(total - self.floor, 1))
            score = ((total - cheaper) + 0.1 * np.minimum(total - dearer, room)) / room
            if node.weights is not None:
                score += 2.0 - 4.0 * np.abs(node.weights[m, space.chunks] - 0.5)
            score[dearer <= NEVER] = -1.0
            c = int(score.argmax())
            best = max(best, (float(score[c]), m, c))
        _, m, c = best
        members = node.twin_class(m)
        at = np.zeros(space.states, np.bool_)
        at[space.offset[c] : space.offset[c + 1]] = True
        group = sum(1 << i for i in members)
        yes = node.child(space.reduced(~at | ((space.holders >> m) & 1 == 1)), apart=m)
        no = node.child(space.reduced(~at | (space.holders & group == 0)))
        node.branch, node.children = (m, int(space.chunks[c])), (yes, no)
        node.space = None
        return tuple(child for child in (yes, no) if child.space is not None)

    def _split_pairs(self, node: Node) -> tuple[Node, ...]:
        """Branch on the pair of the coverage dual's average answer that is nearest to one half."""
        assert node.weights is not None
        distance = np.where(node.fix == FREE, np.abs(node.weights - 0.5), np.inf)
        distance[node.twin] = np.inf
        m, b = (int(x) for x in np.unravel_index(int(distance.argmin()), distance.shape))
        tree = self.problem.instance.tree
        inside, outside = node.fix.copy(), node.fix.copy()
        v = b
        while v >= 0:
            inside[m, v] = INSIDE
            v = int(tree.parent[v])
        for i in node.twin_class(m):
            outside[i, b : int(tree.end[b])] = OUTSIDE
        yes, no = node.child(None, inside, apart=m), node.child(None, outside)
        node.branch, node.children, node.weights_only = (m, b), (yes, no), True
        return yes, no
