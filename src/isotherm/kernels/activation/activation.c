#include "act.h"
#include "math.h"

enum { SMALL = 1 << 15 };

/* out [rows, d] = silu(gate_up[:, :d]) * gate_up[:, d:]. */
void iso_silu_mul(const act_t *gate_up, long stride, act_t *out, long rows, long d, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (rows > 1 && rows * d > SMALL)
    for (long m = 0; m < rows; m++) {
        const act_t *gate = gate_up + m * stride, *up = gate + d;
        act_t *y = out + m * d;
        long i = 0;
        for (; i + 16 <= d; i += 16) st16(y + i, v16_mul(v16_silu(ld16(gate + i)), ld16(up + i)));
        if (i < d) st16_n(y + i, v16_mul(v16_silu(ld16_n(gate + i, d - i)), ld16_n(up + i, d - i)), d - i);
    }
}

/* out [rows, d] = x * sigmoid(gate). */
void iso_sigmoid_mul(const act_t *x, long x_stride, const act_t *gate, long gate_stride, act_t *out, long rows, long d,
                     int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (rows > 1 && rows * d > SMALL)
    for (long m = 0; m < rows; m++) {
        const act_t *v = x + m * x_stride, *g = gate + m * gate_stride;
        act_t *y = out + m * d;
        long i = 0;
        for (; i + 16 <= d; i += 16) st16(y + i, v16_mul(ld16(v + i), v16_sigmoid(ld16(g + i))));
        if (i < d) st16_n(y + i, v16_mul(ld16_n(v + i, d - i), v16_sigmoid(ld16_n(g + i, d - i))), d - i);
    }
}
