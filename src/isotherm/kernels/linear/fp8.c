#include "fp8.h"
#include "play.h"
#include "pool.h"

enum { SMALL = 1 << 18 }; /* multiplications; see linear.c */

static void work(const void *product, team_t *team) {
    const fp8_t *f = product;
    tiles_begin();
    for (long index; (index = claim(team)) >= 0;) fp8_piece(f, index);
    tiles_end();
}

/* y [rows, n] = round(residual + x W^T), or sums_out [rows, n] float32 when it is not null. w, scales: as fp8.h has them. */
void iso_fp8_linear(const act_t *x, long x_stride, const void *w, const float *scales, const act_t *residual,
                    long residual_stride, act_t *y, float *sums_out, long rows, long n, long k, int threads) {
    const product_t p = {x, residual, 0, 0, y, sums_out, x_stride, residual_stride, rows, n, k};
    const fp8_t f = {p, w, scales};
    iso_share(work, &f, fp8_pieces(&p), (rows / 8 + 4) * n * k > SMALL ? threads : 1);
}
PLAYABLE(iso_fp8_linear, PTR(0), LONG(1), PTR(2), PTR(3), PTR(4), LONG(5), PTR(6), PTR(7), LONG(8), LONG(9), LONG(10), INT(11))
