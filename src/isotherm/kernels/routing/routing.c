#include "act.h"
#include "math.h"
#include "pool.h"

/* The k largest of x[0..e), largest first, ties to the lower index, into best. A NaN is never larger than what came before. */
static void largest(const float *x, long e, long k, int32_t *best) {
    long held = 0;
    for (long i = 0; i < e; i++) {
        long place = held < k ? held : k;
        while (place > 0 && x[i] > x[best[place - 1]]) place--;
        if (place == k) continue;
        held += held < k;
        for (long j = held - 1; j > place; j--) best[j] = best[j - 1];
        best[place] = (int32_t)i;
    }
}

static void ascend(int32_t *ids, long k) {
    for (long i = 1; i < k; i++)
        for (long j = i; j > 0 && ids[j - 1] > ids[j]; j--) {
            int32_t id = ids[j];
            ids[j] = ids[j - 1];
            ids[j - 1] = id;
        }
}

static float sum_of_exponentials(const float *x, long e, float top) {
    v16 sum = v16_zero(), shift = v16_set1(top);
    for (long i = 0; i < e; i += 16) {
        long n = e - i < 16 ? e - i : 16;
        v16 p = v16_exp(v16_sub(v16_load_n(x + i, n), shift));
        sum = v16_add(sum, v16_select(m16_first(n), p, v16_zero()));
    }
    return v16_hsum(sum);
}

typedef struct {
    const float *logits;
    int32_t *experts;
    float *weights;
    long stride, e, k;
    int renormalize;
} route_t;

static void route(const void *context, long first, long last) {
    const route_t *r = context;
    const long e = r->e, k = r->k;
    for (long m = first; m < last; m++) {
        const float *x = r->logits + m * r->stride;
        int32_t *ids = r->experts + m * k;
        float *w = r->weights + m * k, total = 0.0f;
        largest(x, e, k, ids);
        const float top = x[ids[0]], sum = sum_of_exponentials(x, e, top);
        ascend(ids, k);
        for (long j = 0; j < k; j++) total += w[j] = f1_exp(x[ids[j]] - top) / sum;
        for (long j = 0; r->renormalize && j < k; j++) w[j] /= total;
    }
}

/* logits [rows, e] float32 -> experts [rows, k] ascending ids, weights [rows, k]. 1 <= k <= e. */
void iso_route(const float *logits, long stride, int32_t *experts, float *weights, long rows, long e, long k, int renormalize,
               int threads) {
    const route_t r = {logits, experts, weights, stride, e, k, renormalize};
    iso_each(route, &r, rows, step_for(4 * e), threads);
}

/* shared may be null, then shared_gate is not read; shared_gate may be null, then shared counts whole. */
typedef struct {
    const act_t *pairs, *shared, *shared_gate, *residual;
    const float *weights;
    const int32_t *places;
    act_t *y;
    long shared_stride, gate_stride, residual_stride, n, k;
} combine_t;

static void combine(const void *context, long first, long last) {
    const combine_t *c = context;
    const long n = c->n, k = c->k;
    for (long m = first; m < last; m++) {
        const int gated = c->shared && c->shared_gate;
        const v16 gate = gated ? v16_sigmoid(v16_set1(ld1(c->shared_gate + m * c->gate_stride))) : v16_set1(1.0f);
        for (long i = 0; i < n; i += 16) {
            const long lanes = n - i < 16 ? n - i : 16;
            v16 sum = v16_zero();
            for (long j = 0; j < k; j++)
                sum = v16_fma(v16_set1(c->weights[m * k + j]), ld16_n(c->pairs + c->places[m * k + j] * n + i, lanes), sum);
            sum = v16_add(ld16_n(c->residual + m * c->residual_stride + i, lanes), sum);
            if (c->shared) sum = v16_fma(gate, ld16_n(c->shared + m * c->shared_stride + i, lanes), sum);
            st16_n(c->y + m * n + i, sum, lanes);
        }
    }
}

/* y [rows, n]. */
void iso_combine(const act_t *pairs, const float *weights, const int32_t *places, const act_t *shared, long shared_stride,
                 const act_t *shared_gate, long gate_stride, const act_t *residual, long residual_stride, act_t *y, long rows,
                 long n, long k, int threads) {
    const combine_t c = {pairs, shared, shared_gate, residual, weights, places, y, shared_stride, gate_stride, residual_stride, n, k};
    iso_each(combine, &c, rows, step_for(n * k), threads);
}
