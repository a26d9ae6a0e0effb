/* A tile: R rows times 64 columns of a packed weight, every output one accumulator over ascending k.

   Packed weights. A panel holds 64 columns of W^T (64 rows of W), zeros beyond N. A step of a panel is 256 bytes, one vector of 64
   bytes for each 16 columns: float32, step k holds the columns' weights at k; bfloat16, step s holds for each column the pair
   k = 2s, 2s+1 (zero beyond an odd K). A row of x is read four bytes a step: one float32, or a pair of bfloat16.

   dot(acc, x, w) is the whole arithmetic: float32, acc = fma(x, w, acc); bfloat16 on AVX512_BF16, vdpbf16ps; bfloat16
   elsewhere, acc = fma(x1, w1, fma(x0, w0, acc)) in float32. R and the number of columns a call takes together change only which
   accumulators are in registers at once. */
#ifndef ISO_TILE_H
#define ISO_TILE_H

#include "act.h"

enum { PANEL = 64, STEP = 256 };

#if ISO_BF16 && defined(__AVX512BF16__)
enum { PAIR = 2, MAX_ROWS = 6 };
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

/* One call: steps [from, to) of rows x[0..R), columns [16*column, 16*(column+J)); then, if `odd`, the last k of an odd K. */
typedef struct {
    const act_t *x[6];
    const char *panel;
    long from, to;
    int odd, column;
    float *sums; /* [R][64], read when from > 0, always written */
} tile_t;

V16_INLINE uint32_t x_unit(const act_t *x, long step) {
    uint32_t bits;
    memcpy(&bits, x + PAIR * step, 4);
    return bits;
}

V16_INLINE uint32_t x_last(const act_t *x, long step) {
#if ISO_BF16
    return x[PAIR * step];
#else
    return x_unit(x, step);
#endif
}

V16_INLINE void prefetch(prefetch_t *ahead, const char *w, int vectors, long step) {
    if (ahead->near) {
        const char *wanted = w + ahead->near;
        if (wanted >= ahead->turn) wanted += ahead->jump;
        for (int j = 0; j < vectors; j++) __builtin_prefetch(wanted + 64 * j, 0, 3);
    } else if (!(step & (ahead->period - 1)))
        for (long i = 0; i < ahead->lines; i++, ahead->next += 64) __builtin_prefetch(ahead->next, 0, 2);
}

#define DEFINE_TILE(R, J)                                                                                               \
    static void tile_##R(const tile_t *t, prefetch_t *ahead) {                                                          \
        const act_t *x[R];                                                                                              \
        v16 acc[R][J];                                                                                                  \
        prefetch_t soon = *ahead;                                                                                       \
        float *sums = t->sums + 16 * t->column;                                                                         \
        for (int r = 0; r < R; r++) x[r] = t->x[r];                                                                     \
        for (int r = 0; r < R; r++)                                                                                     \
            for (int j = 0; j < J; j++) acc[r][j] = t->from ? v16_load(sums + r * PANEL + 16 * j) : v16_zero();         \
        const char *w = t->panel + t->from * STEP + 64 * t->column;                                                     \
        long s = t->from;                                                                                               \
        for (; s < t->to && (soon.near || soon.next < soon.end); s++, w += STEP) {                                      \
            prefetch(&soon, w, J, s);                                                                                   \
            TILE_STEP(R, J, x_unit)                                                                                     \
        }                                                                                                               \
        for (; s < t->to; s++, w += STEP) TILE_STEP(R, J, x_unit)                                                       \
        if (t->odd) TILE_STEP(R, J, x_last)                                                                             \
        for (int r = 0; r < R; r++)                                                                                     \
            for (int j = 0; j < J; j++) v16_store(sums + r * PANEL + 16 * j, acc[r][j]);                                \
        *ahead = soon;                                                                                                  \
    }

#define TILE_STEP(R, J, UNIT)                                                                                           \
    {                                                                                                                   \
        w16 b[J];                                                                                                       \
        _Pragma("GCC unroll 8") for (int j = 0; j < J; j++) b[j] = w16_load(w + 64 * j);                                \
        _Pragma("GCC unroll 8") for (int r = 0; r < R; r++) {                                                           \
            x16 a = x16_set(UNIT(x[r], s));                                                                             \
            _Pragma("GCC unroll 8") for (int j = 0; j < J; j++) acc[r][j] = dot(acc[r][j], a, b[j]);                    \
        }                                                                                                               \
    }

/* Columns that a call takes together, in vectors, so that R*J accumulators fit the registers. */
#if defined(__AVX512F__)
enum { J_1 = 4, J_2 = 4, J_MANY = 4 };
#elif defined(__AVX2__) && !ISO_BF16
enum { J_1 = 4, J_2 = 2, J_MANY = 1 };
#elif defined(__AVX2__)
enum { J_1 = 2, J_2 = 1, J_MANY = 1 };
#else
enum { J_1 = 1, J_2 = 1, J_MANY = 1 };
#endif

DEFINE_TILE(1, J_1)
DEFINE_TILE(2, J_2)
DEFINE_TILE(3, J_MANY)
DEFINE_TILE(4, J_MANY)
DEFINE_TILE(5, J_MANY)
DEFINE_TILE(6, J_MANY)

V16_INLINE int together(long rows) { return rows == 1 ? J_1 : rows == 2 ? J_2 : J_MANY; }

/* All 64 columns of `rows` rows, 1 <= rows <= MAX_ROWS. */
V16_INLINE void tile(tile_t *t, long rows, prefetch_t *ahead) {
    for (t->column = 0; t->column < PANEL / 16; t->column += together(rows)) switch (rows) {
            case 1: tile_1(t, ahead); break;
            case 2: tile_2(t, ahead); break;
            case 3: tile_3(t, ahead); break;
            case 4: tile_4(t, ahead); break;
            case 5: tile_5(t, ahead); break;
            default: tile_6(t, ahead);
        }
}

#endif
