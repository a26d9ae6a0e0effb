/* Attention's tile in vector registers: R rows by J vectors of 16 columns. */
#ifndef ISO_ATTENTION_TILE_VECTOR_H
#define ISO_ATTENTION_TILE_VECTOR_H

/* The lower half of each pair: what a sum over an odd number of keys ends with. */
V16_INLINE w16 w16_load_lower(const unit_t *p) {
    unit_t lower[16];
    for (int i = 0; i < 16; i++) lower[i] = p[i] & 0xffff;
    return w16_load((const char *)lower);
}

#define UNROLL _Pragma("GCC unroll 8")

V16_INLINE void sums_tile(const int R, const int J, const sums_t *t, long r0, long c) {
    const unit_t *x = t->x + r0 * t->x_stride, *b = t->b + c;
    float *sums = t->sums + r0 * t->sums_stride + c;
    v16 acc[6][4]; /* not [R][J]: an array of variable size would live in memory */
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int j = 0; j < J; j++)
            acc[r][j] = t->scale ? v16_mul(v16_set1(t->scale[r0 + r]), v16_load(sums + r * t->sums_stride + 16 * j)) : v16_zero();
    }
    for (long step = 0; step < t->depth; step++) {
        w16 w[4];
        UNROLL for (int j = 0; j < J; j++) w[j] = w16_load((const char *)(b + step * t->b_stride + 16 * j));
        UNROLL for (int r = 0; r < R; r++) {
            x16 factor = x16_set(x[r * t->x_stride + step]);
            UNROLL for (int j = 0; j < J; j++) acc[r][j] = dot(acc[r][j], factor, w[j]);
        }
    }
    if (t->odd) {
        UNROLL for (int j = 0; j < J; j++) {
            w16 w = w16_load_lower(b + t->depth * t->b_stride + 16 * j);
            UNROLL for (int r = 0; r < R; r++) acc[r][j] = dot(acc[r][j], x16_set(x[r * t->x_stride + t->depth]), w);
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int j = 0; j < J; j++) v16_store(sums + r * t->sums_stride + 16 * j, acc[r][j]);
    }
}

#if defined(__AVX512BF16__) || (defined(__AVX512F__) && !ISO_BF16)
enum { WIDE = 4 };
#define ROW_TILES(J)                                                                                                        \
    for (long r = 0; r < rows;) {                                                                                           \
        if (rows - r >= 6) sums_tile(6, J, t, r, c), r += 6;                                                                \
        else if (rows - r >= 4) sums_tile(4, J, t, r, c), r += 4;                                                           \
        else if (rows - r >= 2) sums_tile(2, J, t, r, c), r += 2;                                                           \
        else sums_tile(1, J, t, r, c), r += 1;                                                                              \
    }
#else
enum { WIDE = 2 };
#define ROW_TILES(J)                                                                                                        \
    for (long r = 0; r < rows;) {                                                                                           \
        if (rows - r >= 2) sums_tile(2, J, t, r, c), r += 2;                                                                \
        else sums_tile(1, J, t, r, c), r += 1;                                                                              \
    }
#endif

/* `columns` in whole vectors. */
static void sums_of(const sums_t *t, long rows, long columns) {
    long c = 0;
    for (; columns - c >= 16 * WIDE; c += 16 * WIDE) ROW_TILES(WIDE)
    for (; c < columns; c += 16) ROW_TILES(1)
}

#endif
