/* The tile in vector registers: R rows of J vectors of 16 columns at a time. */
#ifndef ISO_TILE_VECTOR_H
#define ISO_TILE_VECTOR_H

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

/* Nothing to set up. */
V16_INLINE void tiles_begin(void) {}
V16_INLINE void tiles_end(void) {}

#endif
