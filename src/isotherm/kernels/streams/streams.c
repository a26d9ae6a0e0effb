/* Hyper-connections; formulas, split law and rounding points are in __init__.py. A row of streams is `streams` times `h` columns. */
#include "act.h"
#include "math.h"
#include "../norm/norm.h"
#include "play.h"
#include "pool.h"

typedef struct {
    const act_t *x, *y, *z;
    const float *weight;
    act_t *out;
    long x_stride, y_stride, z_stride, streams, h;
    float eps;
} stream_t;

static inline long fewer(long left) { return left < 16 ? left : 16; }

/* Items are streams of rows. */
static void stream_norm(const void *context, long first, long last) {
    const stream_t *c = context;
    for (long r = first; r < last; r++) {
        const long row = r / c->streams, column = r % c->streams * c->h;
        const act_t *x = c->x + row * c->x_stride + column;
        const v16 scale = v16_set1(inverse_rms(x, c->h, c->eps));
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            st16_n(c->out + r * c->h + i, v16_mul(v16_mul(ld16_n(x + i, n), scale), v16_load_n(c->weight + column + i, n)), n);
        }
    }
}

/* x: normed; y: gates. Items are rows. */
static void stream_mix(const void *context, long first, long last) {
    const stream_t *c = context;
    const v16 count = v16_set1((float)c->streams);
    for (long m = first; m < last; m++) {
        const act_t *x = c->x + m * c->x_stride, *gate = c->y + m * c->y_stride;
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            v16 sum = v16_zero();
            for (long s = 0; s < c->streams; s++)
                sum = v16_fma(v16_sigmoid(ld16_n(gate + s * c->h + i, n)), ld16_n(x + s * c->h + i, n), sum);
            st16_n(c->out + m * c->h + i, v16_div(sum, count), n);
        }
    }
}

/* x: streams; y: what each takes; z: gates. Items are streams of rows. */
static void stream_add(const void *context, long first, long last) {
    const stream_t *c = context;
    for (long r = first; r < last; r++) {
        const long row = r / c->streams, s = r % c->streams;
        const act_t *x = c->x + row * c->x_stride + s * c->h, *y = c->y + row * c->y_stride;
        const v16 gate = v16_set1(2.0f * f1_sigmoid(ld1(c->z + row * c->z_stride + s) / (float)c->streams));
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            st16_n(c->out + r * c->h + i, v16_fma(ld16_n(y + i, n), gate, ld16_n(x + i, n)), n);
        }
    }
}

/* Items are rows. */
static void scaled_silu(const void *context, long first, long last) {
    const stream_t *c = context;
    const v16 divisor = v16_set1(c->eps); /* the one number that the call has */
    for (long m = first; m < last; m++)
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            st16_n(c->out + m * c->h + i, v16_silu(v16_div(ld16_n(c->x + m * c->x_stride + i, n), divisor)), n);
        }
}

/* sign(d) sqrt(max(|d|, 1e-6)), 0 of 0. */
V16_INLINE float signed_root(float d) {
    if (d == 0.0f) return 0.0f;
    const float size = d < 0.0f ? -d : d, root = f1_sqrt(size < 1e-6f ? 1e-6f : size);
    return d < 0.0f ? -root : root;
}

/* x: keys; y: queries; z: value. Items are streams of rows. */
static void stream_gate(const void *context, long first, long last) {
    const stream_t *c = context;
    for (long r = first; r < last; r++) {
        const long row = r / c->streams, column = r % c->streams * c->h;
        const act_t *key = c->x + row * c->x_stride + column, *query = c->y + row * c->y_stride + column;
        const act_t *value = c->z + row * c->z_stride;
        v16 sum = v16_zero();
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            sum = v16_fma(ld16_n(key + i, n), ld16_n(query + i, n), sum);
        }
        const v16 gate = v16_set1(f1_sigmoid(signed_root(v16_hsum(sum) / f1_sqrt((float)c->h))));
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            st16_n(c->out + r * c->h + i, v16_mul(gate, ld16_n(value + i, n)), n);
        }
    }
}

/* x + (y + z). Items are rows. */
static void stream_sum(const void *context, long first, long last) {
    const stream_t *c = context;
    for (long m = first; m < last; m++)
        for (long i = 0; i < c->h; i += 16) {
            const long n = fewer(c->h - i);
            const v16 inner = v16_add(ld16_n(c->y + m * c->y_stride + i, n), ld16_n(c->z + m * c->z_stride + i, n));
            st16_n(c->out + m * c->h + i, v16_add(ld16_n(c->x + m * c->x_stride + i, n), inner), n);
        }
}

void iso_stream_norm(const act_t *x, long x_stride, const float *weight, act_t *out, long rows, long streams, long h, float eps,
                     int threads) {
    const stream_t c = {x, 0, 0, weight, out, x_stride, 0, 0, streams, h, eps};
    iso_each(stream_norm, &c, rows * streams, step_for(h), threads);
}
PLAYABLE(iso_stream_norm, PTR(0), LONG(1), PTR(2), PTR(3), LONG(4), LONG(5), LONG(6), REAL(7), INT(8))

void iso_stream_mix(const act_t *x, long x_stride, const act_t *gate, long gate_stride, act_t *out, long rows, long streams, long h,
                    int threads) {
    const stream_t c = {x, gate, 0, 0, out, x_stride, gate_stride, 0, streams, h, 0};
    iso_each(stream_mix, &c, rows, step_for(streams * h), threads);
}
PLAYABLE(iso_stream_mix, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), LONG(5), LONG(6), LONG(7), INT(8))

void iso_stream_add(const act_t *x, long x_stride, const act_t *y, long y_stride, const act_t *gate, long gate_stride, act_t *out,
                    long rows, long streams, long h, int threads) {
    const stream_t c = {x, y, gate, 0, out, x_stride, y_stride, gate_stride, streams, h, 0};
    iso_each(stream_add, &c, rows * streams, step_for(h), threads);
}
PLAYABLE(iso_stream_add, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), LONG(5), PTR(6), LONG(7), LONG(8), LONG(9), INT(10))

void iso_scaled_silu(const act_t *x, long x_stride, act_t *out, long rows, long h, float divisor, int threads) {
    const stream_t c = {x, 0, 0, 0, out, x_stride, 0, 0, 1, h, divisor};
    iso_each(scaled_silu, &c, rows, step_for(h), threads);
}
PLAYABLE(iso_scaled_silu, PTR(0), LONG(1), PTR(2), LONG(3), LONG(4), REAL(5), INT(6))

void iso_stream_gate(const act_t *key, long key_stride, const act_t *query, long query_stride, const act_t *value, long value_stride,
                     act_t *out, long rows, long streams, long h, int threads) {
    const stream_t c = {key, query, value, 0, out, key_stride, query_stride, value_stride, streams, h, 0};
    iso_each(stream_gate, &c, rows * streams, step_for(h), threads);
}
PLAYABLE(iso_stream_gate, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), LONG(5), PTR(6), LONG(7), LONG(8), LONG(9), INT(10))

void iso_stream_sum(const act_t *x, long x_stride, const act_t *a, long a_stride, const act_t *b, long b_stride, act_t *out, long rows,
                    long h, int threads) {
    const stream_t c = {x, a, b, 0, out, x_stride, a_stride, b_stride, 1, h, 0};
    iso_each(stream_sum, &c, rows, step_for(h), threads);
}
PLAYABLE(iso_stream_sum, PTR(0), LONG(1), PTR(2), LONG(3), PTR(4), LONG(5), PTR(6), LONG(7), LONG(8), INT(9))
