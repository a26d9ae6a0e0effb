#include "../linear/fp8.h"
#include "pool.h"

enum { SMALL = 1 << 18 }; /* multiplications; see linear.c */

typedef struct {
    const act_t *x;
    const int32_t *rows, *offsets;
    const uint8_t *w;
    const float *scales;
    act_t *y;
    long x_stride, experts, n, k;
} grouped_t;

/* The pairs of expert e. */
static fp8_t product_of(const grouped_t *g, long e) {
    const long pair = g->offsets[e], panels = panels_of(g->n);
    const product_t p = {.x = g->rows ? g->x : g->x + pair * g->x_stride, .gather = g->rows ? g->rows + pair : 0,
                         .x_stride = g->x_stride, .y = g->y + pair * g->n, .rows = g->offsets[e + 1] - pair, .n = g->n, .k = g->k};
    return (fp8_t){p, g->w + e * panels * steps_of(g->k) * FP8_STEP, g->scales + e * panels * scale_blocks(g->k) * PANEL};
}

/* Pieces are numbered over experts in order; the numbers that a thread claims only rise. */
static void work(const void *grouped, team_t *team) {
    const grouped_t *g = grouped;
    long index = claim(team), e = 0, base = 0;
    if (index < 0) return;
    tiles_begin();
    fp8_t f = product_of(g, 0);
    for (; index >= 0; index = claim(team)) {
        while (index >= base + fp8_pieces(&f.p)) base += fp8_pieces(&f.p), f = product_of(g, ++e);
        fp8_piece(&f, index - base);
    }
    tiles_end();
}

/* y [pairs, n] = round(x W_e^T) for the pairs offsets[e] .. offsets[e+1] of each expert e. Row i of x is pair i, or rows[i] when
   rows is not null. w, scales: of the experts one after the other, as fp8.h has them. */
void iso_fp8_grouped_linear(const act_t *x, long x_stride, const int32_t *rows, const int32_t *offsets, const void *w,
                            const float *scales, act_t *y, long experts, long n, long k, int threads) {
    const grouped_t g = {x, rows, offsets, w, scales, y, x_stride, experts, n, k};
    long total = 0;
    for (long e = 0; e < experts; e++) {
        const fp8_t f = product_of(&g, e);
        total += fp8_pieces(&f.p);
    }
    iso_share(work, &g, total, 4 * offsets[experts] * n * k > SMALL ? threads : 1);
}
