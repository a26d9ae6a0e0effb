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

/* Expert e, whose pieces are numbered from `base` on. */
typedef struct {
    long e, base;
    product_t p;
} place_t;

/* The place of piece `index`, which is at `from` or after it. */
static place_t place_of(const grouped_t *g, place_t from, long index) {
    while (index >= from.base + pieces_of(&from.p)) from.base += pieces_of(&from.p), from.p = product_of(g, ++from.e);
    return from;
}

/* Pieces are numbered over experts in order; the numbers that a thread claims only rise. It claims its next piece before it
   computes one, to fetch the weights in the meantime. */
static void work(const void *grouped, team_t *team) {
    const grouped_t *g = grouped;
    long index = claim(team), next;
    if (index < 0) return;
    tiles_begin();
    for (place_t place = place_of(g, (place_t){0, 0, product_of(g, 0)}, index), then = place; index >= 0; index = next, place = then) {
        const char *after = NULL;
        if ((next = claim(team)) >= 0) {
            then = place_of(g, place, next);
            after = piece_at(&then.p, next - then.base);
        }
        piece(&place.p, index - place.base, after);
    }
    tiles_end();
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
