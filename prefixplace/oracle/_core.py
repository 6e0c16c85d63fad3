"""Numba kernels of the core: an exact dynamic program over losses, on the few nodes that are in doubt.

At a price λ with bound U, a closed set S of at most k nodes is worth U − loss(S), where loss(S) adds up what its
decisions cost: with h as in :func:`prefixplace.oracle._search.node_losses`, max(0, −h) for taking a node when the
walk reaches it, max(0, h) for skipping it, and λ for each unit of budget left over. So the best set is the one of
least loss. Fix a limit G: decisions that alone cost more than G are settled, the others form the *core*

* a node too dear to take is dropped with its subtree;
* a node too dear to skip joins the block of its parent (or is inside, if all its ancestors are), so blocks have
  weights; so does an only child below a block of profit ≤ 0, which nobody takes for its own sake;
* a leaf block of profit ≤ 0 is dropped.

The dynamic program runs over losses and keeps, in each row, only the columns whose loss can still stay within G
(a window). If it ends at a set of loss ≤ G, no closed set is better; if it does not, every set loses more than G.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

__all__ = [
    "build_core",
    "core_forest",
    "core_path",
    "doubtful_losses",
    "kth_smallest",
    "mark_core",
    "mark_dense",
    "reduce_core",
    "undecided_forest",
]

LANES = 64
SETTLED = -1  # owner of a node that is inside in every set of loss ≤ G


@intrinsic
def _relax(typingctx, rows, dst, skip, take, skip_cost, take_cost, cap):  # type: ignore[no-untyped-def]
    """64 cells: ``rows[dst+t] = min(rows[skip+t] + skip_cost, rows[take+t] + take_cost, cap)``.

    Bit t of the result is set where taking is strictly cheaper. int64 only.
    """
    signature = types.uint64(rows, *[types.intp] * 3, *[types.int64] * 3)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        vector = ir.VectorType(ir.IntType(64), LANES)
        index = ir.IntType(32)
        undefined = ir.Constant(vector, ir.Undefined)

        def pointer(position: Any) -> Any:
            return builder.bitcast(builder.gep(array.data, [position]), vector.as_pointer())

        def load(position: Any) -> Any:
            value = builder.load(pointer(position))
            value.align = 8
            return value

        def splat(scalar: Any) -> Any:
            lane = builder.insert_element(undefined, scalar, ir.Constant(index, 0))
            zeros = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
            return builder.shuffle_vector(lane, undefined, zeros)

        def least(a: Any, b: Any) -> Any:
            return builder.select(builder.icmp_signed("<", a, b), a, b)

        skipped = builder.add(load(args[2]), splat(args[4]))
        taken = builder.add(load(args[3]), splat(args[5]))
        wins = builder.icmp_signed("<", taken, skipped)
        best = least(builder.select(wins, taken, skipped), splat(args[6]))
        store = builder.store(best, pointer(args[1]))
        store.align = 8
        return builder.bitcast(wins, ir.IntType(64))

    return signature, codegen


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
def core_path(  # type: ignore[no-untyped-def]
    end, parent, slot, slots, weight, take, skip, room, price, limit, bits, chosen
):
    """Least loss of the core within `limit`, by dynamic programming over windows of the remaining budget.

    ``loss[b, j] = min(loss[end(b), j] + skip[b], loss[b + 1, j − weight[b]] + take[b])`` and price·j at the end:
    the least loss from block b on with j units left. Columns whose loss plus that of reaching b passes the limit
    are left out.

    Parameters
    ----------
    end, parent, slot, slots
        The core with its heavy child last, and the buffers of its rows (:mod:`prefixplace.oracle._dense`).
    weight, take, skip : int64 arrays, shape (blocks,)
        Size of each block and the costs of its two decisions.
    room : int
        Budget of the core.
    bits : uint64 array
        Room for the decisions, one bit a cell; its size bounds the work.
    chosen : uint8 array, shape (blocks,)
        Receives the blocks taken, when a set within the limit exists.

    Returns
    -------
    loss, words : int
        The least loss; -1 when it is above the limit, -2 when `bits` was too small. Then the words of it used.
    """
    m = end.size
    cap = limit + 1
    heaviest = np.int64(1)
    before = np.zeros(
        m + 1, np.int64
    )  # weight of all blocks before b: no walk has used more when it gets to b
    reach = np.zeros(m, np.int64)
    for b in range(m):
        heaviest = max(heaviest, weight[b])
        before[b + 1] = before[b] + weight[b]
        p = parent[b]
        if p >= 0:
            reach[b] = min(cap, reach[p] + take[p])
    left = (heaviest + 2 * LANES - 1) // LANES * LANES
    stride = left + (room // LANES + 1) * LANES
    rows = np.full(slots * stride, cap, np.int64)
    low = np.zeros(slots, np.int64)  # window of the row in each slot
    high = np.full(slots, -1, np.int64)
    first = np.zeros(slots, np.int64)  # words of the slot that do not hold the cap
    stop = np.zeros(slots, np.int64)
    start_word = np.empty(m, np.int64)
    row_bits = np.empty(m, np.int64)
    z = slot[m]
    j = np.int64(0)
    while j <= room and price * j <= limit:
        rows[z * stride + left + j] = price * j
        j += 1
    high[z] = j - 1
    words = 0
    for b in range(m - 1, -1, -1):
        s, r, d = slot[end[b]], slot[b + 1], slot[b]
        w = weight[b]
        from_, to = room + 1, np.int64(-1)
        if low[s] <= high[s]:
            from_, to = low[s], high[s]
        if low[r] <= high[r]:
            from_, to = min(from_, low[r] + w), max(to, high[r] + w)
        from_, to = max(from_, room - before[b]), min(to, room)
        a = from_ // LANES
        e = to // LANES + 1 if to >= from_ else a
        base = d * stride + left
        for x in range(first[d], min(stop[d], a)):
            rows[base + x * LANES : base + (x + 1) * LANES] = cap
        for x in range(max(first[d], e), stop[d]):
            rows[base + x * LANES : base + (x + 1) * LANES] = cap
        if words + e - a > bits.size:
            return np.int64(-2), words
        start_word[b], row_bits[b] = a, words
        skip_at, take_at = s * stride + left, r * stride + left - w
        for x in range(a, e):
            t = x * LANES
            bits[words] = _relax(rows, base + t, skip_at + t, take_at + t, skip[b], take[b], cap)
            words += 1
        first[d], stop[d] = a, e
        allowed = limit - reach[b]
        while from_ <= to and rows[base + from_] > allowed:
            from_ += 1
        while from_ <= to and rows[base + to] > allowed:
            to -= 1
        low[d], high[d] = from_, to
    top = slot[0]
    if not low[top] <= room <= high[top]:
        return np.int64(-1), words
    loss = rows[top * stride + left + room]
    chosen[:m] = 0
    b, j = 0, room
    while b < m:
        word = bits[row_bits[b] + j // LANES - start_word[b]]
        if (word >> np.uint64(j % LANES)) & np.uint64(1):
            chosen[b] = 1
            j -= weight[b]
            b += 1
        else:
            b = end[b]
    return loss, words


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
