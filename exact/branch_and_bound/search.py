"""Best-bound branch and bound with dives over holder states."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from exact.branch_and_bound.bounding import Bounding, Stop
from exact.branch_and_bound.branching import split_states
from exact.branch_and_bound.diving import CHEAPER, dive
from exact.branch_and_bound.groups import Group, GroupExchange, Region
from exact.branch_and_bound.node import Node, root_of
from exact.branch_and_bound.primal import Primal
from exact.branch_and_bound.problem import problem_of
from exact.branch_and_bound.strong import split_strongly
from prefixplace.joint.states import FREE

__all__ = ["Search"]

Mask = NDArray[np.bool_]

_PROMISING = 0.5  # share of chunks with labels left out up to which ten times as many may prove
_MANY_CHUNKS = 20_000
_SCALED_CHUNKS = 5_000  # chunks above which the root begins from the coverage dual in floats
_MOST_EXCHANGE = 20_000  # pairs of workers × chunks that an exchange may cost
_ROOT_ATTEMPTS = 4  # coverage duals at the root, each with what the last one fixed,
_MOVED = 0.99  # … while less than this share of the free pairs is left
_MOST_DIVE = 50_000  # pairs up to which dives are made:
_DIVES = (0.3, 0.05, 0.02, 0.15)  # … shares rounded at a time at the root, while the gap is large
_PATIENCE = 100  # most roundings in a row that find nothing, with more pairs; fewer when the gap is small
_DIVE_EVERY = 20  # … and one such dive after so many nodes
_RELAXED_ROUNDS = 250  # of the coverage dual from where the LP ends
_WEAK = 0.2  # of the gap, that the bound has to be above its likely minimum for another LP
_ROUNDING = 0.08  # share of the time left that roundings may take
_LP_PAIRS = 120_000  # most pairs of an LP
_REGION_DIVE = 0.3, 50  # share and rounds of a dive in the region of an LP from its answer,
_MOST_REGION_DIVE = 1_500_000  # … on so many pairs
_REGION = 1_000_000  # most pairs of the region that groups are taken from
_GROUPS_A_NODE = 5  # in the region, while the gap is not small
_SHRUNK = 0.8  # the LP is solved again while no more than this share of the gap is left
_SURE = 0.999  # average answers above it are taken into a placement
_CLOSE_GAP = 1e-6  # up to it bounds and enumerations do better than groups
_GROUP_WIDTHS, _GROUP_ROUNDS = (40, 400), 150  # … of which the first width is enough in a region
_FAIR_GAP = 3e-4  # above it the incumbent is worth the effort of another dive,
_WIDE_GAP = 5e-5  # above it the LP is solved although states are written down
_LARGE_GAP = 1e-3  # … above it the incumbent is worth the effort of pair exchange


class Search:
    """The tree of nodes, and the order in which they are closed or split.

    At a node the cheap bounds come first: the budget dual with few workers, the coverage dual with many. Each drops
    states, so that the next has less to do; enumerations of growing width find placements between them, and prove
    when they are exhaustive. The joint dual comes when two enumerations have not proved. What is then still open is
    split: at a pair where states are few, and by strong branching on pairs and coverage where they are too many, which
    goes without them until they are few. Workers that are interchangeable are treated as one (orbital branching:
    either `worker` keeps the chunk or none of its class does).

    Parameters
    ----------
    bounding : Bounding
    report : callable
        Told ``(bound in grid units, line)`` after every node.
    part : bool
        This is the search of a group of workers, which makes no groups of its own and solves no LP.

    Attributes
    ----------
    root : Node
    nodes : int
        Nodes worked on so far.
    """

    def __init__(self, bounding: Bounding, report: Callable[[int, str], None], *, part: bool = False) -> None:
        self.bounding, self.report, self.part = bounding, report, part
        self.root = root_of(bounding.problem)
        self.nodes = 0
        self.groups = GroupExchange(bounding.primal, self._part)
        self._region: Region | None = None
        self._pushed = 0
        self._open: list[tuple[int, int, Node]] = []
        self._current: Node | None = self.root

    @property
    def bound(self) -> int:
        """Upper bound on the optimum, in grid units."""
        waiting = [node.bound for _, _, node in self._open]
        if self._current is not None:
            waiting.append(self._current.bound)
        value, step = self.bounding.primal.value, self.bounding.problem.grid.step
        best = max(waiting, default=self.bounding.floor)
        return best if best - value >= step else value

    def run(self, *, node_limit: int | None = None, gap: float = 0.0) -> str:
        """Search until the proof, or until a limit: ``finished``, ``time`` or ``nodes``."""
        self._push(self.root)
        while self._open:
            if self._within(gap):
                return "finished"
            node: Node | None = heapq.heappop(self._open)[2]
            while node is not None and node.dual > self.bounding.floor:
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
                if self._within(gap):
                    return "finished"
                node = self._current
            self._current = None
        return "finished"

    def _within(self, gap: float) -> bool:
        """Whether a permitted gap is reached. Without one every node is closed by its own steps, so that a certificate
        can be written."""
        return gap > 0.0 and self.bound - self.bounding.primal.value <= gap * self.bound

    def _push(self, node: Node) -> None:
        self._pushed += 1
        heapq.heappush(self._open, (-node.bound, self._pushed, node))

    def _say(self, node: Node) -> None:
        pairs = node.fix.size
        fixed = 1.0 if pairs == 0 else np.count_nonzero(node.fix) / pairs
        self.report(self.bound, f"node {self.nodes}: {len(self._open)} open, {fixed:.1%} of its pairs fixed")

    def _process(self, node: Node) -> tuple[Node, ...]:
        """Close a node, or split it."""
        if self._covers_first(node):
            if not self._covered(node):
                return ()
            if node.space is None or (node.depth > 0 and node.space.work > self.bounding.parameters.heavy):
                return self._split(node)
        cut = 0.0
        for attempt, width in enumerate(self.bounding.parameters.widths):
            if not self.bounding.price(node):
                return ()
            assert node.space is not None
            # wider enumerations must be affordable, and below the root promising: most chunks uncut so far
            if attempt > 0 and width * node.space.size > self.bounding.parameters.most_labels:
                break
            if node.depth > 0 and cut > _PROMISING:
                break
            # with less to decide, the coverage dual is cheaper and often exact in budgets that it priced before
            if attempt > 0 and self._covers_first(node) and not self.bounding.cover(node):
                return ()
            # the joint dual is the dearest and the strongest: after the first placements, where labels did not prove
            if (attempt == 2 or node.depth > 0) and not self.bounding.join(node):
                return ()
            found = self.bounding.enumerate(node, width)
            if found is None:
                return ()
            cut = found.cut
        if not self.bounding.price(node):
            return ()
        if self._worth_relaxing(node) and not (self._relaxed(node) and self.bounding.price(node)):
            return ()
        return self._split(node)

    def _split(self, node: Node) -> tuple[Node, ...]:
        """Split what is open, or close it when a placement made on the way shows it to be no better."""
        if self.part:
            raise Stop  # only the root of a part is worked on
        bounding = self.bounding
        if node.space is not None and not (
            self._covers_first(node) and node.space.work > self.bounding.parameters.heavy
        ):
            return split_states(bounding.problem, node, bounding.floor)
        node.space = None
        assert node.weights is not None
        bounding.primal.improve_answers((node.weights > _SURE).astype(np.float64))
        for _ in range(
            _GROUPS_A_NODE if self._region is not None and self._gap(self.root) > _CLOSE_GAP else 0
        ):
            self.groups.improve(self._region)
        if self.nodes % _DIVE_EVERY == 0 and node.weights.size <= _MOST_DIVE:
            dive(bounding, node, _DIVES[-1])
            if self.groups.useful():
                self.groups.improve()
        return split_strongly(bounding, node) if node.dual > bounding.floor else ()

    def _covered(self, node: Node) -> bool:
        """Coverage dual, at the root again while better placements or fixings let it fix more. False: closed."""
        bounding = self.bounding
        if node.depth == 0 and not node.covered and node.fix.shape[1] > _SCALED_CHUNKS:
            bounding.begin(node)
        for attempt in range(_ROOT_ATTEMPTS if node.depth == 0 else 1):
            value, free = bounding.primal.value, np.count_nonzero(node.fix == FREE)
            if not bounding.cover(node):
                return False
            if attempt == 0 and node.depth == 0:
                self._improve_incumbent(node)
                if node.space is None and self._worth_relaxing(node) and not self._relaxed(node):
                    return False
            moved = np.count_nonzero(node.fix == FREE) < _MOVED * free
            if bounding.primal.value == value and (node.space is not None or not moved):
                break
        return True

    def _improve_incumbent(self, node: Node) -> None:
        """Spend on the incumbent what the gap at the root is worth."""
        bounding = self.bounding
        workers, n = node.fix.shape
        if workers * n > _MOST_DIVE:
            # what dives and groups do for fewer pairs many roundings must do for more
            if node.weights is not None and self._gap(node) > 0.0:
                self._round(node, node.weights)
            return
        if node.weights is not None and self._gap(node) > 0.0:
            bounding.primal.round(node.weights, 0, bounding.expired)
        for share in _DIVES:
            if self._gap(node) > _FAIR_GAP:
                dive(bounding, node, share)
        if self.groups.useful():
            self.groups.exhaust(lambda: self._gap(node) > _CLOSE_GAP)
        elif self._gap(node) > _LARGE_GAP and workers**2 // 2 * n <= _MOST_EXCHANGE:
            bounding.primal.exchange(bounding.expired)

    def _relaxed(self, node: Node) -> bool:
        """What many chunks need, while it closes a good part of the gap. False: closed.

        The LP over a region and a descent from where it ends, as long as the bound is what is weak; then roundings of
        both answers, and groups in the region.
        """
        bounding, primal = self.bounding, self.bounding.primal

        def beside() -> bool:
            """Groups while an LP is being solved."""
            if self._region is None or self._gap(node) <= _CLOSE_GAP:
                return False
            self.groups.improve(self._region)
            return True

        # about the minimum of the dual, as the last LP has it; where states are written down other bounds are mostly
        # better
        least = 0 if node.space is None or self._gap(node) > _WIDE_GAP else node.bound
        answers = [node.weights]
        while (gap := self._gap(node)) > _CLOSE_GAP:
            if node.bound - least > _WEAK * (node.bound - primal.value):
                region = self._find_regions(node)
                relaxed = None if region is None else bounding.relax(node, region, beside)
                least, answers = node.bound if relaxed is None else relaxed, [node.weights]
                if not bounding.cover(node, None if relaxed is None else _RELAXED_ROUNDS):
                    return False
                answers.append(node.weights)
                if region is not None and node.fix.size <= _MOST_REGION_DIVE and self._gap(node) > _CLOSE_GAP:
                    inside = replace(
                        node, fix=region.fix, must=np.zeros_like(node.must), weights=answers[0], space=None
                    )
                    dive(bounding, inside, *_REGION_DIVE)
            for weights in answers:
                assert weights is not None
                self._round(node, weights)
            self._find_regions(node)
            if self._region is not None:
                self.groups.exhaust(lambda: self._gap(node) > _CLOSE_GAP, self._region)
            if self._gap(node) > _SHRUNK * gap:
                return True
        return True

    def _worth_relaxing(self, node: Node) -> bool:
        """Whether :meth:`_relaxed` is for this node: the root of a large requester-side problem."""
        large = self.bounding.problem.coverage is not None and node.fix.size > _MOST_DIVE
        return large and node.depth == 0 and not self.part

    def _find_regions(self, node: Node) -> Region | None:
        """The region of an LP, and into `_region` the larger one that groups are taken from, where there are groups."""
        small, wide = self.bounding.regions(node, (_LP_PAIRS, _REGION)) or (None, None)
        self._region = wide if wide is not None and self.groups.useful(wide) else None
        return small

    def _round(self, node: Node, weights: NDArray[np.float64]) -> None:
        """Roundings while they improve, as many in vain as the gap is worth, in a part of the time left."""
        left = self.bounding.remaining()
        until = None if left is None else (1.0 - _ROUNDING) * left

        def expired() -> bool:
            now = self.bounding.remaining()
            return self.bounding.expired() or (now is not None and until is not None and now < until)

        patience = 1 + int(_PATIENCE * min(self._gap(node) / _LARGE_GAP, 1.0))
        self.bounding.primal.round(weights, patience, expired)

    def _part(self, group: Group) -> Mask:
        """What a small search makes of a group of workers."""
        self.bounding.check()
        parameters = self.bounding.parameters
        widths = _GROUP_WIDTHS if group.multipliers is None else _GROUP_WIDTHS[:1]
        parameters = replace(
            parameters, widths=widths, coverage_rounds=_GROUP_ROUNDS,
            table_cells=parameters.table_cells // CHEAPER,
        )  # fmt: skip
        problem = problem_of(group.instance, parameters.most_states)
        primal = Primal(problem, lambda mask: None)
        primal.offer(group.start)
        bounding = Bounding(problem, primal, parameters, self.bounding.expired)
        search = Search(bounding, lambda bound, line: None, part=True)
        if group.multipliers is not None and group.prices is not None:
            root = search.root
            root.multipliers = problem.grid.to_units(group.multipliers)
            root.prices = problem.grid.to_units(group.prices[problem.workers])
            root.covered = True
        search.run()
        return primal.mask

    def _gap(self, node: Node) -> float:
        return (node.bound - self.bounding.primal.value) / max(node.bound, 1)

    def _covers_first(self, node: Node) -> bool:
        """With few workers the budget dual is the cheaper one and mostly enough, but on many chunks the answers of the
        coverage dual are what placements are made of."""
        problem, parameters = self.bounding.problem, self.bounding.parameters
        many = problem.workers.size > parameters.few_workers or problem.instance.num_chunks > _MANY_CHUNKS
        return node.space is None or (problem.coverage is not None and many)
