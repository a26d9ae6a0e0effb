/* Rows times one packed matrix: which tiles there are, in which order they are computed, and where sums go. */
#ifndef ISO_PANEL_H
#define ISO_PANEL_H

#include "tile.h"

enum { BLOCK_TILES = 16, BLOCK_STEPS = 512, AHEAD = 4096 };

/* M rows of x [., k] times W^T [k, n] into y [M, n] (rounded, `residual` added first if there is one) or into sums_out.
   Row i of x is x + (gather ? gather[i] : i) * x_stride. */
typedef struct {
    const act_t *x, *residual;
    const int32_t *gather;
    const char *w;
    act_t *y;
    float *sums_out;
    long x_stride, residual_stride, rows, n, k;
} product_t;

V16_INLINE long steps_of(long k) { return (k + PAIR - 1) / PAIR; }
V16_INLINE long panels_of(long n) { return (n + PANEL - 1) / PANEL; }
/* Tiles that `rows` rows make, of sizes that differ by at most one: tile t begins at row t * rows / tiles. */
V16_INLINE long tiles_of(long rows) { return (rows + MAX_ROWS - 1) / MAX_ROWS; }

static void finish(const product_t *p, long row, long column, const float *sums) {
    for (long j = column; j < column + PANEL && j < p->n; j += 16, sums += 16) {
        long n = p->n - j < 16 ? p->n - j : 16;
        v16 y = v16_load(sums);
        if (p->sums_out) {
            v16_store_n(p->sums_out + row * p->n + j, y, n);
        } else {
            if (p->residual) y = v16_add(ld16_n(p->residual + row * p->residual_stride + j, n), y);
            st16_n(p->y + row * p->n + j, y, n);
        }
    }
}

/* Tiles [first, last) of panel `panel`. K goes in blocks whose part of the panel stays in the second-level cache while the
   rows pass by; sums rest in memory between blocks, in float32, which is exact. Meanwhile what is multiplied next is fetched:
   the next panel, or with a single tile the same panel further on. */
static void panel_tiles(const product_t *p, long panel, long first, long last) {
    const long steps = steps_of(p->k), whole = p->k / PAIR, tiles = tiles_of(p->rows), panels = panels_of(p->n);
    float sums[BLOCK_TILES * MAX_ROWS * PANEL] __attribute__((aligned(64)));
    const char *w = p->w + panel * steps * STEP;
    const long count = last - first;
    prefetch_t ahead = {count == 1 ? AHEAD : 0, count < 4 ? 2 : 1, w + steps * STEP, panel + 1 < panels ? w + 2 * steps * STEP : 0};
    for (long block = first; block < last; block += BLOCK_TILES) {
        const long stop = block + BLOCK_TILES < last ? block + BLOCK_TILES : last, row0 = block * p->rows / tiles;
        for (long from = 0; from < steps; from += BLOCK_STEPS) {
            const int final = from + BLOCK_STEPS >= steps;
            for (long t = block; t < stop; t++) {
                const long begin = t * p->rows / tiles, rows = (t + 1) * p->rows / tiles - begin;
                tile_t call = {.panel = w, .from = from, .to = final ? whole : from + BLOCK_STEPS, .odd = final && whole < steps};
                for (long r = 0; r < rows; r++)
                    call.x[r] = p->x + (p->gather ? p->gather[begin + r] : begin + r) * p->x_stride;
                call.sums = sums + (begin - row0) * PANEL;
                tile(&call, rows, &ahead);
                for (long r = 0; final && r < rows; r++) finish(p, begin + r, panel * PANEL, call.sums + r * PANEL);
            }
        }
    }
}

/* Units [first, last) of the product; unit u is tile u % tiles of panel u / tiles. */
static void units(const product_t *p, long first, long last) {
    const long tiles = tiles_of(p->rows);
    while (first < last) {
        const long panel = first / tiles, begin = first % tiles;
        const long end = last - panel * tiles < tiles ? last - panel * tiles : tiles;
        panel_tiles(p, panel, begin, end);
        first = panel * tiles + end;
    }
}

#endif
