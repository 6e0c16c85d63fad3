"""Numba kernels of the dense dynamic program: blocked along the budget, live rows only.

The table of Theorem 1 has n·k cells, but row i needs only the rows i + 1 and end(i). Three ideas keep the
work in the nearest cache and the memory small:

* *Heavy child last.* With the largest subtree last among its siblings, a row waits only for the light edges
  above it, so at most ⌊log₂ n⌋ + 3 rows are alive (:func:`heavy_last`, :func:`row_slots`). The order of the
  user stays outside.
* *Blocks of the budget axis.* A block of columns runs over all nodes with its rows in L1/L2. Between blocks
  only one column is needed: D[·, last column of the block before].
* *Traceback by recomputation.* Only these boundary columns are kept (8·n·k/B bytes). Going back, the block
  that the path is in is computed again, this time with one decision bit per cell.

Cells that no path can use are left out: a row i is saturated beyond j = n − i (its value is that without a
budget), and columns below k − i cannot be reached.
"""

# mypy: no-check-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["block_columns", "dense_mask", "dense_path", "dense_value", "heavy_last", "row_slots"]

PAD = 8  # words before a row: the last one holds the boundary column, all of them keep rows on cache lines
BIT_WORDS = 1 << 23  # 64 MB of decisions
LANES = 64  # columns of one vector step, and decision bits of one word


@intrinsic
def _step(typingctx, rows, dst, skip, take, profit):  # type: ignore[no-untyped-def]
    """64 cells at once: ``rows[dst + t] = max(rows[skip + t], profit + rows[take + t])``.

    Bit t of the result is set where taking wins. Written in LLVM vectors because the scalar form of the bit
    mask is several times slower; it lowers to whatever vector unit the machine has. All positions are indices
    into the flat array `rows`.
    """
    word = rows.dtype
    signature = types.uint64(rows, types.intp, types.intp, types.intp, word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        whole = isinstance(word, types.Integer)
        vector = ir.VectorType(ir.IntType(64) if whole else ir.DoubleType(), LANES)
        index = ir.IntType(32)

        def pointer(position: Any) -> Any:
            return builder.bitcast(builder.gep(array.data, [position]), vector.as_pointer())

        def load(position: Any) -> Any:
            value = builder.load(pointer(position))
            value.align = 8
            return value

        undefined = ir.Constant(vector, ir.Undefined)
        lane = builder.insert_element(undefined, args[4], ir.Constant(index, 0))
        splat = builder.shuffle_vector(lane, undefined, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))
        skipped, below = load(args[2]), load(args[3])
        taken = builder.add(below, splat) if whole else builder.fadd(below, splat)
        wins = (
            builder.icmp_signed(">", taken, skipped) if whole else builder.fcmp_ordered(">", taken, skipped)
        )
        store = builder.store(builder.select(wins, taken, skipped), pointer(args[1]))
        store.align = 8
        return builder.bitcast(wins, ir.IntType(64))

    return signature, codegen


@njit(cache=True, nogil=True)
def heavy_last(end):  # type: ignore[no-untyped-def]
    """Reorder a forest so that the largest subtree comes last among siblings.

    Returns ``(order, new_end)``: ``order[i]`` is the old preorder position of the node now at ``i``. O(n).
    """
    n = end.size
    order = np.empty(n, np.int64)
    new_end = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    top, count, first, last = 0, 0, 0, n
    while True:
        # push the siblings first … last: the heaviest lowest, the others so that they pop in their order
        heavy, size = -1, 0
        c = first
        while c < last:
            if end[c] - c >= size:
                heavy, size = c, end[c] - c
            c = end[c]
        if heavy >= 0:
            stack[top] = heavy
            top += 1
            low = top
            c = first
            while c < last:
                if c != heavy:
                    stack[top] = c
                    top += 1
                c = end[c]
            high = top - 1
            while low < high:
                stack[low], stack[high] = stack[high], stack[low]
                low += 1
                high -= 1
        if top == 0:
            return order, new_end
        top -= 1
        i = stack[top]
        order[count] = i
        new_end[count] = count + end[i] - i
        count += 1
        first, last = i + 1, end[i]


