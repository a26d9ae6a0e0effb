/* Lets test_vec.py call what vec.h and math.h define. */
#include "act.h"
#include "math.h"

#define PROBE(name, f)                                                                                                  \
    void name(const float *x, float *y, long n) {                                                                       \
        for (long i = 0; i < n; i += 16) v16_store_n(y + i, f(v16_load_n(x + i, n - i < 16 ? n - i : 16)), n - i < 16 ? n - i : 16); \
    }
PROBE(probe_exp, v16_exp)
PROBE(probe_log, v16_log)
PROBE(probe_log1p, v16_log1p)
PROBE(probe_softplus, v16_softplus)
PROBE(probe_sigmoid, v16_sigmoid)
PROBE(probe_silu, v16_silu)
PROBE(probe_sqrt, v16_sqrt)
PROBE(probe_round, v16_round)

void probe_scalar(const float *x, float *y, long n) {
    for (long i = 0; i < n; i++) y[i] = f1_softplus(x[i]);
}

void probe_store(const float *x, act_t *y, long n) {
    for (long i = 0; i < n; i += 16) st16_n(y + i, v16_load(x + i), n - i < 16 ? n - i : 16);
}

void probe_load(const act_t *x, float *y, long n) {
    for (long i = 0; i < n; i += 16) v16_store(y + i, ld16_n(x + i, n - i < 16 ? n - i : 16));
}

void probe_hsum(const float *x, float *y, long n) {
    (void)n;
    y[0] = v16_hsum(v16_load(x));
    y[1] = v16_hmax(v16_load(x));
}

void probe_choose(const float *x, float *y, long n) {
    v16 a = v16_load(x), b = v16_load(x + 16);
    v16_store(y, v16_max(a, b));
    v16_store(y + 16, v16_select(v16_lt(a, b), a, b));
    v16_store(y + 32, v16_select(m16_and(v16_le(a, b), m16_first(n)), a, b));
    v16_store(y + 48, v16_select(m16_or(v16_eq(a, b), v16_isnan(a)), v16_set1(1.0f), v16_zero()));
}
