/* One vector type for every C kernel: v16, sixteen float32 lanes, and m16, a choice for each lane.

   AVX-512: one zmm. AVX2 with FMA: two ymm. Elsewhere: a GCC vector, which the compiler splits as the processor needs.
   A lane never sees another lane except in v16_hsum and v16_hmax, whose trees are stated below, so a result does not depend
   on where in the vector (or in which vector) an element lies. Scalar code must use the lane forms of math.h, never libm.

   v16_fma(a, b, c) = a * b + c, rounded once where the processor has FMA. Plain x86-64 has none: two roundings, another build.
   v16_max(a, b) is a > b ? a : b in each lane; a NaN on either side gives b.
   *_n forms touch n elements only, 0 <= n <= 16; a load fills the other lanes with 0. */
#ifndef ISO_VEC_H
#define ISO_VEC_H

#include <stdint.h>
#include <string.h>

#define V16_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "vec_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "vec_avx2.h"
#else
#include "vec_plain.h"
#endif

/* Nearest integer, ties to even; exact for |x| < 2^22. */
V16_INLINE v16 v16_round(v16 x) {
    const v16 magic = v16_set1(12582912.0f);
    return v16_sub(v16_add(x, magic), magic);
}

V16_INLINE v16 v16_neg(v16 x) { return v16_sub(v16_set1(-0.0f), x); }

V16_INLINE float v16_first(v16 x) {
    float lanes[16] __attribute__((aligned(64)));
    v16_store(lanes, x);
    return lanes[0];
}

/* Sum of the lanes as the tree s8[i] = x[i] + x[i+8], s4[i] = s8[i] + s8[i+4], s2[i] = s4[i] + s4[i+2], s2[0] + s2[1];
   largest lane by the same tree, meaningless when a lane is NaN. */
#if defined(__AVX2__) && defined(__FMA__)
#define V16_TREE(op, x)                                                                                                     \
    __m256 s8 = _mm256_##op##_ps(v16_low(x), v16_high(x));                                                                  \
    __m128 s4 = _mm_##op##_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));                                    \
    __m128 s2 = _mm_##op##_ps(s4, _mm_movehl_ps(s4, s4));                                                                   \
    return _mm_cvtss_f32(_mm_##op##_ss(s2, _mm_movehdup_ps(s2)));
V16_INLINE float v16_hsum(v16 x) { V16_TREE(add, x) }
V16_INLINE float v16_hmax(v16 x) { V16_TREE(max, x) }
#else
V16_INLINE float v16_hsum(v16 x) {
    float s[16] __attribute__((aligned(64)));
    v16_store(s, x);
    for (int width = 8; width; width /= 2)
        for (int i = 0; i < width; i++) s[i] = s[i] + s[i + width];
    return s[0];
}
V16_INLINE float v16_hmax(v16 x) {
    float s[16] __attribute__((aligned(64)));
    v16_store(s, x);
    for (int width = 8; width; width /= 2)
        for (int i = 0; i < width; i++) s[i] = s[i] > s[i + width] ? s[i] : s[i + width];
    return s[0];
}
#endif

#endif
