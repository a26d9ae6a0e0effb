/* RMS norm of each head and rotation; the split law is in __init__.py. A task is one head of one row. */
#include "../norm/norm.h"
#include "play.h"
#include "pool.h"

#include <stdlib.h>

typedef struct {
    const act_t *x;
    const float *weight, *cos, *sin;
    const int32_t *positions;
    act_t *out;
    long stride, heads, dim, half;
    float eps;
} rope_t;

V16_INLINE long lanes_of(long n, long i) { return n - i < 16 ? n - i : 16; }

/* `normed` has room for dim elements. */
static void head(const rope_t *rope, const act_t *x, const float *cos, const float *sin, float *normed, act_t *out) {
    v16 scale = v16_set1(inverse_rms(x, rope->dim, rope->eps));
    for (long i = 0; i < rope->dim; i += 16) {
        long n = lanes_of(rope->dim, i);
        v16_store_n(normed + i, v16_mul(v16_mul(ld16_n(x + i, n), scale), v16_load_n(rope->weight + i, n)), n);
    }
    for (long i = 0; i < rope->half; i += 16) {
        long n = lanes_of(rope->half, i);
        v16 first = v16_load_n(normed + i, n), second = v16_load_n(normed + rope->half + i, n);
        v16 c = v16_load_n(cos + i, n), s = v16_load_n(sin + i, n);
        st16_n(out + i, v16_fma(v16_neg(second), s, v16_mul(first, c)), n);
        st16_n(out + rope->half + i, v16_fma(first, s, v16_mul(second, c)), n);
    }
    for (long i = 2 * rope->half; i < rope->dim; i += 16) {
        long n = lanes_of(rope->dim, i);
        st16_n(out + i, v16_load_n(normed + i, n), n);
    }
}

static void heads(const void *context, long first, long last) {
    const rope_t *rope = context;
    float *normed = malloc((size_t)rope->dim * sizeof(float));
    for (long task = first; task < last; task++) {
        long row = task / rope->heads, column = task % rope->heads * rope->dim, angle = rope->positions[row] * rope->half;
        act_t *out = rope->out + task * rope->dim;
        head(rope, rope->x + row * rope->stride + column, rope->cos + angle, rope->sin + angle, normed, out);
    }
    free(normed);
}

void iso_norm_rope(const act_t *x, long stride, const float *weight, const int32_t *positions, const float *cos, const float *sin,
                   act_t *out, long rows, long heads_a_row, long dim, long half, float eps, int threads) {
    const rope_t rope = {x, weight, cos, sin, positions, out, stride, heads_a_row, dim, half, eps};
    iso_each(heads, &rope, rows * heads_a_row, step_for(dim), threads);
}
PLAYABLE(iso_norm_rope, PTR(0), LONG(1), PTR(2), PTR(3), PTR(4), PTR(5), PTR(6), LONG(7), LONG(8), LONG(9), LONG(10),
          REAL(11), INT(12))
