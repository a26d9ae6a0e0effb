#include "panel.h"

/* Multiplications below which a team of threads costs more than it saves; each weight counts once more, for its reading. */
enum { SMALL = 1 << 18 };

/* y [rows, n] = round(residual + x W^T), or sums_out [rows, n] float32 when it is not null. Threads take equal ranges of units. */
void iso_linear(const act_t *x, long x_stride, const void *w, const act_t *residual, long residual_stride, act_t *y,
                float *sums_out, long rows, long n, long k, int threads) {
    const product_t p = {x, residual, 0, w, y, sums_out, x_stride, residual_stride, rows, n, k};
    const long total = rows ? panels_of(n) * tiles_of(rows) : 0;
#pragma omp parallel for schedule(static) num_threads(threads) if (total > 1 && (rows / 8 + 1) * n * k > SMALL)
    for (int t = 0; t < threads; t++) units(&p, t * total / threads, (t + 1) * total / threads);
}

/* Rows of the packed weight w [n, k], as they were packed. */
void iso_embed(const int32_t *tokens, const void *w, act_t *out, long rows, long k, int threads) {
    const long steps = steps_of(k);
#pragma omp parallel for schedule(static) num_threads(threads) if (rows > 1 && rows * k > SMALL)
    for (long m = 0; m < rows; m++) {
        const act_t *column = (const act_t *)w + tokens[m] / PANEL * steps * PANEL * PAIR + tokens[m] % PANEL * PAIR;
        for (long i = 0; i < k; i++) out[m * k + i] = column[i / PAIR * PANEL * PAIR + i % PAIR];
    }
}
