/* v16 as two ymm registers. Included by vec.h. */
#include <immintrin.h>

typedef struct {
    __m256 lo, hi;
} v16;
typedef v16 m16;

#define V16_BOTH(f, a) ((v16){f((a).lo), f((a).hi)})
#define V16_PAIR(f, a, b) ((v16){f((a).lo, (b).lo), f((a).hi, (b).hi)})

V16_INLINE __m256i v16_half_lanes(long n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

V16_INLINE __m256 v16_low(v16 x) { return x.lo; }
V16_INLINE __m256 v16_high(v16 x) { return x.hi; }
V16_INLINE v16 v16_zero(void) { return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
V16_INLINE v16 v16_set1(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
V16_INLINE v16 v16_load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
V16_INLINE void v16_store(float *p, v16 x) {
    _mm256_storeu_ps(p, x.lo);
    _mm256_storeu_ps(p + 8, x.hi);
}
V16_INLINE v16 v16_load_n(const float *p, long n) {
    return (v16){_mm256_maskload_ps(p, v16_half_lanes(n)), _mm256_maskload_ps(p + 8, v16_half_lanes(n - 8))};
}
V16_INLINE void v16_store_n(float *p, v16 x, long n) {
    _mm256_maskstore_ps(p, v16_half_lanes(n), x.lo);
    _mm256_maskstore_ps(p + 8, v16_half_lanes(n - 8), x.hi);
}

V16_INLINE v16 v16_add(v16 a, v16 b) { return V16_PAIR(_mm256_add_ps, a, b); }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return V16_PAIR(_mm256_sub_ps, a, b); }
V16_INLINE v16 v16_mul(v16 a, v16 b) { return V16_PAIR(_mm256_mul_ps, a, b); }
V16_INLINE v16 v16_div(v16 a, v16 b) { return V16_PAIR(_mm256_div_ps, a, b); }
V16_INLINE v16 v16_sqrt(v16 a) { return V16_BOTH(_mm256_sqrt_ps, a); }
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) {
    return (v16){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
V16_INLINE v16 v16_max(v16 a, v16 b) { return V16_PAIR(_mm256_max_ps, a, b); }

#define V16_COMPARE(a, b, how) ((v16){_mm256_cmp_ps((a).lo, (b).lo, how), _mm256_cmp_ps((a).hi, (b).hi, how)})
V16_INLINE m16 v16_lt(v16 a, v16 b) { return V16_COMPARE(a, b, _CMP_LT_OQ); }
V16_INLINE m16 v16_le(v16 a, v16 b) { return V16_COMPARE(a, b, _CMP_LE_OQ); }
V16_INLINE m16 v16_eq(v16 a, v16 b) { return V16_COMPARE(a, b, _CMP_EQ_OQ); }
V16_INLINE m16 v16_isnan(v16 a) { return V16_COMPARE(a, a, _CMP_UNORD_Q); }
/* The lanes i < n. */
V16_INLINE m16 m16_first(long n) {
    return (m16){_mm256_castsi256_ps(v16_half_lanes(n)), _mm256_castsi256_ps(v16_half_lanes(n - 8))};
}
V16_INLINE m16 m16_and(m16 a, m16 b) { return V16_PAIR(_mm256_and_ps, a, b); }
V16_INLINE m16 m16_or(m16 a, m16 b) { return V16_PAIR(_mm256_or_ps, a, b); }
/* mask ? a : b in each lane. */
V16_INLINE v16 v16_select(m16 mask, v16 a, v16 b) {
    return (v16){_mm256_blendv_ps(b.lo, a.lo, mask.lo), _mm256_blendv_ps(b.hi, a.hi, mask.hi)};
}

V16_INLINE __m256 v16_half_power2(__m256 n) {
    __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}

/* 2^n for integral n in [-126, 127]. */
V16_INLINE v16 v16_power2(v16 n) { return V16_BOTH(v16_half_power2, n); }

/* x * 2^n for integral n in [-126, 128], in two steps, since 2^128 is no float32. */
V16_INLINE v16 v16_scale2(v16 x, v16 n) {
    const v16 magic = v16_set1(12582912.0f);
    v16 half = v16_sub(v16_add(v16_mul(n, v16_set1(0.5f)), magic), magic);
    return v16_mul(v16_mul(x, v16_power2(half)), v16_power2(v16_sub(n, half)));
}

V16_INLINE __m256 v16_half_split(__m256 x, __m256 *exponent) {
    __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(0x3f3504f3));
    __m256i e = _mm256_srai_epi32(bits, 23);
    *exponent = _mm256_cvtepi32_ps(e);
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(e, 23)));
}

/* A positive normal x as 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)). */
V16_INLINE v16 v16_split(v16 x, v16 *exponent) {
    return (v16){v16_half_split(x.lo, &exponent->lo), v16_half_split(x.hi, &exponent->hi)};
}

V16_INLINE v16 v16_from_bf16(__m256i x) {
    __m256i lo = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(x));
    __m256i hi = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1));
    return (v16){_mm256_castsi256_ps(_mm256_slli_epi32(lo, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(hi, 16))};
}

V16_INLINE __m256i v16_half_to_bf16(__m256 x) {
    __m256i bits = _mm256_castps_si256(x);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256i isnan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, isnan), 16);
}

/* To the nearest bfloat16, ties to even; a NaN stays one. */
V16_INLINE __m256i v16_to_bf16(v16 x) {
    __m256i packed = _mm256_packus_epi32(v16_half_to_bf16(x.lo), v16_half_to_bf16(x.hi));
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

V16_INLINE v16 v16_load_bf16(const uint16_t *p) { return v16_from_bf16(_mm256_loadu_si256((const __m256i *)p)); }
V16_INLINE void v16_store_bf16(uint16_t *p, v16 x) { _mm256_storeu_si256((__m256i *)p, v16_to_bf16(x)); }
V16_INLINE v16 v16_load_bf16_n(const uint16_t *p, long n) {
    uint16_t lanes[16] = {0};
    memcpy(lanes, p, (size_t)n * 2);
    return v16_load_bf16(lanes);
}
V16_INLINE void v16_store_bf16_n(uint16_t *p, v16 x, long n) {
    uint16_t lanes[16];
    v16_store_bf16(lanes, x);
    memcpy(p, lanes, (size_t)n * 2);
}
