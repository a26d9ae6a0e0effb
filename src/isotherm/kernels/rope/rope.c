/* RMS norm of each head and rotation; the split law is in __init__.py. A task is one head of one row. */
#include "../norm/norm.h"

#include <stdlib.h>

enum { SMALL = 1 << 14 }; /* elements below which a team of threads costs more than it saves */

typedef struct {
    const float *weight, *cos, *sin;
    long dim, half;
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

void iso_norm_rope(const act_t *x, long stride, const float *weight, const int32_t *positions, const float *cos, const float *sin,
                   act_t *out, long rows, long heads, long dim, long half, float eps, int threads) {
    const rope_t rope = {weight, cos, sin, dim, half, eps};
#pragma omp parallel num_threads(threads) if (rows * heads > 1 && rows * heads * dim > SMALL)
    {
        float *normed = malloc((size_t)dim * sizeof(float));
#pragma omp for schedule(static)
        for (long task = 0; task < rows * heads; task++) {
            long row = task / heads, column = task % heads * dim, angle = positions[row] * half;
            head(&rope, x + row * stride + column, cos + angle, sin + angle, normed, out + row * heads * dim + column);
        }
        free(normed);
    }
}
