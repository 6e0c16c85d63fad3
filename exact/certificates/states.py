"""Searches over holder states in exact integer arithmetic: what proves ``state-search`` certificates.

For every chunk the search keeps a list of *states*: the sets of workers that may hold it in a plan worth more than
the floor F that the certificate claims. It begins with all sets. Each step removes states that no such plan can
have, by one of four upper bounds whose multipliers the certificate gives; steps of another kind split the plans in
two. While all sets are too many to write down, single pairs of worker and chunk are fixed instead. A branch is closed
when some chunk has no state left, or when an enumeration finds nothing worth more than F. Then no plan is worth more
than F, whatever the multipliers were.

Values are rounded to multiples of a quantum, itself a whole number of units of 1/D. What rounding took off is summed
up exactly, chunk by chunk, and added to the bound at the end. In between everything is a sum of integers, small
enough for machine integers to be exact (this is checked), and since rounded values are multiples of the quantum, so
is the bound on them. Written for reading: plain loops over chunks, none of the solver's kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.certificates.evaluation import ExactInstance
from exact.certificates.forest import NEVER, States, forest_bound, forest_through
from exact.certificates.losses import budget_losses, price_losses
from exact.certificates.pairs import Pairs, nothing_fixed

__all__ = ["LARGEST", "MOST_STATES", "Branch", "Malformed", "StateBounds"]

Integers = NDArray[Any]

MOST_STATES = 1 << 22
"""Most states n·2^M that are written down at the start; above it coverage bounds come first, until these are few."""

_MOST_AT_ONE, _MOST_IN_ALL = 1 << 11, 1 << 18
"""Most states of a chunk, and of all, that are written down after a coverage bound."""

LARGEST = 1 << 60
"""Sums of values, and of each list of multipliers, stay below it: machine integers are exact."""


class Malformed(Exception):
    """A step that is no step, or a search that does not end."""


@dataclass(frozen=True, eq=False)
class Branch:
    """Plans that are still to be excluded: their states, and which workers are interchangeable among them.

    Where they are too many to write down, `states` is None and `pairs` is what is fixed.
    """

    states: States | None
    classes: tuple[tuple[int, ...], ...]
    pairs: Pairs | None = None


class StateBounds:
    """The kinds of bounds and of splits, over the rounded values of an instance."""

    def __init__(self, data: ExactInstance, denominator: int, quantum: int, floor: int) -> None:
        self.parent, self.end, self.floor = data.parent, data.end, floor
        self.workers, n = len(data.budgets), len(data.parent)
        self.budgets = [min(k, n) for k in data.budgets]
        # the data are over a multiple of the certificate's denominator
        unit = data.denominator // denominator * quantum
        # what a worker cannot hold, because its path alone exceeds the budget, is never counted
        depth = [1] * n
        for b, p in enumerate(data.parent):
            depth[b] = 1 if p < 0 else depth[p] + 1
        able = np.array([[d <= k for d in depth] for k in self.budgets], np.bool_).reshape(self.workers, n)
        if data.pairwise:
            tables = data.local, data.coverage, data.saving * able[:, None, :]
        else:
            tables = data.local * able, data.coverage * able.any(axis=0), data.saving
        rounded = [(2 * a + unit) // (2 * unit) for a in tables]
        excess = [np.maximum(a - r * unit, 0) for a, r in zip(tables, rounded, strict=True)]
        # a chunk's term exceeds its rounded one by no more than all its numbers do together, and of the savings of
        # a requester only one counts
        terms = (excess[2].max(axis=0) if data.pairwise else excess[0]).sum() + excess[1].sum()
        self.excess = int(terms)
        self.local, self.coverage, self.saving = (r * quantum for r in rounded)
        self.pairwise = data.pairwise
        top = self.saving.max(axis=0).sum() if data.pairwise else self.local.sum() + self.coverage.sum()
        self.top = int(top) + 1
        if self.top * (self.workers + 2) >= LARGEST:
            raise Malformed("values in units of the denominator are too large for machine integers")
        self.local, self.coverage, self.saving = (
            a.astype(np.int64) for a in (self.local, self.coverage, self.saving)
        )
        self.classes = self._classes()

    def _classes(self) -> tuple[tuple[int, ...], ...]:
        """Classes of workers any two of which have equal budgets and can be swapped without changing a value."""
        classes: list[list[int]] = []
        for m, budget in enumerate(self.budgets):
            for members in classes:
                if self.budgets[members[0]] == budget and self._swappable(members[0], m):
                    members.append(m)
                    break
            else:
                classes.append([m])
        return tuple(tuple(members) for members in classes)

    def _swappable(self, first: int, second: int) -> bool:
        if not self.pairwise:
            return bool((self.local[first] == self.local[second]).all())
        swap = np.arange(self.workers)
        swap[[first, second]] = second, first
        return bool((self.saving == self.saving[np.ix_(swap, swap)]).all())

    def start(self) -> Branch:
        """All plans."""
        holders = [m for m, k in enumerate(self.budgets) if k > 0]
        n = len(self.parent)
        if n << len(holders) > MOST_STATES:
            return Branch(None, self.classes, nothing_fixed(self.budgets, n))
        masks = np.zeros(1, np.int64)
        for m in holders:
            masks = np.concatenate((masks, masks | 1 << m))
        return Branch(States([masks] * n, [self.term(b, masks) for b in range(n)]), self.classes)

    def term(self, chunk: int, masks: Integers) -> Integers:
        """The rounded term of the objective at a chunk for sets of holders, in units."""
        if not self.pairwise:
            value = np.where(masks != 0, self.coverage[chunk], 0)
            for m in range(self.workers):
                value = value + np.where(masks >> m & 1, self.local[m, chunk], 0)
            return value
        best = np.zeros((self.workers, masks.size), self.saving.dtype)
        for h in range(self.workers):
            best = np.maximum(best, np.where(masks >> h & 1, self.saving[h, :, chunk][:, None], 0))
        return best.sum(axis=0)

    def keep(self, branch: Branch, bounds: list[Integers]) -> Branch | None:
        """The branch without the states whose bound is at most the floor; None when it is closed."""
        assert branch.states is not None
        states = branch.states.reduced(self.parent, [b > self.floor for b in bounds])
        return self.left(states, branch.classes)

    def left(self, states: States | None, classes: tuple[tuple[int, ...], ...]) -> Branch | None:
        """A branch of these states; None when there are none, when what a worker holds in all of them overruns its
        budget, or when each chunk has one and the only plan is worth no more than the floor."""
        if states is None:
            return None
        always = np.array([np.bitwise_and.reduce(masks) for masks in states.masks], np.int64)
        if any(int((always >> m & 1).sum()) > budget for m, budget in enumerate(self.budgets)):
            return None
        if (
            all(masks.size == 1 for masks in states.masks)
            and sum(int(v[0]) for v in states.values) <= self.floor
        ):
            return None
        return Branch(states, classes)

    def by_prices(self, branch: Branch, prices: list[int]) -> Branch | None:
        """Holder-set bound at prices λ: Σ_m λ_m·k_m + the best states when every holder pays."""
        states = self.states(branch)
        paid = [states_paid(masks, [[p] for p in prices], 0) for masks in states.masks]
        bound, inside, reach = forest_bound(self.parent, states, paid)
        total = bound + sum(p * k for p, k in zip(prices, self.budgets, strict=True))
        if total <= self.floor:
            return None
        return self.keep(branch, forest_through(self.parent, states, total, inside, reach))

    def by_joint(self, branch: Branch, rows: Sequence[Sequence[int]]) -> Branch | None:
        """Joint bound at multipliers π: the best states when holder m of b pays π_m(b), and what workers make of it."""
        states = self.states(branch)
        paid = [states_paid(masks, rows, b) for b, masks in enumerate(states.masks)]
        bound, inside, reach = forest_bound(self.parent, states, paid)
        total, losses = bound, []
        for m in range(self.workers):
            fixed_in, fixed_out = states.fixed(m)
            best, entry, leave = budget_losses(self.end, list(rows[m]), self.budgets[m], fixed_in, fixed_out)
            if best is None:
                return None
            total += best
            losses.append((entry, leave))
        if total <= self.floor:
            return None
        through = forest_through(self.parent, states, total, inside, reach)
        return self.keep(
            branch, [t - lost for t, lost in zip(through, pair_losses(states, losses), strict=True)]
        )

    def by_coverage(self, branch: Branch, multipliers: list[int], prices: list[int] | None) -> Branch | None:
        """Coverage bound at μ ≤ Δ: Σ_b (Δ(b) − μ_b) + what each worker makes of a_m + μ, less a state's losses."""
        if self.pairwise:
            raise Malformed("a coverage step belongs to a requester-side instance")
        states, pairs = branch.states, branch.pairs
        if states is not None:
            held = np.array([bool((masks != 0).all()) for masks in states.masks])
            barred = np.array([not masks.any() for masks in states.masks])
        else:
            assert pairs is not None
            held, barred = pairs.held, pairs.barred
        # where somebody holds a chunk in any case, μ may exceed Δ: what it takes off the chunk it gives its holder
        multipliers = [mu if held[b] else min(mu, int(self.coverage[b])) for b, mu in enumerate(multipliers)]
        total, losses = 0, []
        for m in range(self.workers):
            profit = [int(a) + mu for a, mu in zip(self.local[m], multipliers, strict=True)]
            known = pairs if states is None else states
            assert known is not None
            fixed_in, fixed_out = known.fixed(m)
            if prices is None:
                best, entry, leave = budget_losses(self.end, profit, self.budgets[m], fixed_in, fixed_out)
            else:
                best, entry, leave = price_losses(
                    self.parent, profit, prices[m], self.budgets[m], fixed_in, fixed_out
                )
            if best is None:
                return None
            total += best
            losses.append((entry, leave))
        # where nobody may hold the chunk it adds nothing
        spread = [0 if barred[b] else int(self.coverage[b]) - mu for b, mu in enumerate(multipliers)]
        total += sum(spread)
        if total <= self.floor:
            return None
        if states is None:
            assert pairs is not None
            room = total - self.floor
            written = self.cheap_states(losses, multipliers, spread, held, room)
            if written is None:
                if room >= LARGEST // (4 * (self.workers + 1)):
                    return branch
                entries, leaves = (np.array([loss[side] for loss in losses]) for side in (0, 1))
                tighter = pairs.tightened(entries, leaves, np.array(multipliers), np.array(spread), room)
                return None if tighter is None else self.fixed(tighter, branch.classes)
            states = written
            branch = Branch(states, branch.classes)
        lost = pair_losses(states, losses)
        bounds = []
        for b, here in enumerate(states.masks):
            holders = np.bitwise_count(here).astype(np.int64)
            extra = np.where(holders == 0, spread[b], multipliers[b] * np.maximum(holders - 1, 0))
            bounds.append(total - lost[b] - extra)
        return self.keep(branch, bounds)

    def cheap_states(
        self,
        losses: list[tuple[list[int], list[int]]],
        multipliers: list[int],
        spread: list[int],
        held: NDArray[np.bool_],
        room: int,
    ) -> States | None:
        """All states that lose less than `room`; None when they are too many to write down."""
        masks: list[Integers] = []
        count = 0
        for b, mu in enumerate(multipliers):
            empty = None if held[b] else spread[b]
            found = cheap_sets(losses, b, mu, empty, room)
            count += 0 if found is None else found.size
            if found is None or count > _MOST_IN_ALL:
                return None
            masks.append(found)
        return States(masks, [self.term(b, at) for b, at in enumerate(masks)])

    def states(self, branch: Branch) -> States:
        if branch.states is None:
            raise Malformed("the states are too many for any step but coverage bounds and splits")
        return branch.states

    def split(self, branch: Branch, worker: int, chunk: int) -> tuple[Branch | None, Branch | None]:
        """Plans in which `worker` holds `chunk`, and those in which nobody interchangeable with it does.

        If anyone of the class holds it, exchange him for `worker`: the plan keeps its value and still belongs to
        this branch, because all that was decided before treats the class alike.
        """
        members = next(c for c in branch.classes if worker in c)
        apart = [c for c in branch.classes if c != members]
        rest = tuple(m for m in members if m != worker)
        alone = (*apart, (worker,), rest) if rest else (*apart, (worker,))
        if branch.states is None:
            assert branch.pairs is not None
            return (
                self.fixed(branch.pairs.kept_by(worker, chunk), alone),
                self.fixed(branch.pairs.without(members, chunk), branch.classes),
            )
        here = branch.states.masks[chunk]
        group = sum(1 << m for m in members)
        return (
            self.part(branch.states, chunk, here >> worker & 1 == 1, alone),
            self.part(branch.states, chunk, here & group == 0, branch.classes),
        )

    def cover(self, branch: Branch, chunk: int) -> tuple[Branch | None, Branch | None]:
        """Plans in which somebody holds `chunk`, and those in which nobody does."""
        if branch.states is None:
            assert branch.pairs is not None
            return (
                self.fixed(branch.pairs.kept(chunk), branch.classes),
                self.fixed(branch.pairs.without(range(self.workers), chunk), branch.classes),
            )
        here = branch.states.masks[chunk]
        return (
            self.part(branch.states, chunk, here != 0, branch.classes),
            self.part(branch.states, chunk, here == 0, branch.classes),
        )

    def fixed(self, pairs: Pairs, classes: tuple[tuple[int, ...], ...]) -> Branch | None:
        """A branch without states; None when its fixings contradict each other or overrun a budget."""
        closed = pairs.closed(self.parent)
        if closed is None or (closed.inside.sum(axis=1) > self.budgets).any():
            return None
        return Branch(None, classes, closed)

    def part(
        self, states: States, chunk: int, keep: NDArray[np.bool_], classes: tuple[tuple[int, ...], ...]
    ) -> Branch | None:
        """The part of a branch in which a chunk has one of the states `keep`."""
        everything = [np.ones(masks.size, np.bool_) for masks in states.masks]
        everything[chunk] = keep
        return self.left(states.reduced(self.parent, everything), classes)


