"""One worker's best closed set, and what it loses when a chunk is forced in or out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exact.certificates.forest import NEVER

__all__ = ["budget_losses", "price_losses"]

Losses = tuple[int | None, list[int], list[int]]
"""Best profit (None: nothing feasible), and per chunk at least what is lost when it is taken, when it is left."""


def budget_losses(
    end: Sequence[int], profit: Sequence[int], budget: int, inside: set[int], outside: set[int]
) -> Losses:
    """With the budget kept: longest paths through the dynamic program D[i, j], forwards and backwards.

    Chunks of `inside` must be taken and those of `outside` left. O(n·budget).
    """
    n = len(profit)
    budget = min(budget, n)
    after = np.full((n + 1, budget + 1), NEVER, np.int64)  # best of the chunks i … with j left to spend
    after[n] = 0
    for i in range(n - 1, -1, -1):
        if i not in inside:
            after[i] = after[end[i]]
        if i not in outside:
            after[i, 1:] = np.maximum(after[i, 1:], np.maximum(profit[i] + after[i + 1, :-1], NEVER))
    best = int(after[0, budget])
    if best <= NEVER // 2:
        return None, [], []
    before = np.full((n + 1, budget + 1), NEVER, np.int64)  # best way to come to chunk i with j left
    before[0, budget] = 0
    entry, leave = [0] * n, [0] * n
    for i in range(n):
        taken = left = NEVER
        if i not in inside:
            left = int((before[i] + np.maximum(after[end[i]], NEVER)).max())
            before[end[i]] = np.maximum(before[end[i]], before[i])
        if i not in outside and budget > 0:
            move = np.maximum(before[i, 1:] + profit[i], NEVER)
            taken = int((move + after[i + 1, :-1]).max())
            before[i + 1, :-1] = np.maximum(before[i + 1, :-1], move)
        entry[i] = best - taken if taken > NEVER // 2 else -NEVER
        leave[i] = best - left if left > NEVER // 2 else -NEVER
    _inherit(end, leave)
    return best, entry, leave


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
