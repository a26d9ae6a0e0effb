#include "norm.h"
#include "play.h"
#include "pool.h"

/* Rows of d columns. For the gated norm a row is one head of a matrix's row, which holds `heads` of them. */
typedef struct {
    const act_t *x, *gate;
    const float *weight;
    act_t *out;
    long x_stride, gate_stride, heads, d;
    float eps;
} norm_t;

static void rms_norm(const void *context, long first, long last) {
    const norm_t *c = context;
    const long d = c->d;
    for (long m = first; m < last; m++) {
        const act_t *p = c->x + m * c->x_stride;
        v16 scale = v16_set1(inverse_rms(p, d, c->eps));
        long i = 0;
        for (; i + 16 <= d; i += 16) st16(c->out + m * d + i, v16_mul(v16_mul(ld16(p + i), scale), v16_load(c->weight + i)));
        if (i < d)
            st16_n(c->out + m * d + i, v16_mul(v16_mul(ld16_n(p + i, d - i), scale), v16_load_n(c->weight + i, d - i)), d - i);
    }
}

V16_INLINE void gated(const norm_t *c, long first, long last, int silu) {
    const long d = c->d;
    for (long r = first; r < last; r++) {
        const long row = r / c->heads, column = r % c->heads * d;
        const act_t *p = c->x + row * c->x_stride + column, *g = c->gate + row * c->gate_stride + column;
        v16 scale = v16_set1(inverse_rms(p, d, c->eps));
        for (long i = 0; i < d; i += 16) {
            long n = d - i < 16 ? d - i : 16;
            v16 y = v16_mul(v16_mul(ld16_n(p + i, n), scale), v16_load_n(c->weight + i, n));
            v16 gate = ld16_n(g + i, n);
            st16_n(c->out + r * d + i, v16_mul(y, silu ? v16_silu(gate) : v16_sigmoid(gate)), n);
        }
    }
}

static void gated_rms_norm(const void *context, long first, long last) { gated(context, first, last, 1); }
static void sigmoid_gated_rms_norm(const void *context, long first, long last) { gated(context, first, last, 0); }

void iso_rms_norm(const act_t *x, long x_stride, const float *weight, act_t *out, long rows, long d, float eps, int threads) {
    const norm_t c = {x, 0, weight, out, x_stride, 0, 1, d, eps};
    iso_each(rms_norm, &c, rows, step_for(d), threads);
}
PLAYABLE(iso_rms_norm, PTR(0), LONG(1), PTR(2), PTR(3), LONG(4), LONG(5), REAL(6), INT(7))

void iso_gated_rms_norm(const act_t *x, long x_stride, const act_t *gate, long gate_stride, const float *weight, act_t *out,
                        long rows, long heads, long d, float eps, int threads) {
    const norm_t c = {x, gate, weight, out, x_stride, gate_stride, heads, d, eps};
    iso_each(gated_rms_norm, &c, rows * heads, step_for(d), threads);
}
PLAYABLE(iso_gated_rms_norm, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), PTR(5), LONG(6), LONG(7), LONG(8), REAL(9), INT(10))

void iso_sigmoid_gated_rms_norm(const act_t *x, long x_stride, const act_t *gate, long gate_stride, const float *weight,
                                act_t *out, long rows, long heads, long d, float eps, int threads) {
    const norm_t c = {x, gate, weight, out, x_stride, gate_stride, heads, d, eps};
    iso_each(sigmoid_gated_rms_norm, &c, rows * heads, step_for(d), threads);
}
PLAYABLE(iso_sigmoid_gated_rms_norm, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), PTR(5), LONG(6), LONG(7), LONG(8), REAL(9), INT(10))
