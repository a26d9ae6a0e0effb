/* v16 as one zmm register. Included by vec.h. */
#include <immintrin.h>

typedef __m512 v16;
typedef __mmask16 m16;

V16_INLINE __mmask16 v16_lanes(long n) { return (__mmask16)((1u << n) - 1u); }

V16_INLINE __m256 v16_low(v16 x) { return _mm512_castps512_ps256(x); }
V16_INLINE __m256 v16_high(v16 x) { return _mm512_extractf32x8_ps(x, 1); }
V16_INLINE v16 v16_zero(void) { return _mm512_setzero_ps(); }
V16_INLINE v16 v16_set1(float x) { return _mm512_set1_ps(x); }
V16_INLINE v16 v16_load(const float *p) { return _mm512_loadu_ps(p); }
V16_INLINE void v16_store(float *p, v16 x) { _mm512_storeu_ps(p, x); }
V16_INLINE v16 v16_load_n(const float *p, long n) { return _mm512_maskz_loadu_ps(v16_lanes(n), p); }
V16_INLINE void v16_store_n(float *p, v16 x, long n) { _mm512_mask_storeu_ps(p, v16_lanes(n), x); }

V16_INLINE v16 v16_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
V16_INLINE v16 v16_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
V16_INLINE v16 v16_div(v16 a, v16 b) { return _mm512_div_ps(a, b); }
V16_INLINE v16 v16_sqrt(v16 a) { return _mm512_sqrt_ps(a); }
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
V16_INLINE v16 v16_max(v16 a, v16 b) { return _mm512_max_ps(a, b); }

V16_INLINE m16 v16_lt(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
V16_INLINE m16 v16_le(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
V16_INLINE m16 v16_eq(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
V16_INLINE m16 v16_isnan(v16 a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
/* The lanes i < n. */
V16_INLINE m16 m16_first(long n) { return v16_lanes(n); }
V16_INLINE m16 m16_and(m16 a, m16 b) { return (m16)(a & b); }
V16_INLINE m16 m16_or(m16 a, m16 b) { return (m16)(a | b); }
/* mask ? a : b in each lane. */
V16_INLINE v16 v16_select(m16 mask, v16 a, v16 b) { return _mm512_mask_blend_ps(mask, b, a); }

/* x * 2^n for integral n in [-126, 128]. */
V16_INLINE v16 v16_scale2(v16 x, v16 n) { return _mm512_scalef_ps(x, n); }

/* A positive normal x as 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)). */
V16_INLINE v16 v16_split(v16 x, v16 *exponent) {
    __m512i bits = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x3f3504f3));
    __m512i e = _mm512_srai_epi32(bits, 23);
    *exponent = _mm512_cvtepi32_ps(e);
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(e, 23)));
}

V16_INLINE v16 v16_from_bf16(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

/* To the nearest bfloat16, ties to even; a NaN stays one. */
V16_INLINE __m256i v16_to_bf16(v16 x) {
    __m512i bits = _mm512_castps_si512(x);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    rounded = _mm512_mask_or_epi32(rounded, v16_isnan(x), bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

V16_INLINE v16 v16_load_bf16(const uint16_t *p) { return v16_from_bf16(_mm256_loadu_si256((const __m256i *)p)); }
V16_INLINE void v16_store_bf16(uint16_t *p, v16 x) { _mm256_storeu_si256((__m256i *)p, v16_to_bf16(x)); }
V16_INLINE v16 v16_load_bf16_n(const uint16_t *p, long n) { return v16_from_bf16(_mm256_maskz_loadu_epi16(v16_lanes(n), p)); }
V16_INLINE void v16_store_bf16_n(uint16_t *p, v16 x, long n) { _mm256_mask_storeu_epi16(p, v16_lanes(n), v16_to_bf16(x)); }
