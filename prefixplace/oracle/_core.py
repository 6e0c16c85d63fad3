"""Numba kernels that build a core: the few nodes in doubt, as a forest of weighted blocks.

At a price λ with bound U, a closed set S of at most k nodes is worth U − loss(S), where loss(S) adds up what its
decisions cost: with h as in :func:`prefixplace.oracle._search.node_losses`, max(0, −h) for taking a node when the
walk reaches it, max(0, h) for skipping it, and λ for each unit of budget left over. So the best set is the one of
least loss. Fix a limit G: decisions that alone cost more than G are settled, the others form the *core*

* a node too dear to take is dropped with its subtree;
* a node too dear to skip joins the block of its parent (or is inside, if all its ancestors are), so blocks have
  weights; so does an only child below a block of profit ≤ 0, which nobody takes for its own sake;
* a leaf block of profit ≤ 0 is dropped.

:mod:`prefixplace.oracle._core_path` finds the set of least loss in it.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "build_core",
    "core_forest",
    "doubtful_losses",
    "kth_smallest",
    "mark_core",
    "mark_dense",
    "reduce_core",
    "undecided_forest",
]

SETTLED = -1  # owner of a node that is inside in every set of loss ≤ G


@njit(cache=True, nogil=True)
def doubtful_losses(end, profit, m, price, best, limit, stack_end, stack_loss, losses):  # type: ignore[no-untyped-def]
    """Losses of the decisions that cost at most `limit` on their own, each the dearer side of one node.

    The loss of a node is what reaching it costs plus |h|: of skipping it where h > 0, of taking it where h ≤ 0.
    Fills `losses` in preorder and returns their number. O(m), less where whole subtrees are too dear.
    """
    count, top = 0, 0
    reach, until = np.int64(0), np.int64(m)
    i = 0
    while i < m:
        while i >= until:
            top -= 1
            reach, until = stack_loss[top], np.int64(stack_end[top])
        e = end[i]
        h = profit[i] - price + best[i + 1] - best[e]
        if h > 0:
            if reach + h <= limit:
                losses[count] = reach + h
                count += 1
            i += 1
        elif reach - h > limit:
            i = e
        else:
            losses[count] = reach - h
            count += 1
            stack_loss[top], stack_end[top] = reach, until
            top += 1
            reach, until = reach - h, np.int64(e)
            i += 1
    return count


@njit(cache=True, nogil=True)
def kth_smallest(values, count, k):  # type: ignore[no-untyped-def]
    """The k-th smallest (from 0) of ``values[:count]``, which is reordered. Hoare's selection, O(count) expected."""
    low, high = 0, count - 1
    while low < high:
        a, b, c = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@njit(cache=True, nogil=True)
def build_core(  # type: ignore[no-untyped-def]
    end, profit, m, price, best, limit, stack_end, stack_loss, stack_block, member, owner,
    above, last, weight, worth, take, skip,
):  # fmt: skip
    """Split the nodes at loss limit G = `limit`: settled inside, in a block of the core, or dropped.

    ``member[:seen]`` lists the nodes that are not dropped and ``owner`` the block of each, or SETTLED. Per block:
    `above` its parent block (SETTLED: none), `last` the number of blocks up to the end of its subtree, `weight`
    its nodes, `worth` their profit, `take` and `skip` the two costs. Returns ``(seen, inside, blocks)``.
    """
    seen, inside, blocks, top = 0, 0, 0, 0
    block, reach, until = SETTLED, np.int64(0), np.int64(m)
    i = 0
    while i < m:
        while i >= until:
            last[block] = blocks
            top -= 1
            block, reach, until = np.int64(stack_block[top]), stack_loss[top], np.int64(stack_end[top])
        e = end[i]
        h = profit[i] - price + best[i + 1] - best[e]
        if reach - h > limit:
            i = e
            continue
        member[seen] = i
        if reach + h > limit:
            owner[seen] = block
            if block == SETTLED:
                inside += 1
            else:
                weight[block] += 1
                worth[block] += profit[i]
        else:
            owner[seen] = blocks
            above[blocks] = block
            weight[blocks] = 1
            worth[blocks] = profit[i]
            take[blocks] = max(np.int64(0), -h)
            skip[blocks] = max(np.int64(0), h)
            stack_block[top], stack_loss[top], stack_end[top] = block, reach, until
            top += 1
            block, reach, until = blocks, reach + take[blocks], np.int64(e)
            blocks += 1
        seen += 1
        i += 1
    while top > 0:
        last[block] = blocks
        top -= 1
        block = np.int64(stack_block[top])
    return seen, inside, blocks


