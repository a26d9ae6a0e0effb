#include "../linear/panel.h"

enum { SMALL = 1 << 18 }; /* multiplications; see linear.c */

V16_INLINE long units_of(const int32_t *offsets, long e, long n) { return panels_of(n) * tiles_of(offsets[e + 1] - offsets[e]); }

/* y [pairs, n] = round(x W_e^T) for the pairs offsets[e] .. offsets[e+1] of each expert e. Row i of x is pair i, or rows[i] when
   rows is not null. w [experts] packed weights [n, k]. Threads take equal ranges of units, counted over experts in order. */
void iso_grouped_linear(const act_t *x, long x_stride, const int32_t *rows, const int32_t *offsets, const void *w, act_t *y,
                        long experts, long n, long k, int threads) {
    long total = 0;
    for (long e = 0; e < experts; e++) total += units_of(offsets, e, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (total > 1 && offsets[experts] * n * k > SMALL)
    for (int t = 0; t < threads; t++) {
        const long first = t * total / threads, last = (t + 1) * total / threads;
        for (long e = 0, base = 0; e < experts && base < last; e++) {
            const long count = units_of(offsets, e, n), begin = first > base ? first - base : 0;
            const long end = last - base < count ? last - base : count, pair = offsets[e];
            product_t p = {.x = rows ? x : x + pair * x_stride, .gather = rows ? rows + pair : 0, .x_stride = x_stride,
                           .w = (const char *)w + e * panels_of(n) * steps_of(k) * STEP, .y = y + pair * n,
                           .rows = offsets[e + 1] - pair, .n = n, .k = k};
            if (begin < end) units(&p, begin, end);
            base += count;
        }
    }
}
