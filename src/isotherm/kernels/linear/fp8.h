/* Rows times one packed matrix of FP8 values with block scales: parts of a panel are dequantised into the layout of tile.h, and
   multiplied as any other weights are.

   Packed. A panel's values lie in the order of tile.h, one byte each: [panels][steps][64 columns][PAIR]. scales: [panels][blocks of
   128 k][64], each column its own. A weight is q * scale, rounded to bfloat16, in either activation type. */
#ifndef ISO_FP8_H
#define ISO_FP8_H

#include "panel.h"

enum { SCALED = 128, SCALED_STEPS = SCALED / PAIR, FP8_STEP = PANEL * PAIR, PART_STEPS = 4 * SCALED_STEPS };

/* p.w is not used. */
typedef struct {
    product_t p;
    const uint8_t *w;
    const float *scales;
} fp8_t;

typedef uint8_t bytes_t __attribute__((vector_size(16)));
typedef uint32_t bits_t __attribute__((vector_size(64)));
typedef float floats_t __attribute__((vector_size(64)));

/* The weights, rounded to bfloat16 and as bits of float32, of 16 FP8 values (in the low bytes) and their scales.

   A value is 2^(e-7) (1 + m/8), or m 2^-9 for e = 0, which is 2^-6 (1 + m/8) - 2^-6; all bits set but the sign's are NaN. */
V16_INLINE bits_t fp8_weights(bits_t q, floats_t scale) {
    const bits_t magnitude = q & 0x7f, small = (bits_t)(magnitude < 8);
    const floats_t one = (floats_t)((magnitude << 20) + (120u << 23) + (small & (1u << 23)));
    const floats_t value = one - (floats_t)(small & (121u << 23));
    const floats_t product = (floats_t)((bits_t)value | (q & 0x80) << 24) * scale;
    const bits_t bits = (bits_t)product, nan = (bits_t)(product != product) | (bits_t)(magnitude == 0x7f);
    const bits_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    return (rounded & ~nan) | (nan & 0x7fc00000u);
}

/* Steps [from, to) of a panel, from a multiple of SCALED_STEPS on, into `part`, its beginning. w, scales: of the panel. */
static void fp8_part(const uint8_t *w, const float *scales, long from, long to, char *part) {
    for (long s = from; s < to; s++, part += STEP) {
        const uint8_t *step = w + s * FP8_STEP;
        const float *of_columns = scales + s / SCALED_STEPS * PANEL;
        for (long j = 0; j < PANEL / 16; j++) {
            floats_t scale;
            memcpy(&scale, of_columns + 16 * j, 64);
#if ISO_BF16
            uint16_t pairs __attribute__((vector_size(32)));
            memcpy(&pairs, step + 32 * j, 32);
            const bits_t q = __builtin_convertvector(pairs, bits_t);
            const bits_t weights = fp8_weights(q & 0xff, scale) >> 16 | fp8_weights(q >> 8, scale);
#else
            bytes_t bytes;
            memcpy(&bytes, step + 16 * j, 16);
            const bits_t weights = fp8_weights(__builtin_convertvector(bytes, bits_t), scale);
#endif
            memcpy(part + 64 * j, &weights, 64);
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
