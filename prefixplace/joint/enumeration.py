"""Exhaustion of a state space: a dynamic program over chunks and budgets, pruned by prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from prefixplace.joint.prices import Pricing, affordable, payable
from prefixplace.joint.states import LARGEST, NEVER, Ints, StateSpace

__all__ = ["Enumeration", "enumerate_space", "spread_prices"]


@dataclass(frozen=True, eq=False)
class Enumeration:
    """Outcome of one enumeration.

    Attributes
    ----------
    value : int or None
        Best value above the floor, with `holders` (n,), or None when nothing was found above it.
    bound : int
        Nothing in the space is worth more: the best value or the floor when the enumeration was exhaustive, else
        the largest bound among labels that were left out.
    exhaustive : bool
    labels, peak : int
        Labels made in all, and at one chunk.
    cut : float
        Share of the chunks at which labels were left out.
    order : int64 array
        The undecided chunks in the order in which they were decided; empty when a bound settled it at once.
    """

    value: int | None
    holders: Ints | None
    bound: int
    exhaustive: bool
    labels: int
    peak: int
    cut: float = 0.0
    order: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


def enumerate_space(
    space: StateSpace,
    prices: list[Ints],
    twin: NDArray[np.bool_],
    floor: int,
    *,
    width: int,
    multipliers: Ints | None = None,
    expired: Callable[[], bool] = lambda: False,
) -> Enumeration:
    """Look for placements worth more than `floor` among those of `space`.

    Chunks are decided in a preorder. A *label* is what later decisions depend on: how much of each budget is used,
    and the states of the chunks whose children are still to come, at most log₂ of them since the largest child
    comes last. Of equal labels only the most valuable lives (dynamic programming); rows of interchangeable workers
    are sorted; and a label dies when for one of the price vectors its value, its unused budgets at these
    prices and the best that the remaining chunks can add come to no more than `floor`.

    Parameters
    ----------
    space : StateSpace
    prices : list of int64 arrays, shape (M,)
        Any prices ≥ 0 are valid; interchangeable workers must have equal ones. Those whose sums int64 could not hold
        are left out, and so are such `multipliers`.
    twin : bool array, shape (M,)
        Neighbours that are interchangeable.
    floor : int
    width : int
        Most labels kept after a chunk. Beyond it the least promising are left out, and the result is a heuristic
        with a bound (a beam) instead of a proof.
    multipliers : int64 array (M, n), optional
        Any π, equal for interchangeable workers. Labels then also pass the joint bound
        Σ_b (v_b(H_b) − Σ_{m ∈ H_b} π_m(b)) + Σ_m W_m, in which each worker's part W_m, the most that its budget can
        earn with profits π_m, is known for every chunk and every rest of the budget. O(M·n·k) memory.
    expired : callable
        Asked at every chunk; when true, everything still alive is left out.
    """
    from prefixplace.joint._labels import expand, label_bounds

    prices = [at for at in prices if affordable(space, at)] or [np.zeros(space.workers, np.int64)]
    pricings = [Pricing(space) for _ in prices]
    first = pricings[0].bound(prices[0])
    space = space.rearranged(_order(space, pricings[0], first))
    pricings = [Pricing(space) for _ in prices]
    bounds = [p.bound(at) for p, at in zip(pricings, prices, strict=True)]
    # sums over open chunks must not meet a state that its payments have made impossible
    clear = [i for i, p in enumerate(pricings) if p.inside.min(initial=0) > NEVER // 2]
    if not clear:
        prices, pricings = [np.zeros(space.workers, np.int64)], [Pricing(space)]
        bounds, clear = [pricings[0].bound(prices[0])], [0]
    prices, pricings = [prices[i] for i in clear], [pricings[i] for i in clear]
    bound = min(bounds)
    workers = space.workers
    if bound <= floor or (space.slack < 0).any():
        return Enumeration(None, None, floor, True, 0, 0)

    inside = np.stack([p.inside for p in pricings])
    reach = np.stack([p.reach for p in pricings])
    own = np.stack([space.value - _cost(space.holders, at) for at in prices])
    joint = _joint_tables(space, multipliers)
    if joint.bound <= floor:
        return Enumeration(None, None, floor, True, 0, 0)
    remaining = inside - own
    roots = np.array([p.roots for p in pricings])
    table = np.stack(prices)
    children = np.bincount(space.parent[space.parent >= 0], minlength=space.size)
    waiting = children.copy()
    depth = _stack_depth(space.parent, children)

    rows = np.zeros((1, workers + depth), np.int64)
    worth = np.array([space.worth])
    history: list[tuple[Ints, Ints, list[int], bool, bool]] = []
    stack: list[int] = []
    left_out, cuts, made, peak = floor, 0, 1, 1
    for b in range(space.size):
        p = int(space.parent[b])
        last = p >= 0 and waiting[p] == 1
        push = bool(children[b])
        open_chunks = np.array(stack, np.int64)
        candidates = label_bounds(
            rows, worth, floor, len(stack), open_chunks, space.offset, space.holders, table, space.slack, roots,
            remaining, b, space.parent, joint.end, space.base, inside, reach, joint.tables, joint.roots,
            joint.remaining, joint.inside, joint.reach,
        )  # fmt: skip
        cut = floor
        alive = int(np.count_nonzero(candidates > floor))
        whole = alive <= 4 * width
        if alive > 4 * width:
            cut, alive = _cut(candidates.ravel(), 4 * width)
            cut = max(cut, floor)
            left_out = max(left_out, _largest(candidates, floor, cut))
        rows, worth, label_bound, origin, state = expand(
            rows, worth, candidates, cut, alive, len(stack), space.offset, space.holders, space.value, b, last, push,
            twin,
        )  # fmt: skip
        late = expired()
        if worth.size > width or (late and worth.size):
            keep = label_bound > _cut(label_bound, 0 if late else width)[0]
            left_out = max(left_out, int(label_bound[~keep].max(initial=floor)))
            whole = False
            rows, worth, origin, state = rows[keep], worth[keep], origin[keep], state[keep]
        cuts += not whole
        history.append((origin, state, list(stack), last, push))
        made += worth.size
        peak = max(peak, worth.size)
        if worth.size == 0:
            break
        # the subtree of b is now accounted for by labels, not by what its parent or the roots can still add
        joint.settle(space, b)
        if p >= 0:
            at = slice(int(space.offset[p]), int(space.offset[p + 1]))
            remaining[:, at] -= reach[:, int(space.base[b]) : int(space.base[b + 1])]
            waiting[p] -= 1
            if last:
                stack.pop()
        else:
            roots -= reach[:, int(space.base[b])]
        if push:
            stack.append(b)

    feasible = np.flatnonzero((rows[:, :workers] <= space.slack).all(axis=1) & (worth > floor))
    if feasible.size == 0:
        return Enumeration(
            None, None, left_out, cuts == 0, made, peak, cuts / max(space.size, 1), space.chunks
        )
    best = int(feasible[np.argmax(worth[feasible])])
    value = int(worth[best])
    holders = _traced(space, history, best, twin, depth)
    proved = left_out <= value  # what was left out is no better than what was found
    return Enumeration(
        value, holders, max(value, left_out), proved, made, peak, cuts / max(space.size, 1), space.chunks
    )


def _order(space: StateSpace, pricing: Pricing, total: int) -> Ints:
    """Roots whose alternatives cost most first, so that many cheap alternatives meet few labels; large child last."""
    from prefixplace.joint._labels import arrange

    loss = (total - pricing.through(total)).astype(np.float64)
    loss[loss <= 0] = np.inf
    least = np.minimum.reduceat(loss, space.offset[:-1]) if space.size else loss
    size = np.ones(space.size, np.int64)
    parent = space.parent
    for b in range(space.size - 1, -1, -1):
        p = parent[b]
        if p >= 0:
            size[p] += size[b]
            least[p] = min(least[p], least[b])
    least[np.isinf(least)] = 0.0
    order: Ints = arrange(parent, size, least)
    return order


@dataclass(eq=False)
class _Joint:
    """The joint bound's tables along an enumeration: all empty without multipliers, and then `bound` is infinite."""

    bound: float
    end: Ints
    tables: Ints
    roots: int
    remaining: Ints
    inside: Ints
    reach: Ints

    def settle(self, space: StateSpace, b: int) -> None:
        """Chunk b is decided in every label: its subtree is no longer what the parent or the roots can still add."""
        if self.tables.size:
            p = int(space.parent[b])
            row = self.reach[int(space.base[b]) : int(space.base[b + 1])]
            if p >= 0:
                self.remaining[int(space.offset[p]) : int(space.offset[p + 1])] -= row
            else:
                self.roots -= int(row[0])