@njit(cache=True, nogil=True)
def reduce_core(blocks, room, cap, above, weight, worth, take, skip, into, children, only):  # type: ignore[no-untyped-def]
    """Drop and merge blocks that leave no choice; `room` is the budget left for the core.

    Blocks on a path heavier than `room` cannot be taken, leaf blocks of profit ≤ 0 need not be, and an only child
    of a block of profit ≤ 0 goes with it. What skipping a dropped block costs is charged to its parent. ``into[b]``
    becomes b for a block that stays, the block it went into, or -1 if dropped. Returns ``(kept, constant)``: the
    number of blocks that stay, and the loss that no set avoids. Costs are cut off at `cap`. O(blocks).
    """
    constant = np.int64(0)
    for b in range(blocks):
        into[b] = b
        children[b] = 0
        # `only` carries the weight of the path while going down
        a = above[b]
        only[b] = weight[b] + (only[a] if a >= 0 else 0)
        if a >= 0 and into[a] < 0:
            into[b] = -1
        elif only[b] > room:
            into[b] = -1
            if a >= 0:
                take[a] = min(cap, take[a] + skip[b])
            else:
                constant = min(cap, constant + skip[b])
    kept = 0
    for b in range(blocks - 1, -1, -1):
        if into[b] < 0:
            continue
        while worth[b] <= 0 and children[b] == 1:
            c = only[b]
            into[c] = b
            weight[b] += weight[c]
            worth[b] += worth[c]
            take[b] = min(cap, take[b] + take[c])
            children[b] = children[c]
            only[b] = only[c]
            kept -= 1
        a = above[b]
        if worth[b] <= 0 and children[b] == 0:
            into[b] = -1
            if a >= 0:
                take[a] = min(cap, take[a] + skip[b])
            else:
                constant = min(cap, constant + skip[b])
        else:
            kept += 1
            if a >= 0:
                children[a] += 1
                only[a] = b
    return kept, constant


@njit(cache=True, nogil=True)
def core_forest(blocks, into, last, place, node, core_end):  # type: ignore[no-untyped-def]
    """The blocks that stay as a forest: ``node[x]`` is the block at position x, ``core_end[x]`` its subtree end."""
    count = 0
    for b in range(blocks):
        place[b] = count
        if into[b] == b:
            node[count] = b
            count += 1
    place[blocks] = count
    for x in range(count):
        core_end[x] = place[last[node[x]]]


@njit(cache=True, nogil=True)
def mark_core(seen, member, owner, into, taken, base):  # type: ignore[no-untyped-def]
    """Write a solution of the core to `base` (1 inside, 0 outside): settled nodes and those of taken blocks.

    ``taken[b]`` is 1 for a block of the core that is taken, by its number in :func:`build_core`; `base` is
    cleared first.
    """
    base[:] = 0
    for x in range(seen):
        b = owner[x]
        if b == SETTLED:
            base[member[x]] = 1
        else:
            # a merged block went into one that may itself have been merged
            while b >= 0 and into[b] != b:
                b = into[b]
            if b >= 0 and taken[b]:
                base[member[x]] = 1


@njit(cache=True, nogil=True)
def undecided_forest(end, profit, m, seen, member, owner, place, to_end, to_profit, to_node):  # type: ignore[no-untyped-def]
    """Copy the nodes that :func:`build_core` neither dropped nor settled, one by one. Returns their number. O(m)."""
    count, at = 0, 0
    for x in range(seen):
        i = member[x]
        while at <= i:
            place[at] = count
            at += 1
        if owner[x] != SETTLED:
            to_end[count], to_profit[count], to_node[count] = end[i], profit[i], i
            count += 1
    while at <= m:
        place[at] = count
        at += 1
    for c in range(count):
        to_end[c] = place[to_end[c]]
    return count


@njit(cache=True, nogil=True)
def mark_dense(profit, m, seen, member, owner, node, order, taken, base):  # type: ignore[no-untyped-def]
    """Write the settled nodes and those taken by the dense program to `base`; returns the profit of the set. O(m)."""
    base[:m] = 0
    for x in range(seen):
        if owner[x] == SETTLED:
            base[member[x]] = 1
    for x in range(order.size):
        if taken[x]:
            base[node[order[x]]] = 1
    total = np.int64(0)
    for i in range(m):
        if base[i]:
            total += profit[i]
    return total
