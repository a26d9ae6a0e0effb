/* Register tiles in float32: R rows by J vectors of 16 columns. Every output is one accumulator over the ascending index, so
   that R and J only say which accumulators are in registers at once. */
#ifndef ISO_DELTA_TILE_H
#define ISO_DELTA_TILE_H

#include "math.h"
#include "vec.h"

/* out[r][c] = scale[r] from[r][c] + sum_k a[r][k] b[k][c]; from is NULL for 0, scale is NULL for 1. Columns in whole vectors.
   scale_step is 0 where one factor serves all rows. */
typedef struct {
    const float *a, *b, *from, *scale;
    float *out;
    long a_stride, b_stride, from_stride, out_stride, scale_step;
} product_t;

/* What closes a tile's chains, in the lower triangular products of a chunk, whose row r starts at index first + r:
   SOLVE: out[r] also subtracts the rows of this tile before it, as they come out (a carries the minus sign);
   CAUSAL: out[r] also takes b[first + s] for s <= r. */
enum { FULL, SOLVE, CAUSAL };

#define UNROLL _Pragma("GCC unroll 8")

V16_INLINE void product_tile(const int R, const int J, const int kind, const product_t *p, long depth, long r0, long c) {
    const float *a = p->a + r0 * p->a_stride, *b = p->b + c;
    v16 acc[6][8]; /* not [R][J]: an array of variable size would live in memory */
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int j = 0; j < J; j++) {
            acc[r][j] = p->from ? v16_load(p->from + (r0 + r) * p->from_stride + c + 16 * j) : v16_zero();
            if (p->scale) acc[r][j] = v16_mul(v16_set1(p->scale[(r0 + r) * p->scale_step]), acc[r][j]);
        }
    }
    for (long k = 0; k < depth; k++) {
        v16 rows[8];
        UNROLL for (int j = 0; j < J; j++) rows[j] = v16_load(b + k * p->b_stride + 16 * j);
        UNROLL for (int r = 0; r < R; r++) {
            v16 factor = v16_set1(a[r * p->a_stride + k]);
            UNROLL for (int j = 0; j < J; j++) acc[r][j] = v16_fma(factor, rows[j], acc[r][j]);
        }
    }
    UNROLL for (int r = 0; r < R; r++) {
        UNROLL for (int s = 0; s < R; s++) {
            if (kind == FULL || s > r || (kind == SOLVE && s == r)) continue;
            v16 factor = v16_set1(a[r * p->a_stride + depth + s]);
            UNROLL for (int j = 0; j < J; j++) {
                v16 row = kind == SOLVE ? acc[s][j] : v16_load(b + (depth + s) * p->b_stride + 16 * j);
                acc[r][j] = v16_fma(factor, row, acc[r][j]);
            }
        }
        UNROLL for (int j = 0; j < J; j++) v16_store(p->out + (r0 + r) * p->out_stride + c + 16 * j, acc[r][j]);
    }
}

#define TILE(R, J) product_tile(R, J, kind, p, kind == FULL ? depth : depth + r, r, c), r += R
#if defined(__AVX512F__)
enum { WIDE = 4 };
#define ROW_TILES(J)                                                                                                        \
    for (long r = 0; r < rows;) {                                                                                           \
        if (rows - r >= 6) TILE(6, J);                                                                                      \
        else if (rows - r >= 4) TILE(4, J);                                                                                 \
        else if (rows - r >= 2) TILE(2, J);                                                                                 \
        else TILE(1, J);                                                                                                    \
    }
#else
enum { WIDE = 2 };
#define ROW_TILES(J)                                                                                                        \
    for (long r = 0; r < rows;) {                                                                                           \
        if (rows - r >= 2) TILE(2, J);                                                                                      \
        else TILE(1, J);                                                                                                    \
    }
#endif

/* FULL: `depth` indices for every row. SOLVE, CAUSAL: row r has depth + r before its tile closes it. */
V16_INLINE void product(const int kind, const product_t *p, long rows, long columns, long depth) {
    long c = 0;
#if defined(__AVX512F__) /* decode: k and q of one token pass over the state once, in the order of memory */
    if (kind == FULL && rows <= 2)
        for (; columns - c >= 128; c += 128) {
            if (rows == 2) product_tile(2, 8, kind, p, depth, 0, c);
            else product_tile(1, 8, kind, p, depth, 0, c);
        }
#endif
    for (; columns - c >= 16 * WIDE; c += 16 * WIDE) ROW_TILES(WIDE)
    for (; c < columns; c += 16) ROW_TILES(1)
}

#endif