def _joint_tables(space: StateSpace, multipliers: Ints | None) -> _Joint:
    from prefixplace.joint._labels import budget_tables

    workers, none = space.workers, np.zeros(0, np.int64)
    end = np.arange(1, space.size + 1)
    for b in range(space.size - 1, -1, -1):
        p = space.parent[b]
        if p >= 0:
            end[p] = max(end[p], end[b])
    nothing = _Joint(np.inf, end, np.zeros((workers, 0, 1), np.int64), 0, none, none, none)
    if multipliers is None or not payable(multipliers[:, space.chunks]):
        return nothing
    own = np.ascontiguousarray(multipliers[:, space.chunks])
    held = (space.holders >> np.arange(workers)[:, None]) & 1
    fixed_in = np.minimum.reduceat(held, space.offset[:-1], axis=1) == 1
    fixed_out = np.maximum.reduceat(held, space.offset[:-1], axis=1) == 0
    tables = budget_tables(space.parent, end, own, ~fixed_out, ~fixed_in, space.slack)
    earned = sum(int(tables[m, 0, k]) for m, k in enumerate(space.slack.tolist()))
    if earned > LARGEST:
        return nothing
    paid = (held * np.repeat(own, np.diff(space.offset), axis=1)).sum(axis=0)
    forest = Pricing(replace(space, value=space.value - paid))
    total = forest.bound(np.zeros(workers, np.int64)) + earned
    if forest.inside.min(initial=0) <= NEVER // 2:
        return nothing
    remaining = forest.inside - space.value + paid  # what the children can add, their own payments taken off
    return _Joint(total, end, tables, int(forest.roots), remaining, forest.inside + paid, forest.reach)


