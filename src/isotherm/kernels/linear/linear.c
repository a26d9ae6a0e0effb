#include "panel.h"
#include "play.h"
#include "pool.h"

/* Multiplications below which sharing costs more than it saves; each weight counts once more, for its reading. */
enum { SMALL = 1 << 18 };

/* A thread claims its next piece before it computes one, to fetch the weights in the meantime. */
static void work(const void *product, team_t *team) {
    const product_t *p = product;
    tiles_begin();
    for (long index = claim(team), next; index >= 0; index = next) {
        next = claim(team);
        piece(p, index, next < 0 ? NULL : piece_at(p, next));
    }
    tiles_end();
}

/* y [rows, n] = round(residual + x W^T), or sums_out [rows, n] float32 when it is not null. */
void iso_linear(const act_t *x, long x_stride, const void *w, const act_t *residual, long residual_stride, act_t *y,
                float *sums_out, long rows, long n, long k, int threads) {
    const product_t p = {x, residual, 0, w, y, sums_out, x_stride, residual_stride, rows, n, k};
    iso_share(work, &p, pieces_of(&p), (rows / 8 + 1) * n * k > SMALL ? threads : 1);
}
PLAYABLE(iso_linear, PTR(0), LONG(1), PTR(2), PTR(3), LONG(4), PTR(5), PTR(6), LONG(7), LONG(8), LONG(9), INT(10))

typedef struct {
    const int32_t *tokens;
    const act_t *w;
    act_t *out;
    long k;
} embed_t;

static void embed(const void *context, long first, long last) {
    const embed_t *e = context;
    const long steps = steps_of(e->k);
    for (long m = first; m < last; m++) {
        const act_t *column = e->w + e->tokens[m] / PANEL * steps * PANEL * PAIR + e->tokens[m] % PANEL * PAIR;
        for (long i = 0; i < e->k; i++) e->out[m * e->k + i] = column[i / PAIR * PANEL * PAIR + i % PAIR];
    }
}

/* Rows of the packed weight w [n, k], as they were packed. */
void iso_embed(const int32_t *tokens, const void *w, act_t *out, long rows, long k, int threads) {
    const embed_t e = {tokens, w, out, k};
    iso_each(embed, &e, rows, step_for(k), threads);
}
PLAYABLE(iso_embed, PTR(0), PTR(1), PTR(2), LONG(3), LONG(4), INT(5))
