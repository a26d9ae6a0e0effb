#include "act.h"
#include "math.h"
#include "play.h"
#include "pool.h"

/* silu_mul reads gate and up, sigmoid_mul gate and x. */
typedef struct {
    const act_t *gate, *other;
    act_t *out;
    long gate_stride, other_stride, d;
} gate_t;

static void silu_mul(const void *context, long first, long last) {
    const gate_t *c = context;
    const long d = c->d;
    for (long m = first; m < last; m++) {
        const act_t *gate = c->gate + m * c->gate_stride, *up = c->other + m * c->other_stride;
        act_t *y = c->out + m * d;
        long i = 0;
        for (; i + 16 <= d; i += 16) st16(y + i, v16_mul(v16_silu(ld16(gate + i)), ld16(up + i)));
        if (i < d) st16_n(y + i, v16_mul(v16_silu(ld16_n(gate + i, d - i)), ld16_n(up + i, d - i)), d - i);
    }
}

static void sigmoid_mul(const void *context, long first, long last) {
    const gate_t *c = context;
    const long d = c->d;
    for (long m = first; m < last; m++) {
        const act_t *gate = c->gate + m * c->gate_stride, *x = c->other + m * c->other_stride;
        act_t *y = c->out + m * d;
        long i = 0;
        for (; i + 16 <= d; i += 16) st16(y + i, v16_mul(ld16(x + i), v16_sigmoid(ld16(gate + i))));
        if (i < d) st16_n(y + i, v16_mul(ld16_n(x + i, d - i), v16_sigmoid(ld16_n(gate + i, d - i))), d - i);
    }
}

/* out [rows, d] = silu(gate_up[:, :d]) * gate_up[:, d:]. */
void iso_silu_mul(const act_t *gate_up, long stride, act_t *out, long rows, long d, int threads) {
    const gate_t c = {gate_up, gate_up + d, out, stride, stride, d};
    iso_each(silu_mul, &c, rows, step_for(d), threads);
}
PLAYABLE(iso_silu_mul, PTR(0), LONG(1), PTR(2), LONG(3), LONG(4), INT(5))

/* out [rows, d] = x * sigmoid(gate). */
void iso_sigmoid_mul(const act_t *x, long x_stride, const act_t *gate, long gate_stride, act_t *out, long rows, long d,
                     int threads) {
    const gate_t c = {gate, x, out, gate_stride, x_stride, d};
    iso_each(sigmoid_mul, &c, rows, step_for(d), threads);
}
PLAYABLE(iso_sigmoid_mul, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), LONG(5), LONG(6), INT(7))
