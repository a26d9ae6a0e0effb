/* Rows times one packed matrix of FP8 values with block scales: parts of a panel are dequantised into the layout of tile.h, and
   multiplied as any other weights are.

   Packed. A panel's values lie in the order of tile.h, one byte each: [panels][steps][64 columns][PAIR]. scales: [panels][blocks of
   128 k][64], each column its own. A weight is q * scale, rounded to bfloat16, in either activation type. */
#ifndef ISO_FP8_H
#define ISO_FP8_H

#include "fp8_values.h"
#include "panel.h"

enum { SCALED = 128, SCALED_STEPS = SCALED / PAIR, FP8_STEP = PANEL * PAIR, PART_STEPS = 4 * SCALED_STEPS };

/* p.w is not used. */
typedef struct {
    product_t p;
    const uint8_t *w;
    const float *scales;
} fp8_t;

/* Steps [from, to) of a panel, from a multiple of SCALED_STEPS on, into `part`, its beginning. w, scales: of the panel. */
static void fp8_part(const uint8_t *w, const float *scales, long from, long to, char *part) {
    for (long block = from; block < to; block += SCALED_STEPS) {
        const long end = block + SCALED_STEPS < to ? block + SCALED_STEPS : to;
        for (long j = 0; j < PANEL / 16; j++) {
            const v16 scale = v16_load(scales + block / SCALED_STEPS * PANEL + 16 * j);
            const uint8_t *q = w + block * FP8_STEP + 16 * PAIR * j;
            char *out = part + (block - from) * STEP + 64 * j;
            for (long s = block; s < end; s++, q += FP8_STEP, out += STEP) {
#if ISO_BF16
                fp8_pairs(out, q, scale);
#else
                fp8_singles(out, q, scale);
#endif
            }
        }
    }
}

V16_INLINE long scale_blocks(long k) { return (k + SCALED - 1) / SCALED; }

/* Tiles [first, last) of panel `panel`, in parts of PART_STEPS that a core's own caches hold. */
static void fp8_tiles(const fp8_t *f, long panel, long first, long last) {
    const product_t *p = &f->p;
    const long steps = steps_of(p->k), tiles = tiles_of(p->rows);
    const uint8_t *w = f->w + panel * steps * FP8_STEP;
    const float *scales = f->scales + panel * scale_blocks(p->k) * PANEL;
    char part[PART_STEPS * STEP] __attribute__((aligned(64)));
    float sums[BLOCK_TILES * MAX_ROWS * PANEL] __attribute__((aligned(64)));
    for (long block = first; block < last; block += BLOCK_TILES) {
        const long stop = block + BLOCK_TILES < last ? block + BLOCK_TILES : last, row0 = block * p->rows / tiles;
        for (long from = 0; from < steps; from += PART_STEPS) {
            const long to = from + PART_STEPS < steps ? from + PART_STEPS : steps;
            prefetch_t nothing = {.period = 1};
            fp8_part(w, scales, from, to, part);
            for (long t = block; t < stop; t++) {
                const long begin = t * p->rows / tiles, rows = (t + 1) * p->rows / tiles - begin;
                /* A tile looks for step `from` at from * STEP. */
                const char *beginning = (const char *)((uintptr_t)part - (uintptr_t)(from * STEP));
                part_of_tile(p, panel, beginning, begin, rows, from, to, sums + (begin - row0) * PANEL, &nothing);
            }
        }
    }
}

/* Pieces: BLOCK_TILES tiles of one panel, so that few rows dequantise a panel once. */
V16_INLINE long fp8_groups(const product_t *p) { return (tiles_of(p->rows) + BLOCK_TILES - 1) / BLOCK_TILES; }
V16_INLINE long fp8_pieces(const product_t *p) { return fp8_groups(p) * panels_of(p->n); }

static void fp8_piece(const fp8_t *f, long index) {
    const long tiles = tiles_of(f->p.rows), groups = fp8_groups(&f->p), group = index % groups;
    fp8_tiles(f, index / groups, group * tiles / groups, (group + 1) * tiles / groups);
}

#endif