def _cost(holders: Ints, prices: Ints) -> Ints:
    bits = (holders[:, None] >> np.arange(prices.size)) & 1
    cost: Ints = bits @ prices
    return cost


def _stack_depth(parent: Ints, children: Ints) -> int:
    """Most chunks that wait for further children at one time."""
    waiting = children.copy()
    depth = deepest = 0
    for b, p in enumerate(parent.tolist()):
        if p >= 0:
            waiting[p] -= 1
            depth -= waiting[p] == 0
        depth += children[b] > 0
        deepest = max(deepest, depth)
    return int(deepest)


def _cut(bounds: Ints, keep: int) -> tuple[int, int]:
    """The largest threshold that at most `keep` of `bounds` exceed, and how many do."""
    if keep == 0:
        return int(bounds.max()), 0
    threshold = int(np.partition(bounds, bounds.size - keep - 1)[bounds.size - keep - 1])
    return threshold, int(np.count_nonzero(bounds > threshold))


def _largest(bounds: Ints, floor: int, cut: int) -> int:
    return int(np.max(bounds, where=(bounds > floor) & (bounds <= cut), initial=floor))


def _traced(
    space: StateSpace,
    history: list[tuple[Ints, Ints, list[int], bool, bool]],
    label: int,
    twin: NDArray[np.bool_],
    depth: int,
) -> Ints:
    """Holders of all chunks of the instance on the way to a final label.

    Rows were sorted among interchangeable workers at every step; the same steps are replayed here, keeping count of
    who stands where.
    """
    from prefixplace.joint._labels import extend, sort_twins

    states = []
    for origin, state, *_ in reversed(history):
        states.append(int(state[label]))
        label = int(origin[label])
    states.reverse()
    workers = space.workers
    row = np.zeros(workers + depth, np.int64)
    place = np.empty(workers, np.int64)
    stands = np.arange(workers)  # stands[i]: the worker of the instance that position i of the row speaks of
    holders = space.decided.copy()
    for b, (s, (_, _, stack, drop, push)) in enumerate(zip(states, history, strict=True)):
        mask = int(space.holders[s])
        holders[space.chunks[b]] = sum(1 << int(stands[i]) for i in range(workers) if mask >> i & 1)
        now = extend(row, workers, len(stack), mask, drop, push)
        sort_twins(row, workers, now, twin, place)
        stands = stands[place]
    return holders


def spread_prices(pricing: Pricing, prices: Ints, classes: Ints, bound: int, floor: int) -> list[Ints]:
    """`prices` and, for every class of workers, dearer and cheaper ones whose bound is about halfway to the floor.

    The label bound is the least over all of them, which penalises a budget that is used too fast or too slowly.
    """
    result = [prices]
    room = max(bound - floor, 1)
    highest = int(pricing.space.value.max(initial=0))  # dearer than any chunk is worth makes no difference
    for c in range(int(classes[-1]) + 1 if classes.size else 0):
        members = classes == c
        level = int(prices[members][0])
        for sign in (1, -1):
            step, chosen = max(level // 1024, 1), None
            while step < 4 * max(level, 1):
                trial = prices.copy()
                trial[members] = min(max(level + sign * step, 0), highest)
                if pricing.bound(trial) - bound > room:
                    break
                chosen = trial
                step *= 2
            if chosen is not None:
                result.append(chosen)
    return result
