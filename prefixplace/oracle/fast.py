"""The nearly linear oracle: multiplier, core, branch, and one dense run where these take too long.

1. *Multiplier.* The smallest price λ whose closure S(λ) fits the budget, its bound λ·k + H, and the set S(λ) with
   the budget left filled from the break set S(λ − 1) ∖ S(λ). A gap below one unit of value proves the set optimal.
2. *Core.* The nodes of smallest loss, a few hundred, then six times as many and so on, in a dynamic program over
   losses (:mod:`prefixplace.oracle._core_path`).
3. *Branch.* When one tree of the break set is a large part of the budget, no price splits it. Demanding the node
   where its budget ends, inside or outside, moves the price; mostly a handful of branches are left to close.
4. *Dense.* All of this is limited to about the time of the dense program, which then runs once, on the nodes that
   the bound has left undecided.

Everything is int64 and every limit counts work, not seconds, so the same call gives the same answer anywhere.
The design is close to the core algorithms for knapsacks (Balas & Zemel 1980; Pisinger 1997) on trees.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from prefixplace.oracle import _core, _core_path, _dense, _search
from prefixplace.oracle.parameters import OracleParameters
from prefixplace.oracle.workspace import Shape, Workspace

__all__ = ["GridAnswer", "GridSolver"]

Demands = tuple[tuple[int, int], ...]

ABOVE_LIMIT, TOO_LARGE = -1, -2  # answers of a core
STAGE_CELLS = 100  # cells per node for a core before branching is tried
BRANCH_CELLS = 400  # dense cells in the time that one branch takes per node of the tree
FEWEST_BRANCHES = 4  # branching with less is not begun


@dataclass(frozen=True)
class GridAnswer:
    """Outcome on the grid: what proved it, λ and bound of the whole tree, and the value of the set in the workspace."""

    proof: str
    price: int
    bound: int
    value: int


@dataclass(frozen=True)
class Relaxation:
    """One branch at its multiplier: m nodes of support, the budget for them, and the bound over the whole tree."""

    m: int
    room: int
    price: int
    bound: int
    rest: int  # nodes of the break set
    left: int  # budget that S(λ) leaves


class GridSolver:
    """Solves profits that are already on the integer grid of a workspace; the set is left in ``workspace.mask``."""

    def __init__(self, shape: Shape, workspace: Workspace, parameters: OracleParameters) -> None:
        self.shape, self.ws, self.parameters = shape, workspace, parameters
        self.budget = self.unit = self.value = 0
        self.end, self.profit, self.node = workspace.end, workspace.profit, workspace.node  # the support
        self.kept = -1  # nodes of the support on which a new incumbent waits to be spread
        self.cells = 0.0  # cells that the cores may still compute

    def solve(self, budget: int, unit: int, warm: int = 0) -> GridAnswer:
        """Best closed set of at most `budget` ≤ n nodes for ``workspace.grid``; values are multiples of `unit`.

        `warm` is a guess of λ, 0 for none. Exact: the bound of the answer is the root's, the proof says what closed
        the rest of the gap.
        """
        dense = float(self.shape.n) * budget
        self.budget, self.unit, self.value, self.kept = budget, unit, 0, -1
        self.cells = self.parameters.core_share * dense
        self.ws.demanded[:] = 0
        self.ws.mask[:] = False
        root = self._relax(warm)
        return GridAnswer(self._close(root), root.price, root.bound, self.value)

    def _close(self, root: Relaxation) -> str:
        """Close the gap of the root by the means that does; its set is then in ``workspace.mask``."""
        share = self.parameters.branch_share * self.budget
        most = min(self.parameters.most_branches, int(share / BRANCH_CELLS))
        proof = "multiplier"
        if not self._closed(root):
            proof = "core"
            size = self._core(root, self.parameters.first_core, STAGE_CELLS * root.m)
            if size > 0 and most >= FEWEST_BRANCHES:
                proof = "branch"
                if self._branch(root, most):
                    size = 0
                else:
                    self._spread()
                    self.ws.demanded[:] = 0
                    root = self._relax(root.price)
            if size > 0:
                proof = "core"
                if self._core(root, size, self.cells) > 0:
                    proof = "dense"
                    self._dense(root)
        self._spread()
        return proof

    def bound(self, budget: int, warm: int = 0) -> tuple[int, int]:
        """``(λ, bound)`` for ``workspace.grid``, with the losses in (out) of all n nodes in ``losses`` (``worth``)."""
        shape, ws = self.shape, self.ws
        self.budget, self.unit, self.value, self.kept = budget, 1, 0, -1
        ws.demanded[:] = 0
        price = self._relax(warm).price
        _search.forbid_deep(shape.depth, budget, ws.grid)
        top = int(_search.lagrangian_pass(shape.end, ws.grid, shape.n, price, ws.best))
        _search.node_losses(shape.end, shape.parent, ws.grid, price, ws.best, ws.losses, ws.worth)
        return price, top + price * budget

    def _closed(self, r: Relaxation) -> bool:
        return r.bound - self.value < self.unit

    def _relax(self, warm: int) -> Relaxation:
        """Multiplier, bound and a feasible set under the demands in the workspace."""
        ws = self.ws
        m, count, total = _search.support(
            self.shape.end, self.shape.depth, ws.grid, self.budget, ws.demanded, ws.best, ws.takes, ws.place,
            ws.end, ws.profit, ws.node,
        )  # fmt: skip
        if m == self.shape.n:
            self.end, self.profit, self.node = self.shape.end, ws.grid, self.shape.node
        else:
            self.end, self.profit, self.node = ws.end, ws.profit, ws.node
        room = self.budget - count
        if room < 0:
            return Relaxation(0, room, 0, -1, 0, 0)
        if m <= room:
            value = int(ws.best[0])  # without a price, of the demanded nodes and the support together
            ws.base[:m] = 1
            self._keep(m, value)
            return Relaxation(m, room, 0, value, 0, room - m)
        price, inside, rest, _ = _search.multiplier(
            self.end, self.profit, m, room, warm, ws.best, ws.size, ws.takes, ws.place, ws.base,
            ws.rest_end, ws.rest_profit, ws.rest_node,
        )  # fmt: skip
        top = int(_search.lagrangian_pass(self.end, self.profit, m, price, ws.best))
        bound = total + top + price * room
        left = room - inside
        value = bound - price * left
        if left > 0:
            value += int(_search.fill_break(ws.rest_end, ws.rest_profit, rest, ws.rest_node, left, ws.base))
        self._keep(m, value)
        return Relaxation(m, room, price, bound, rest, left)

    def _keep(self, m: int, value: int) -> None:
        """Make the set in ``base`` the incumbent if it is better; it stays on the support until that changes."""
        if value > self.value:
            self.value, self.kept = value, m
            self.ws.base, self.ws.kept = self.ws.kept, self.ws.base

    def _spread(self) -> None:
        """Write a new incumbent to the mask of the whole tree; before the support or the demands change."""
        if self.kept >= 0:
            ws = self.ws
            _search.spread(self.kept, ws.kept, self.node, ws.demanded, ws.mask)
            self.kept = -1

    def _core(self, r: Relaxation, size: int, cells: float) -> int:
        """Settle a branch by growing cores, finding its best set or showing that the incumbent is as good.

        The first core has `size` doubtful nodes. Returns 0, or the size of the core that would pass `cells`.
        """
        ws = self.ws
        gap = r.bound - self.value - self.unit  # a better set loses at most this
        if gap < 0:
            return 0
        doubtful = _core.doubtful_losses(
            self.end, self.profit, r.m, r.price, ws.best, gap, ws.stack_end, ws.stack_loss, ws.losses
        )
        cells = min(cells, self.cells)
        while True:
            last = doubtful <= 2 * size
            limit = gap if last else min(gap, int(_core.kth_smallest(ws.losses, doubtful, size)))
            loss, used = self._core_loss(r, limit, cells)
            cells -= used
            self.cells -= used
            if loss >= 0:
                self._keep(r.m, r.bound - loss)
                return 0
            if loss == TOO_LARGE:
                return size
            if last or limit == gap:
                return 0
            size = math.ceil(size * self.parameters.core_growth)

    def _core_loss(self, r: Relaxation, limit: int, cells: float) -> tuple[int, float]:
        """Least loss within `limit`, its set left in ``base``; ABOVE_LIMIT or TOO_LARGE. And the cells computed."""
        ws = self.ws
        seen, inside, blocks = _core.build_core(
            self.end, self.profit, r.m, r.price, ws.best, limit, ws.stack_end, ws.stack_loss, ws.stack_block,
            ws.member, ws.owner, ws.above, ws.last, ws.weight, ws.worth, ws.take, ws.skip,
        )  # fmt: skip
        room = r.room - inside
        kept, constant = _core.reduce_core(
            blocks, room, limit + 1, ws.above, ws.weight, ws.worth, ws.take, ws.skip, ws.into, ws.children, ws.only
        )  # fmt: skip
        node, end = np.empty(kept, np.int64), np.empty(kept, np.int64)
        _core.core_forest(blocks, ws.into, ws.last, ws.place, node, end)
        order, end = _dense.heavy_last(end)
        node = node[order]
        slot, slots, parent = _dense.row_slots(end)
        weight = ws.weight[node]
        # budget that no combination of weights can use is lost for sure
        step = max(1, int(np.gcd.reduce(weight)))
        usable = min(room - room % step, int(weight.sum()))
        constant += r.price * (room - usable)
        if constant > limit:
            return ABOVE_LIMIT, 0.0
        taken = np.empty(kept, np.uint8)
        loss, words = _core_path.core_path(
            end, parent, slot, slots, weight // step, ws.take[node], ws.skip[node], usable // step, r.price * step,
            limit - constant, ws.decision_bits(max(0, int(cells / 64))), taken,
        )  # fmt: skip
        used = 64.0 * words
        if loss < 0:
            return int(loss), used
        ws.children[node] = taken
        _core.mark_core(seen, ws.member, ws.owner, ws.into, ws.children, ws.base[: r.m])
        return int(loss) + constant, used

    def _branch(self, root: Relaxation, most: int) -> bool:
        """Whether branching closes the gap within `most` branches, best bound first.

        It also gives up when the gap does not shrink: on symmetric instances it never would.
        """
        pending: list[tuple[int, int, int, int, Demands]] = []
        count = 0

        def push(r: Relaxation, demands: Demands) -> None:
            ws = self.ws
            v = _search.branching_node(ws.rest_end, r.rest, ws.rest_node, r.left)
            heapq.heappush(pending, (-r.bound, count, r.price, int(self.node[v]), demands))

        push(root, ())
        first_gap = root.bound - self.value
        while pending:
            bound, _, price, v, demands = heapq.heappop(pending)
            gap = -bound - self.value
            if gap < self.unit:
                return True
            if count >= most or (count >= 4 and gap > first_gap * 0.85 ** (count / 2)):
                return False
            for side in (_search.INSIDE, _search.OUTSIDE):
                count += 1
                self._demand((*demands, (v, side)))
                r = self._relax(price)
                if self._core(r, self.parameters.first_core, STAGE_CELLS * r.m) > 0:
                    push(r, (*demands, (v, side)))
        return True

    def _demand(self, demands: Demands) -> None:
        """Write the demands to the workspace; a node inside takes its path along."""
        self._spread()
        demanded, parent = self.ws.demanded, self.shape.parent
        demanded[:] = 0
        for v, side in demands:
            if side == _search.OUTSIDE:
                demanded[v] = side
            else:
                _search.demand_path(parent, v, demanded)

    def _dense(self, r: Relaxation) -> None:
        """The dense program on the nodes that no loss settles."""
        ws = self.ws
        seen, inside, _ = _core.build_core(
            self.end, self.profit, r.m, r.price, ws.best, r.bound - self.value - self.unit,
            ws.stack_end, ws.stack_loss, ws.stack_block,
            ws.member, ws.owner, ws.above, ws.last, ws.weight, ws.worth, ws.take, ws.skip,
        )  # fmt: skip
        count = _core.undecided_forest(
            self.end, self.profit, r.m, seen, ws.member, ws.owner, ws.place, ws.rest_end, ws.rest_profit, ws.rest_node
        )  # fmt: skip
        order, end = _dense.heavy_last(ws.rest_end[:count].astype(np.int64))
        slot, slots, parent = _dense.row_slots(end)
        room = min(r.room - inside, count)
        taken, _ = _dense.dense_path(end, slot, slots, parent, ws.rest_profit[order], room)
        value = _core.mark_dense(
            self.profit, r.m, seen, ws.member, ws.owner, ws.rest_node, order, taken, ws.base
        )
        self._keep(r.m, int(value))
