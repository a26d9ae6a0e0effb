/* Sum of squares of one row, the shared part of every RMS norm: one v16 accumulator over ascending columns, then v16_hsum. */
#ifndef ISO_NORM_H
#define ISO_NORM_H

#include "act.h"
#include "math.h"

/* 1 / sqrt(mean(x^2) + eps) of `d` columns. */
V16_INLINE float inverse_rms(const act_t *x, long d, float eps) {
    v16 sum = v16_zero();
    long i = 0;
    for (; i + 16 <= d; i += 16) {
        v16 v = ld16(x + i);
        sum = v16_fma(v, v, sum);
    }
    if (i < d) {
        v16 v = ld16_n(x + i, d - i);
        sum = v16_fma(v, v, sum);
    }
    return 1.0f / f1_sqrt(v16_hsum(sum) / (float)d + eps);
}

#endif
