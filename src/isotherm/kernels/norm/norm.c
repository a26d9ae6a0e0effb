#include "norm.h"

enum { SMALL = 1 << 15 }; /* elements below which a team of threads costs more than it saves */

void iso_rms_norm(const act_t *x, long x_stride, const float *weight, act_t *out, long rows, long d, float eps, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (rows > 1 && rows * d > SMALL)
    for (long m = 0; m < rows; m++) {
        const act_t *p = x + m * x_stride;
        v16 scale = v16_set1(inverse_rms(p, d, eps));
        long i = 0;
        for (; i + 16 <= d; i += 16)
            st16(out + m * d + i, v16_mul(v16_mul(ld16(p + i), scale), v16_load(weight + i)));
        if (i < d)
            st16_n(out + m * d + i, v16_mul(v16_mul(ld16_n(p + i, d - i), scale), v16_load_n(weight + i, d - i)), d - i);
    }
}

/* rows counts heads: each row of a matrix holds `heads` of `d` columns. */
void iso_gated_rms_norm(const act_t *x, long x_stride, const act_t *gate, long gate_stride, const float *weight, act_t *out,
                        long rows, long heads, long d, float eps, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (rows * heads > 1 && rows * heads * d > SMALL)
    for (long r = 0; r < rows * heads; r++) {
        const act_t *p = x + r / heads * x_stride + r % heads * d, *g = gate + r / heads * gate_stride + r % heads * d;
        v16 scale = v16_set1(inverse_rms(p, d, eps));
        for (long i = 0; i < d; i += 16) {
            long n = d - i < 16 ? d - i : 16;
            v16 y = v16_mul(v16_mul(ld16_n(p + i, n), scale), v16_load_n(weight + i, n));
            st16_n(out + r * d + i, v16_mul(y, v16_silu(ld16_n(g + i, n))), n);
        }
    }
}
