/* The register tile of attention: both q.k and p.v are sums over units (layout.h). */
#ifndef ISO_ATTENTION_TILE_H
#define ISO_ATTENTION_TILE_H

#include "layout.h"

/* sums[r][c] = scale[r] sums[r][c] + sum over `depth` steps of x[r][step] b[step][c], 16 J columns; a NULL scale starts from 0.
   odd: one step more, of which b has the lower half and x has 0 in the upper. */
typedef struct {
    const unit_t *x, *b;
    const float *scale;
    float *sums;
    long x_stride, b_stride, sums_stride, depth;
    int odd;
} sums_t;

#if ISO_BF16 && defined(__AMX_BF16__)
#include "tile_matrix.h"
#else
#include "tile_vector.h"
#endif

#endif
