/* Elementary functions on v16, ours, so that a lane's bits do not depend on a libm, on its place or on a scalar tail.

   Polynomials are least-maximum-error fits in float64, rounded. Scalar forms take lane 0 of the vector form. */
#ifndef ISO_MATH_H
#define ISO_MATH_H

#include "vec.h"

/* e^x within 2 ulp; 0 below -87.33 (where the result would be subnormal) and at -inf, inf above 88.72, NaN of NaN. */
V16_INLINE v16 v16_exp(v16 x) {
    const v16 low = v16_set1(-87.33f), high = v16_set1(89.0f); /* e^89 overflows to inf by itself */
    v16 bounded = v16_select(v16_lt(high, x), high, x);
    v16 n = v16_max(v16_round(v16_mul(bounded, v16_set1(1.44269504f))), v16_set1(-126.0f));
    v16 r = v16_fma(n, v16_set1(-0.693359375f), bounded);
    r = v16_fma(n, v16_set1(2.12194440e-4f), r);
    v16 p = v16_fma(r, v16_set1(1.3814540041e-03f), v16_set1(8.3687451298e-03f));
    p = v16_fma(p, r, v16_set1(4.1668390788e-02f));
    p = v16_fma(p, r, v16_set1(1.6666520399e-01f));
    p = v16_fma(p, r, v16_set1(4.9999993432e-01f));
    p = v16_add(v16_fma(p, v16_mul(r, r), r), v16_set1(1.0f));
    return v16_select(v16_lt(x, low), v16_zero(), v16_scale2(p, n));
}

/* ln x within 2 ulp; -inf at 0 and below the smallest normal, NaN below 0, inf at inf. */
V16_INLINE v16 v16_log(v16 x) {
    v16 e, f = v16_sub(v16_split(x, &e), v16_set1(1.0f)), f2 = v16_mul(f, f);
    v16 p = v16_fma(f, v16_set1(-7.6344983800e-02f), v16_set1(1.2761578509e-01f));
    p = v16_fma(p, f, v16_set1(-1.3160182392e-01f));
    p = v16_fma(p, f, v16_set1(1.4201757804e-01f));
    p = v16_fma(p, f, v16_set1(-1.6623357326e-01f));
    p = v16_fma(p, f, v16_set1(2.0001226884e-01f));
    p = v16_fma(p, f, v16_set1(-2.5000821035e-01f));
    p = v16_fma(p, f, v16_set1(3.3333331708e-01f));
    p = v16_fma(v16_mul(p, f), f2, v16_mul(e, v16_set1(-2.12194440e-4f)));
    p = v16_add(f, v16_fma(f2, v16_set1(-0.5f), p));
    p = v16_fma(e, v16_set1(0.693359375f), p);
    const v16 inf = v16_set1(__builtin_inff());
    p = v16_select(v16_eq(x, inf), inf, p);
    p = v16_select(v16_lt(x, v16_set1(1.17549435e-38f)), v16_neg(inf), p);
    p = v16_select(v16_lt(x, v16_zero()), v16_set1(__builtin_nanf("")), p);
    return v16_select(v16_isnan(x), x, p);
}

/* ln(1 + x) for x >= 0: the logarithm of the rounded sum u, plus what the rounding lost, (x - (u - 1)) / u. */
V16_INLINE v16 v16_log1p(v16 x) {
    const v16 one = v16_set1(1.0f), inf = v16_set1(__builtin_inff());
    v16 u = v16_add(one, x);
    v16 lost = v16_div(v16_sub(x, v16_sub(u, one)), u);
    return v16_select(v16_eq(x, inf), inf, v16_add(v16_log(u), lost));
}

/* ln(1 + e^x) = max(x, 0) + log1p(e^-|x|). */
V16_INLINE v16 v16_softplus(v16 x) {
    v16 magnitude = v16_max(x, v16_neg(x));
    return v16_add(v16_max(x, v16_zero()), v16_log1p(v16_exp(v16_neg(magnitude))));
}

/* 1 / (1 + e^-x). */
V16_INLINE v16 v16_sigmoid(v16 x) {
    const v16 one = v16_set1(1.0f);
    return v16_div(one, v16_add(one, v16_exp(v16_neg(x))));
}

/* x / (1 + e^-x). */
V16_INLINE v16 v16_silu(v16 x) { return v16_div(x, v16_add(v16_set1(1.0f), v16_exp(v16_neg(x)))); }

V16_INLINE float f1_exp(float x) { return v16_first(v16_exp(v16_set1(x))); }
V16_INLINE float f1_log(float x) { return v16_first(v16_log(v16_set1(x))); }
V16_INLINE float f1_softplus(float x) { return v16_first(v16_softplus(v16_set1(x))); }
V16_INLINE float f1_sigmoid(float x) { return v16_first(v16_sigmoid(v16_set1(x))); }
V16_INLINE float f1_sqrt(float x) { return v16_first(v16_sqrt(v16_set1(x))); }
/* a * b + c as v16_fma does it. */
V16_INLINE float f1_fma(float a, float b, float c) { return v16_first(v16_fma(v16_set1(a), v16_set1(b), v16_set1(c))); }

#endif