@njit(cache=True, nogil=True)
def row_slots(end):  # type: ignore[no-untyped-def]
    """Which buffer each row of the table uses: ``(slot, count, parent)``, slots of shape (n + 1,). O(n).

    Row n (all zeros) lives in slot 0. A row gives its slot back once no earlier node needs it: row i + 1
    after node i, unless it also is the end of an ancestor; row end(i) after node i, unless i is a last child.
    """
    n = end.size
    parent = np.full(n, -1, np.int32)
    for i in range(n):
        c = i + 1
        while c < end[i]:
            parent[c] = i
            c = end[c]
    slot = np.zeros(n + 1, np.int32)
    free = np.empty(n + 2, np.int32)
    top, count = 0, 1
    for i in range(n - 1, -1, -1):
        if top > 0:
            top -= 1
            slot[i] = free[top]
        else:
            slot[i] = count
            count += 1
        above = end[parent[i]] if parent[i] >= 0 else n
        if end[i] != above:  # not a last child: nobody before i needs row end(i)
            free[top] = slot[end[i]]
            top += 1
        if end[i] != i + 1:  # not a leaf: row i + 1 is its first child's own
            free[top] = slot[i + 1]
            top += 1
    return slot, count, parent


@njit(cache=True, nogil=True)
def block_columns(n, k):  # type: ignore[no-untyped-def]
    """Columns per block, a multiple of 64: 512 to stay near L1, up to 2048 if all edges would pass 0.45 GB."""
    block = 512
    while block < 2048 and 8.0 * n * k / block > 4.5e8:
        block += 256
    return max(LANES, min(block, (k + LANES - 1) // LANES * LANES))


@njit(cache=True, nogil=True)
def _unlimited(end, profit):  # type: ignore[no-untyped-def]
    """``best[i]``, shape (n + 1,): value of a best closed set in ``i : n`` without a budget. O(n)."""
    n = end.size
    best = np.zeros(n + 1, profit.dtype)
    for i in range(n - 1, -1, -1):
        taken = profit[i] + best[i + 1]
        skipped = best[end[i]]
        best[i] = taken if taken > skipped else skipped
    return best


@njit(cache=True, nogil=True)
def _fill_saturated(rows, stride, slot, end, parent, best, last):  # type: ignore[no-untyped-def]
    """Fill the rows that nodes up to `last` still need; past their saturation they are constant in j."""
    n = end.size
    i, row = last, last + 1
    while True:
        at = slot[row] * stride
        for t in range(at, at + stride):
            rows[t] = best[row]
        while i >= 0 and (end[i] == row or end[i] == n):
            i = parent[i]
        if i < 0:
            break
        row = end[i]
    for t in range(stride):
        rows[t] = best[n]


@njit(cache=True, nogil=True)
def _sweep(rows, stride, slot, end, profit, edge, first, last, columns, next_edge, bits):  # type: ignore[no-untyped-def]
    """Rows last … first of one block of columns, backwards.

    `edge` is the column before the block. The last column of the block goes to `next_edge` if that is not empty,
    the decisions of the rows from `first` on to words ``bits[i − first, t // 64]`` as far as there is room.
    """
    keep_edge, stop_bits = next_edge.size > 0, first + bits.shape[0]
    for i in range(last, first - 1, -1):
        dst = slot[i] * stride + PAD
        skip = slot[end[i]] * stride + PAD
        take = slot[i + 1] * stride + PAD - 1
        p = profit[i]
        if i < stop_bits:
            for t in range(0, columns, LANES):
                bits[i - first, t // LANES] = _step(rows, dst + t, skip + t, take + t, p)
        else:
            for t in range(0, columns, LANES):
                _step(rows, dst + t, skip + t, take + t, p)
        rows[dst - 1] = edge[i]
        if keep_edge:
            next_edge[i] = rows[dst + columns - 1]


@njit(cache=True, nogil=True)
def _aligned_rows(count, stride, kind):  # type: ignore[no-untyped-def]
    """Zeroed memory for the rows that starts on a cache line."""
    memory = np.zeros(count * stride + PAD, kind.dtype)
    return memory[(PAD - memory.ctypes.data // 8 % PAD) % PAD :]


@njit(cache=True, nogil=True)
def _forward(rows, stride, end, slot, parent, profit, k, best, edges, bits):  # type: ignore[no-untyped-def]
    """All blocks from the first column to the last, which keeps its decisions if `bits` is not empty.

    ``edges[c]`` is the column before block c, so ``edges[0]`` is D[·, 0]. Returns the number of cells.
    """
    n, blocks, block = end.size, edges.shape[0], stride - PAD
    cells = 0
    for c in range(blocks):
        # columns c·block + 1 … (c + 1)·block, where rows k − (c + 1)·block … n − c·block − 1 are of use
        last = n - 1 - c * block
        first = max(0, k - (c + 1) * block)
        _fill_saturated(rows, stride, slot, end, parent, best, last)
        more = c + 1 < blocks
        next_edge = edges[c + 1] if more else edges[c, :0]
        kept_bits = bits[:0] if more else bits
        _sweep(rows, stride, slot, end, profit, edges[c], first, last, block, next_edge, kept_bits)
        cells += (last - first + 1) * block
    return cells


@njit(cache=True, nogil=True)
def dense_value(end, slot, count, parent, profit, k):  # type: ignore[no-untyped-def]
    """Value of a best closed set of at most k nodes, 0 < k ≤ n, and the cells computed; no traceback.

    Arguments as for :func:`dense_path`.
    """
    stride = block_columns(end.size, k) + PAD
    rows = _aligned_rows(count, stride, profit)
    edges = np.zeros(((k + stride - PAD - 1) // (stride - PAD), end.size + 1), profit.dtype)
    best = _unlimited(end, profit)
    cells = _forward(rows, stride, end, slot, parent, profit, k, best, edges, np.empty((0, 1), np.uint64))
    column = (k - 1) % (stride - PAD)
    return rows[slot[0] * stride + PAD + column], cells


@njit(cache=True, nogil=True)
def dense_path(end, slot, count, parent, profit, k, bit_words=BIT_WORDS):  # type: ignore[no-untyped-def]
    """Best closed set of at most k nodes, by the blocked dynamic program.

    Parameters
    ----------
    end : int64 array, shape (n,)
        Subtree ends, heavy child last (:func:`heavy_last`).
    slot, count, parent
        From :func:`row_slots`.
    profit : int64 or float64 array, shape (n,)
        For int64 the sum of absolute values must stay below 2⁶³; the arithmetic is then exact.
    k : int
        Budget, 0 ≤ k ≤ n.
    bit_words : int
        Words of 64 decisions that may be kept at a time.

    Returns
    -------
    mask : bool array, shape (n,)
        The set; ties skip.
    cells : int
        Cells of the table that were computed, those of the traceback included.

    Notes
    -----
    O(n·k) time, 8·n·⌈k/B⌉ bytes for blocks of B columns (:func:`block_columns`) and at most 64 MB.
    """
    n = end.size
    mask = np.zeros(n, np.bool_)
    cells = 0
    if n == 0 or k == 0:
        return mask, cells
    block = block_columns(n, k)
    blocks = (k + block - 1) // block
    stride = block + PAD
    rows = _aligned_rows(count, stride, profit)
    best = _unlimited(end, profit)
    edges = np.zeros((blocks, n + 1), profit.dtype)
    # where the path leaves the rows whose decisions are kept, the block is computed again from there
    bits = np.empty((max(1, min(n, bit_words * LANES // block)), block // LANES), np.uint64)
    start = 0
    cells += _forward(rows, stride, end, slot, parent, profit, k, best, edges, bits)
    i, j, c = 0, k, blocks - 1
    while i < n and j > 0:
        last = n - 1 - c * block
        if j <= c * block or (i <= last and i - start >= bits.shape[0]):
            # the path goes on in an earlier block or beyond the rows kept: compute that part for its decisions
            c, start = (j - 1) // block, i
            last = n - 1 - c * block
            _fill_saturated(rows, stride, slot, end, parent, best, last)
            _sweep(rows, stride, slot, end, profit, edges[c], i, last, block, edges[c, :0], bits)
            cells += max(0, last - i + 1) * block
        if i > last:
            takes = profit[i] + best[i + 1] > best[end[i]]
        else:
            t = j - 1 - c * block
            takes = (bits[i - start, t // LANES] >> np.uint64(t % LANES)) & np.uint64(1) != 0
        if takes:
            mask[i] = True
            i += 1
            j -= 1
        else:
            i = end[i]
    return mask, cells


@njit(cache=True, nogil=True)
def dense_mask(order, end, slot, count, parent, profit, k):  # type: ignore[no-untyped-def]
    """:func:`dense_path` for profits in the tree's own preorder; `order` is that of :func:`heavy_last`."""
    inside, _ = dense_path(end, slot, count, parent, profit[order], k)
    mask = np.empty(inside.size, np.bool_)
    for i in range(inside.size):
        mask[order[i]] = inside[i]
    return mask
