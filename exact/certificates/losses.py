"""One worker's best closed set, and what it loses when a chunk is forced in or out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from exact.certificates.forest import NEVER

__all__ = ["MOST_CELLS", "TooLarge", "budget_losses", "price_losses"]

MOST_CELLS = 1 << 27
"""Most entries of a table, of which two are held at a time: 2 GiB."""


Losses = tuple[int | None, list[int], list[int]]
"""Best profit (None: nothing feasible), and per chunk at least what is lost when it is taken, when it is left."""


class TooLarge(Exception):
    """A certificate asks for more memory than a verifier should spend."""


def budget_losses(
    end: Sequence[int], profit: Sequence[int], budget: int, inside: set[int], outside: set[int]
) -> Losses:
    """With the budget kept: longest paths through the dynamic program D[i, j], forwards and backwards.

    Chunks of `inside` must be taken and those of `outside` left; `inside` holds the ancestors of its chunks, `outside`
    the subtrees. The program is over the others and what is left of the budget. O(free·budget).

    Raises
    ------
    TooLarge
        When the tables would have more than :data:`MOST_CELLS` entries.
    """
    n = len(profit)
    entry = [-NEVER if i in outside else 0 for i in range(n)]
    leave = [-NEVER if i in inside else 0 for i in range(n)]
    free = [i for i in range(n) if i not in inside and i not in outside]
    left = min(budget, n) - len(inside)
    if left < 0:
        return None, [], []
    budget, count = min(left, len(free)), len(free)
    if (count + 1) * (budget + 1) > MOST_CELLS:
        raise TooLarge(f"a worker's table of {count + 1} × {budget + 1} entries is too large to replay")
    stop = [bisect_left(free, end[i]) for i in free]
    after = np.zeros((count + 1, budget + 1), np.int64)  # best of the free chunks c … with j left to spend
    for c in range(count - 1, -1, -1):
        after[c] = after[stop[c]]
        after[c, 1:] = np.maximum(after[c, 1:], profit[free[c]] + after[c + 1, :-1])
    best = int(after[0, budget])
    before = np.full((count + 1, budget + 1), NEVER, np.int64)  # best way to come to free chunk c with j left
    before[0, budget] = 0
    for c, i in enumerate(free):
        skipped = int((before[c] + after[stop[c]]).max())
        before[stop[c]] = np.maximum(before[stop[c]], before[c])
        taken = NEVER
        if budget > 0:
            move = np.maximum(before[c, 1:] + profit[i], NEVER)
            taken = int((move + after[c + 1, :-1]).max())
            before[c + 1, :-1] = np.maximum(before[c + 1, :-1], move)
        entry[i] = best - taken if taken > NEVER // 2 else -NEVER
        leave[i] = best - skipped if skipped > NEVER // 2 else -NEVER
    _inherit(end, leave)
    return best + sum(profit[i] for i in inside), entry, leave


def price_losses(
    parent: Sequence[int], profit: Sequence[int], price: int, budget: int, inside: set[int], outside: set[int]
) -> Losses:
    """With a price per chunk instead of the budget: best closed set of any size, plus price · budget. O(n)."""
    n = len(profit)
    gain = [p - price for p in profit]  # of taking a chunk, with the best below it
    below = [0] * n
    total = price * budget
    for i in range(n - 1, -1, -1):
        gain[i] += below[i]
        free_worth = 0 if i in outside else max(gain[i], 0)
        worth = gain[i] if i in inside else free_worth
        if parent[i] < 0:
            total += worth
        else:
            below[parent[i]] += worth
    entry, leave = [0] * n, [0] * n
    for i in range(n):
        p = parent[i]
        here_in = 0 if i in inside else max(-gain[i], 0)
        here_out = -NEVER if i in inside else max(gain[i], 0)
        if i in outside:
            here_in, here_out = -NEVER, 0
        entry[i] = min(here_in + (entry[p] if p >= 0 else 0), -NEVER)
        leave[i] = min(here_out, leave[p]) if p >= 0 else here_out
    return total, entry, leave


def _inherit(end: Sequence[int], leave: list[int]) -> None:
    """A chunk is also left out where an ancestor is: its loss is the least along its path."""
    open_chunks: list[int] = []
    for i, loss in enumerate(leave):
        while open_chunks and end[open_chunks[-1]] <= i:
            open_chunks.pop()
        if open_chunks:
            leave[i] = min(loss, leave[open_chunks[-1]])
        open_chunks.append(i)
