/* A tile: R rows times 64 columns of a packed weight, every output one accumulator over ascending k.

   Packed weights. A panel holds 64 columns of W^T (64 rows of W), zeros beyond N. A step of a panel is 256 bytes, one vector of 64
   bytes for each 16 columns: float32, step k holds the columns' weights at k; bfloat16, step s holds for each column the pair
   k = 2s, 2s+1 (zero beyond an odd K). A row of x is read four bytes a step: one float32, or a pair of bfloat16.

   dot(acc, x, w) is the whole arithmetic: float32, acc = fma(x, w, acc); bfloat16 on AVX512_BF16, vdpbf16ps; bfloat16
   elsewhere, acc = fma(x1, w1, fma(x0, w0, acc)) in float32. R and the number of columns a call takes together change only which
   accumulators are in registers at once. On AMX a tile takes 16 steps at once, in an order of its own (tile_matrix.h). */
#ifndef ISO_TILE_H
#define ISO_TILE_H

#include "act.h"

enum { PANEL = 64, STEP = 256 };

#if ISO_BF16 && defined(__AVX512BF16__)
#if defined(__AMX_BF16__)
enum { PAIR = 2, MAX_ROWS = 16 };
#else
enum { PAIR = 2, MAX_ROWS = 6 };
#endif
typedef __m512bh w16;
typedef __m512bh x16;
V16_INLINE w16 w16_load(const char *p) { return (__m512bh)_mm512_loadu_si512(p); }
V16_INLINE x16 x16_set(uint32_t x) { return (__m512bh)_mm512_set1_epi32((int)x); }
V16_INLINE v16 dot(v16 acc, x16 x, w16 w) { return _mm512_dpbf16_ps(acc, x, w); }
#elif ISO_BF16
typedef struct {
    v16 even, odd;
} w16;
typedef w16 x16;
#if defined(__AVX512F__)
enum { PAIR = 2, MAX_ROWS = 5 };
V16_INLINE w16 w16_load(const char *p) {
    __m512i w = _mm512_loadu_si512(p);
    return (w16){_mm512_castsi512_ps(_mm512_slli_epi32(w, 16)),
                 _mm512_castsi512_ps(_mm512_and_si512(w, _mm512_set1_epi32((int)0xffff0000)))};
}
#elif defined(__AVX2__)
enum { PAIR = 2, MAX_ROWS = 4 };
V16_INLINE w16 w16_load(const char *p) {
    __m256i lo = _mm256_loadu_si256((const __m256i *)p), hi = _mm256_loadu_si256((const __m256i *)(p + 32));
    const __m256i mask = _mm256_set1_epi32((int)0xffff0000);
    return (w16){{_mm256_castsi256_ps(_mm256_slli_epi32(lo, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(hi, 16))},
                 {_mm256_castsi256_ps(_mm256_and_si256(lo, mask)), _mm256_castsi256_ps(_mm256_and_si256(hi, mask))}};
}
#else
enum { PAIR = 2, MAX_ROWS = 2 };
V16_INLINE w16 w16_load(const char *p) {
    v16_bits w;
    memcpy(&w, p, 64);
    return (w16){(v16)(w << 16), (v16)(w & 0xffff0000u)};
}
#endif
V16_INLINE float f32_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
V16_INLINE x16 x16_set(uint32_t x) { return (x16){v16_set1(f32_bits(x << 16)), v16_set1(f32_bits(x & 0xffff0000u))}; }
V16_INLINE v16 dot(v16 acc, x16 x, w16 w) { return v16_fma(x.odd, w.odd, v16_fma(x.even, w.even, acc)); }
#else
#if defined(__AVX2__) || defined(__aarch64__)
enum { PAIR = 1, MAX_ROWS = 6 };
#else
enum { PAIR = 1, MAX_ROWS = 2 };
#endif
typedef v16 w16;
typedef v16 x16;
V16_INLINE w16 w16_load(const char *p) { return v16_load((const float *)p); }
V16_INLINE x16 x16_set(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return v16_set1(x);
}
V16_INLINE v16 dot(v16 acc, x16 x, w16 w) { return v16_fma(x, w, acc); }
#endif

/* Memory that is wanted soon: `near` bytes further on in the panel, where what lies at `turn` and after it is `jump` bytes away; or,
   if `near` is 0, `lines` cache lines from `next` on in every step that is a multiple of `period` (a power of two), up to `end`,
   into the second-level cache. */
typedef struct {
    long near, jump, period, lines;
    const char *turn, *next, *end;
} prefetch_t;

/* One call: steps [from, to) of rows x[0..R), columns [16*column, 16*(column+J)); then, if `odd`, the last k of an odd K.
   x_stride: from a row to the next, 0 where rows lie anywhere. */
typedef struct {
    const act_t *x[MAX_ROWS > 6 ? MAX_ROWS : 6];
    const char *panel;
    long from, to, x_stride;
    int odd, column;
    float *sums; /* [R][64], read when from > 0, always written */
} tile_t;

V16_INLINE void prefetch(prefetch_t *ahead, const char *w, int vectors, long step) {
    if (ahead->near) {
        const char *wanted = w + ahead->near;
        if (wanted >= ahead->turn) wanted += ahead->jump;
        for (int j = 0; j < vectors; j++) __builtin_prefetch(wanted + 64 * j, 0, 3);
    } else if (!(step & (ahead->period - 1)))
        for (long i = 0; i < ahead->lines; i++, ahead->next += 64) __builtin_prefetch(ahead->next, 0, 2);
}

#if ISO_BF16 && defined(__AMX_BF16__)
#include "tile_matrix.h"
#else
#include "tile_vector.h"
#endif

#endif
