/* The blocked dense program without traceback, as in prefixplace/oracle/_dense.py: the C yardstick of the benchmark.
   Rows live in `rows` (count × (block + 8) words, zeroed, on a cache line); edges hold blocks × (n + 1) words. */
#include <stdint.h>

enum { PAD = 8 };

static void fill_saturated(int64_t *rows, int64_t stride, const int32_t *slot, int64_t n, const int64_t *end,
                           const int32_t *parent, const int64_t *best, int64_t last)
{
    int64_t i = last, row = last + 1;
    for (;;) {
        int64_t *at = rows + slot[row] * stride;
        for (int64_t t = 0; t < stride; t++)
            at[t] = best[row];
        while (i >= 0 && (end[i] == row || end[i] == n))
            i = parent[i];
        if (i < 0)
            break;
        row = end[i];
    }
    for (int64_t t = 0; t < stride; t++)
        rows[t] = 0;
}

int64_t dense_value(int64_t n, int64_t k, int64_t block, const int64_t *end, const int32_t *slot,
                    const int32_t *parent, const int64_t *profit, int64_t *rows, int64_t *edges, int64_t *best)
{
    int64_t stride = block + PAD, blocks = (k + block - 1) / block;
    best[n] = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t taken = profit[i] + best[i + 1], skipped = best[end[i]];
        best[i] = taken > skipped ? taken : skipped;
    }
    for (int64_t c = 0; c < blocks; c++) {
        int64_t last = n - 1 - c * block, first = k - (c + 1) * block;
        int64_t *edge = edges + c * (n + 1), *next = c + 1 < blocks ? edge + n + 1 : 0;
        if (first < 0)
            first = 0;
        fill_saturated(rows, stride, slot, n, end, parent, best, last);
        for (int64_t i = last; i >= first; i--) {
            int64_t *restrict to = rows + slot[i] * stride + PAD;
            const int64_t *skip = rows + slot[end[i]] * stride + PAD;
            const int64_t *take = rows + slot[i + 1] * stride + PAD - 1;
            int64_t p = profit[i];
            for (int64_t t = 0; t < block; t++) {
                int64_t taken = take[t] + p, skipped = skip[t];
                to[t] = taken > skipped ? taken : skipped;
            }
            to[-1] = edge[i];
            if (next)
                next[i] = to[block - 1];
        }
    }
    return rows[slot[0] * stride + PAD + (k - 1) % block];
}
