/* FP8 values (e4m3) to the weights that they stand for: value times scale, rounded to bfloat16.

   fp8_pairs(out, q, scale): of 16 columns, a pair each, 32 bytes -> 64. fp8_singles: of 16 columns, one each, 16 bytes -> 64, the
   rounded weights as float32. scale: of each column.

   A value is 2^(e-7) (1 + m/8), or m 2^-9 for e = 0, which is 2^-6 (1 + m/8) - 2^-6; all bits set but the sign's are NaN. Rounding
   is to even. It keeps NaN, of which no scale has more than one (linear/packing.py). */
#ifndef ISO_FP8_VALUES_H
#define ISO_FP8_VALUES_H

#include "vec.h"

enum { ONE_BELOW = 120 << 23, STEP_UP = 1 << 23, SMALLEST = 121 << 23, NO_NUMBER = 0x7fc00000 };

#if defined(__AVX512F__)
typedef __m512i bits16;
V16_INLINE bits16 set32(int x) { return _mm512_set1_epi32(x); }
V16_INLINE bits16 set16(int x) { return _mm512_set1_epi16((short)x); }
V16_INLINE bits16 rounded(__m512 product) {
    const bits16 bits = _mm512_castps_si512(product), last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), set32(1));
    return _mm512_and_si512(_mm512_add_epi32(_mm512_add_epi32(bits, set32(0x7fff)), last), set32((int)0xffff0000));
}
/* 32 values as bfloat16, which holds each of them. */
V16_INLINE bits16 fp8_values(__m256i q) {
    const bits16 small = _mm512_broadcast_i32x4(_mm_setr_epi16(0, 0x3b00, 0x3b80, 0x3bc0, 0x3c00, 0x3c20, 0x3c40, 0x3c60)); /* m 2^-9 */
    const bits16 wide = _mm512_cvtepu8_epi16(q), magnitude = _mm512_and_si512(wide, set16(0x7f));
    bits16 value = _mm512_add_epi16(_mm512_slli_epi16(magnitude, 4), set16(ONE_BELOW >> 16));
    value = _mm512_mask_permutexvar_epi16(value, _mm512_cmplt_epu16_mask(magnitude, set16(8)), magnitude, small);
    value = _mm512_mask_mov_epi16(value, _mm512_cmpeq_epi16_mask(magnitude, set16(0x7f)), set16(NO_NUMBER >> 16));
    return _mm512_ternarylogic_epi32(value, _mm512_slli_epi16(wide, 8), set16(0x8000), 0xf8); /* value | wide << 8 & sign */
}
V16_INLINE void fp8_pairs(char *out, const uint8_t *q, v16 scale) {
    const bits16 values = fp8_values(_mm256_loadu_si256((const __m256i *)q));
    const __m512 even = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(values, 16)), scale);
    const __m512 odd = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_and_si512(values, set32((int)0xffff0000))), scale);
    _mm512_storeu_si512(out, _mm512_or_si512(_mm512_srli_epi32(rounded(even), 16), rounded(odd)));
}
V16_INLINE void fp8_singles(char *out, const uint8_t *q, v16 scale) {
    const bits16 values = fp8_values(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)q)));
    const __m512 wide = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(values)), 16));
    _mm512_storeu_si512(out, rounded(_mm512_mul_ps(wide, scale)));
}
#elif defined(__AVX2__)
typedef struct {
    __m256i lo, hi;
} bits16;
V16_INLINE bits16 bits16_of_bytes(const uint8_t *p) {
    return (bits16){_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)),
                    _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p + 8)))};
}
V16_INLINE bits16 bits16_of_pairs(const uint8_t *p) {
    return (bits16){_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)),
                    _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p + 16)))};
}
V16_INLINE bits16 bits16_low_byte(bits16 x) {
    const __m256i low = _mm256_set1_epi32(0xff);
    return (bits16){_mm256_and_si256(x.lo, low), _mm256_and_si256(x.hi, low)};
}
V16_INLINE bits16 bits16_high_byte(bits16 x) { return (bits16){_mm256_srli_epi32(x.lo, 8), _mm256_srli_epi32(x.hi, 8)}; }
V16_INLINE bits16 bits16_pair(bits16 even, bits16 odd) {
    return (bits16){_mm256_or_si256(_mm256_srli_epi32(even.lo, 16), odd.lo), _mm256_or_si256(_mm256_srli_epi32(even.hi, 16), odd.hi)};
}
V16_INLINE void bits16_store(char *p, bits16 x) {
    _mm256_storeu_si256((__m256i *)p, x.lo);
    _mm256_storeu_si256((__m256i *)(p + 32), x.hi);
}
V16_INLINE __m256i fp8_weights8(__m256i q, __m256 scale) {
    const __m256i magnitude = _mm256_and_si256(q, _mm256_set1_epi32(0x7f));
    const __m256i small = _mm256_cmpgt_epi32(_mm256_set1_epi32(8), magnitude);
    const __m256i nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f));
    __m256i one = _mm256_add_epi32(_mm256_slli_epi32(magnitude, 20), _mm256_set1_epi32(ONE_BELOW));
    one = _mm256_add_epi32(one, _mm256_and_si256(small, _mm256_set1_epi32(STEP_UP)));
    const __m256 below = _mm256_castsi256_ps(_mm256_and_si256(small, _mm256_set1_epi32(SMALLEST)));
    __m256i value = _mm256_castps_si256(_mm256_sub_ps(_mm256_castsi256_ps(one), below));
    value = _mm256_or_si256(value, _mm256_and_si256(nan, _mm256_set1_epi32(NO_NUMBER)));
    value = _mm256_or_si256(value, _mm256_slli_epi32(_mm256_and_si256(q, _mm256_set1_epi32(0x80)), 24));
    const __m256i product = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(value), scale));
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(product, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(product, _mm256_set1_epi32(0x7fff)), last);
    return _mm256_and_si256(up, _mm256_set1_epi32((int)0xffff0000));
}
V16_INLINE bits16 fp8_weights(bits16 q, v16 scale) {
    return (bits16){fp8_weights8(q.lo, scale.lo), fp8_weights8(q.hi, scale.hi)};
}
#else
typedef v16_bits bits16;
V16_INLINE bits16 bits16_of_bytes(const uint8_t *p) {
    bits16 x;
    for (int i = 0; i < 16; i++) x[i] = p[i];
    return x;
}
V16_INLINE bits16 bits16_of_pairs(const uint8_t *p) {
    bits16 x;
    for (int i = 0; i < 16; i++) x[i] = (uint32_t)p[2 * i] | (uint32_t)p[2 * i + 1] << 8;
    return x;
}
V16_INLINE bits16 bits16_low_byte(bits16 x) { return x & 0xff; }
V16_INLINE bits16 bits16_high_byte(bits16 x) { return x >> 8; }
V16_INLINE bits16 bits16_pair(bits16 even, bits16 odd) { return even >> 16 | odd; }
V16_INLINE void bits16_store(char *p, bits16 x) { memcpy(p, &x, 64); }
V16_INLINE bits16 fp8_weights(bits16 q, v16 scale) {
    const bits16 magnitude = q & 0x7f, small = (bits16)(magnitude < 8), nan = (bits16)(magnitude == 0x7f);
    const v16 one = (v16)((magnitude << 20) + ONE_BELOW + (small & STEP_UP));
    const bits16 value = (bits16)(one - (v16)(small & SMALLEST)) | (nan & NO_NUMBER);
    const bits16 product = (bits16)((v16)(value | (q & 0x80) << 24) * scale);
    return (product + 0x7fff + (product >> 16 & 1)) & 0xffff0000u;
}
#endif

#if !defined(__AVX512F__)
V16_INLINE void fp8_pairs(char *out, const uint8_t *q, v16 scale) {
    const bits16 pairs = bits16_of_pairs(q);
    bits16_store(out, bits16_pair(fp8_weights(bits16_low_byte(pairs), scale), fp8_weights(bits16_high_byte(pairs), scale)));
}
V16_INLINE void fp8_singles(char *out, const uint8_t *q, v16 scale) { bits16_store(out, fp8_weights(bits16_of_bytes(q), scale)); }
#endif

#endif