def states_paid(masks: Integers, rows: Sequence[Sequence[int]], chunk: int) -> Integers:
    """Σ over the holders of each state of what they pay for a chunk."""
    paid = np.zeros(masks.size, np.int64)
    for m, row in enumerate(rows):
        paid = paid + np.where(masks >> m & 1, row[chunk], 0)
    return paid


def pair_losses(states: States, losses: list[tuple[list[int], list[int]]]) -> list[Integers]:
    """What each state loses over all workers: `entry` for its holders, `leave` for the others."""
    result = []
    for b, masks in enumerate(states.masks):
        lost = np.zeros(masks.size, np.int64)
        for m, (entry, leave) in enumerate(losses):
            lost = np.minimum(lost + np.where(masks >> m & 1, entry[b], leave[b]), -NEVER)
        result.append(lost)
    return result


def cheap_sets(
    losses: list[tuple[list[int], list[int]]], chunk: int, multiplier: int, empty: int | None, room: int
) -> Integers | None:
    """All sets of holders of a chunk that lose less than `room` in the coverage bound; None when they are too many.

    `empty` is what the empty set loses beside the pairs, None where it is no state.
    """
    found = [(0, 0, 0)]  # (set, number of holders, lost so far by pairs)
    for m, (entry, leave) in enumerate(losses):
        found = [
            (mask | taken << m, count + taken, lost + more)
            for mask, count, lost in found
            for taken, more in ((0, leave[chunk]), (1, entry[chunk]))
            if lost + more + multiplier * max(count + taken - 1, 0) < room
        ]
        if len(found) > _MOST_AT_ONE:
            return None
    cheap = [mask for mask, count, lost in found if count or (empty is not None and lost + empty < room)]
    return np.array(cheap, np.int64)
