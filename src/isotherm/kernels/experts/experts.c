#include "../linear/panel.h"
#include "pool.h"

enum { SMALL = 1 << 18 }; /* multiplications; see linear.c */

typedef struct {
    const act_t *x;
    const int32_t *rows, *offsets;
    const char *w;
    act_t *y;
    long x_stride, experts, n, k;
} grouped_t;

/* The pairs of expert e. */
static product_t product_of(const grouped_t *g, long e) {
    const long pair = g->offsets[e];
    return (product_t){.x = g->rows ? g->x : g->x + pair * g->x_stride, .gather = g->rows ? g->rows + pair : 0,
                       .x_stride = g->x_stride, .w = g->w + e * panels_of(g->n) * steps_of(g->k) * STEP, .y = g->y + pair * g->n,
                       .rows = g->offsets[e + 1] - pair, .n = g->n, .k = g->k};
}

/* Pieces are numbered over experts in order; the numbers that a thread claims only rise. */
static void work(const void *grouped, team_t *team) {
    const grouped_t *g = grouped;
    long e = 0, base = 0;
    product_t p = product_of(g, 0);
    for (long index; (index = claim(team)) >= 0;) {
        while (index >= base + pieces_of(&p)) base += pieces_of(&p), p = product_of(g, ++e);
        piece(&p, index - base);
    }
}

/* y [pairs, n] = round(x W_e^T) for the pairs offsets[e] .. offsets[e+1] of each expert e. Row i of x is pair i, or rows[i] when
   rows is not null. w [experts] packed weights [n, k]. */
void iso_grouped_linear(const act_t *x, long x_stride, const int32_t *rows, const int32_t *offsets, const void *w, act_t *y,
                        long experts, long n, long k, int threads) {
    const grouped_t g = {x, rows, offsets, w, y, x_stride, experts, n, k};
    long total = 0;
    for (long e = 0; e < experts; e++) {
        const product_t p = product_of(&g, e);
        total += pieces_of(&p);
    }
    iso_share(work, &g, total, offsets[experts] * n * k > SMALL ? threads : 1);
}
