"""Numba kernels of the dynamic program over losses, on a core (:mod:`prefixplace.oracle._core`).

It keeps, in each row, only the columns whose loss can still stay within the limit G (a window). If it ends at a set
of loss ≤ G, no closed set is better; if it does not, every closed set loses more than G.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["core_path"]

LANES = 64


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
