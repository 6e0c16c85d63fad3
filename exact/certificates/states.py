"""Searches over holder states in exact integer arithmetic: what proves ``state-search`` certificates.

For every chunk the search keeps a list of *states*: the sets of workers that may hold it in a plan worth more than
the floor F that the certificate claims. It begins with all sets. Each step removes states that no such plan can
have, by one of four upper bounds whose multipliers the certificate gives; a step of another kind splits the plans in
two. A branch is closed when some chunk has no state left, or when an enumeration finds nothing worth more than F.
Then no plan is worth more than F, whatever the multipliers were.

Values are rounded to multiples of a quantum, itself a whole number of units of 1/D. What rounding took off is summed
up exactly, chunk by chunk, and added to the bound at the end. In between everything is a sum of integers, small
enough for machine integers to be exact (this is checked), and since rounded values are multiples of the quantum, so
is the bound on them. Written for reading: plain loops over chunks, none of the solver's kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exact.certificates.evaluation import ExactInstance
from exact.certificates.forest import NEVER, States, forest_bound, forest_through
from exact.certificates.losses import budget_losses, price_losses

__all__ = ["LARGEST", "MOST_STATES", "Branch", "Malformed", "StateBounds"]

Integers = NDArray[Any]

MOST_STATES = 1 << 22
"""Most states n·2^M that are written down at the start; above it the first step must be a coverage bound."""


LARGEST = 1 << 60
"""Sums of values, and of each list of multipliers, stay below it: machine integers are exact."""


class Malformed(Exception):
    """A step that is no step, or a search that does not end."""


@dataclass(frozen=True, eq=False)
class Branch:
    """Plans that are still to be excluded: their states, and which workers are interchangeable among them.

    `states` is None before the first coverage bound where all states are too many.
    """

    states: States | None
    classes: tuple[tuple[int, ...], ...]


class StateBounds:
    """The four kinds of bounds and the split, over the rounded values of an instance."""

    def __init__(self, data: ExactInstance, denominator: int, quantum: int, floor: int) -> None:
        self.parent, self.end, self.floor = data.parent, data.end, floor
        self.workers, n = len(data.budgets), len(data.parent)
        self.budgets = [min(k, n) for k in data.budgets]
        # the data are over a multiple of the certificate's denominator
        unit = data.denominator // denominator * quantum
        # what a worker that can hold nothing would give is never counted
        able = np.array(self.budgets) > 0
        local, saving = ((a.T * able).T if a.size else a for a in (data.local, data.saving))
        tables = local, data.coverage, saving
        rounded = [(2 * a + unit) // (2 * unit) for a in tables]
        excess = [np.maximum(a - r * unit, 0) for a, r in zip(tables, rounded, strict=True)]
        # a chunk's term exceeds its rounded one by no more than all its numbers do together, and of the savings of
        # a requester only one counts
        terms = (excess[2].max(axis=0) if data.pairwise else excess[0]).sum() + excess[1].sum()
        self.excess = int(terms) if able.any() else 0
        self.local, self.coverage, self.saving = (r * quantum for r in rounded)
        self.pairwise = data.pairwise
        top = self.saving.max(axis=0).sum() if data.pairwise else self.local.sum() + self.coverage.sum()
        self.top = int(top) + 1
        if self.top * (self.workers + 2) >= LARGEST:
            raise Malformed("values in units of the denominator are too large for machine integers")
        self.local, self.coverage, self.saving = (
            a.astype(np.int64) for a in (self.local, self.coverage, self.saving)
        )
        self.classes = _classes(data, self.budgets)

    def start(self) -> Branch:
        """All plans."""
        holders = [m for m, k in enumerate(self.budgets) if k > 0]
        n = len(self.parent)
        if n << len(holders) > MOST_STATES:
            return Branch(None, self.classes)
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
        """A branch of these states; None when there are none, when the chunks with one state left overrun a budget,
        or when all have one and the only plan is worth no more than the floor."""
        if states is None:
            return None
        only = np.array([masks[0] for masks in states.masks if masks.size == 1], np.int64)
        if any(int((only >> m & 1).sum()) > budget for m, budget in enumerate(self.budgets)):
            return None
        if only.size == len(states.masks) and sum(int(v[0]) for v in states.values) <= self.floor:
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
        n = len(self.parent)
        multipliers = [min(mu, int(delta)) for mu, delta in zip(multipliers, self.coverage, strict=True)]
        total, losses = 0, []
        for m in range(self.workers):
            profit = [int(a) + mu for a, mu in zip(self.local[m], multipliers, strict=True)]
            nothing: tuple[set[int], set[int]] = (set(), set(range(n)) if self.budgets[m] == 0 else set())
            fixed_in, fixed_out = nothing if branch.states is None else branch.states.fixed(m)
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
        spread = [int(d) - mu for d, mu in zip(self.coverage, multipliers, strict=True)]
        if branch.states is not None:
            # where no state has a holder the chunk adds nothing
            spread = [s if masks.any() else 0 for s, masks in zip(spread, branch.states.masks, strict=True)]
        total += sum(spread)
        if total <= self.floor:
            return None
        if branch.states is None:
            masks = [cheap_sets(losses, b, multipliers[b], spread[b], total - self.floor) for b in range(n)]
            states = States(masks, [self.term(b, at) for b, at in enumerate(masks)])
            branch = replace(branch, states=states)
        else:
            states = branch.states
        lost = pair_losses(states, losses)
        bounds = []
        for b, here in enumerate(states.masks):
            holders = np.bitwise_count(here).astype(np.int64)
            extra = np.where(holders == 0, spread[b], multipliers[b] * np.maximum(holders - 1, 0))
            bounds.append(total - lost[b] - extra)
        return self.keep(branch, bounds)

    def states(self, branch: Branch) -> States:
        if branch.states is None:
            raise Malformed("the states are too many for any step but a coverage bound")
        return branch.states

    def split(self, branch: Branch, worker: int, chunk: int) -> tuple[Branch | None, Branch | None]:
        """Plans in which `worker` holds `chunk`, and those in which nobody interchangeable with it does.

        If anyone of the class holds it, exchange him for `worker`: the plan keeps its value and still belongs to
        this branch, because all that was decided before treats the class alike.
        """
        states = self.states(branch)
        members = next(c for c in branch.classes if worker in c)
        apart = [c for c in branch.classes if c != members]
        rest = tuple(m for m in members if m != worker)
        everything = [np.ones(masks.size, np.bool_) for masks in states.masks]
        here = states.masks[chunk]
        group = sum(1 << m for m in members)
        result: list[Branch | None] = []
        for keep, classes in (
            (here >> worker & 1 == 1, (*apart, (worker,), rest) if rest else (*apart, (worker,))),
            (here & group == 0, branch.classes),
        ):
            everything[chunk] = keep
            result.append(self.left(states.reduced(self.parent, everything), tuple(classes)))
        return result[0], result[1]


def _classes(data: ExactInstance, budgets: list[int]) -> tuple[tuple[int, ...], ...]:
    """Classes of workers any two of which have equal budgets and can be swapped without changing a value."""
    classes: list[list[int]] = []
    for m, budget in enumerate(budgets):
        for members in classes:
            if budgets[members[0]] == budget and _swappable(data, members[0], m):
                members.append(m)
                break
        else:
            classes.append([m])
    return tuple(tuple(members) for members in classes)


def _swappable(data: ExactInstance, first: int, second: int) -> bool:
    if not data.pairwise:
        return bool((data.local[first] == data.local[second]).all())
    swap = np.arange(len(data.budgets))
    swap[[first, second]] = second, first
    return bool((data.saving == data.saving[np.ix_(swap, swap)]).all())


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
    losses: list[tuple[list[int], list[int]]], chunk: int, multiplier: int, spread: int, room: int
) -> Integers:
    """All sets of holders of a chunk that lose less than `room` in the coverage bound."""
    found = [(0, 0, 0)]  # (set, number of holders, lost so far by pairs)
    for m, (entry, leave) in enumerate(losses):
        found = [
            (mask | taken << m, count + taken, lost + more)
            for mask, count, lost in found
            for taken, more in ((0, leave[chunk]), (1, entry[chunk]))
            if lost + more + multiplier * max(count + taken - 1, 0) < room
        ]
        if len(found) > 1 << 16:
            raise Malformed(f"chunk {chunk} has too many states left to write down")
    return np.array([mask for mask, count, lost in found if count or lost + spread < room], np.int64)
