/* Rows times one packed matrix: which tiles there are, in which order they are computed, and where sums go. */
#ifndef ISO_PANEL_H
#define ISO_PANEL_H

#include "tile.h"

enum { BLOCK_TILES = 16, BLOCK_STEPS = 1024, AHEAD = 4096 };

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

V16_INLINE void finish16(const product_t *p, long row, long column, const float *sums, long n) {
    v16 y = v16_load(sums);
    if (p->sums_out) {
        v16_store_n(p->sums_out + row * p->n + column, y, n);
        return;
    }
    if (p->residual) y = v16_add(ld16_n(p->residual + row * p->residual_stride + column, n), y);
    st16_n(p->y + row * p->n + column, y, n);
}

/* What is done with a row's finished sums of 64 columns, or of those that exist. */
static void finish(const product_t *p, long row, long column, const float *sums) {
    const long columns = p->n - column;
    if (columns >= PANEL)
        for (long j = 0; j < PANEL; j += 16) finish16(p, row, column + j, sums + j, 16);
    else
        for (long j = 0; j < columns; j += 16) finish16(p, row, column + j, sums + j, columns - j < 16 ? columns - j : 16);
}

/* What `count` tiles of one part of a panel fetch: the part that the thread reads next, evenly, so that it arrives while they
   compute. One tile that reads its part in one go fetches a little ahead of itself instead, and at the end of its part the
   beginning of the next. next: NULL when there is none. */
static prefetch_t fetch(const char *part, long steps, const char *next, long next_steps, long count, int vectors) {
    const char *end = part + steps * STEP;
    if (!next) next = end, next_steps = 0;
    prefetch_t ahead = {.period = 1, .lines = (vectors + count - 1) / count, .next = next, .end = next + next_steps * STEP};
    if (count == 1 && vectors == PANEL / 16) ahead.near = AHEAD, ahead.turn = end, ahead.jump = next - end;
    while (2 * ahead.period * vectors <= count && ahead.period < 16) ahead.period *= 2;
    return ahead;
}

/* One tile of rows [begin, begin + rows) over steps [from, to) of panel `panel` at w; all of K is done when to is its end. */
static void part_of_tile(const product_t *p, long panel, const char *w, long begin, long rows, long from, long to, float *sums,
                         prefetch_t *ahead) {
    const long steps = steps_of(p->k), whole = p->k / PAIR;
    tile_t call = {.panel = w, .from = from, .to = to < whole ? to : whole, .odd = to == steps && whole < steps, .sums = sums};
    if (!p->gather) call.x_stride = p->x_stride;
    for (long r = 0; r < rows; r++) call.x[r] = p->x + (p->gather ? p->gather[begin + r] : begin + r) * p->x_stride;
    tile(&call, rows, ahead);
    if (to == steps)
        for (long r = 0; r < rows; r++) finish(p, begin + r, panel * PANEL, sums + r * PANEL);
}

V16_INLINE const char *panel_at(const product_t *p, long panel) { return p->w + panel * steps_of(p->k) * STEP; }

/* Tiles [first, last) of panel `panel`; the thread reads what is at `after` next. K goes in parts that stay in the second-level cache while
   the rows pass by; sums rest in memory between parts, in float32, which is exact. */
static void panel_tiles(const product_t *p, long panel, long first, long last, const char *after) {
    const long steps = steps_of(p->k), tiles = tiles_of(p->rows);
    const char *w = panel_at(p, panel);
    float sums[BLOCK_TILES * MAX_ROWS * PANEL] __attribute__((aligned(64)));
    for (long block = first; block < last; block += BLOCK_TILES) {
        const long stop = block + BLOCK_TILES < last ? block + BLOCK_TILES : last, row0 = block * p->rows / tiles;
        for (long from = 0; from < steps; from += BLOCK_STEPS) {
            const long to = from + BLOCK_STEPS < steps ? from + BLOCK_STEPS : steps;
            const int vectors = together((block + 1) * p->rows / tiles - row0);
            const long next = to < steps ? to : 0, left = steps - next;
            prefetch_t ahead = fetch(w + from * STEP, to - from, to < steps || stop < last ? w + next * STEP : after,
                                     left < BLOCK_STEPS ? left : BLOCK_STEPS, stop - block, vectors);
            for (long t = block; t < stop; t++) {
                const long begin = t * p->rows / tiles, rows = (t + 1) * p->rows / tiles - begin;
                part_of_tile(p, panel, w, begin, rows, from, to, sums + (begin - row0) * PANEL, &ahead);
            }
        }
    }
}

/* A product in pieces: as many tiles of one panel as PIECE_TILES and PIECE_ROWS bytes of x allow, or whole panels that follow each
   other while their weights are few. Pieces that share rows follow each other: the rows stay in the second-level cache while
   panels pass by. */
#if ISO_BF16 && defined(__AMX_BF16__)
enum { PIECE_TILES = 2 * BLOCK_TILES, PIECE_ROWS = 3 << 19 };
#else
enum { PIECE_TILES = 8 * BLOCK_TILES, PIECE_ROWS = 1 << 30 };
#endif
enum { PIECE_BYTES = 1 << 17 };

V16_INLINE long groups_of(const product_t *p) {
    const long fit = PIECE_ROWS / (MAX_ROWS * (p->k + 1) * (long)sizeof(act_t)), tiles = fit < 1 ? 1 : fit < PIECE_TILES ? fit : PIECE_TILES;
    return (tiles_of(p->rows) + tiles - 1) / tiles;
}

/* Panels of a piece. */
V16_INLINE long run_of(const product_t *p) {
    const long bytes = steps_of(p->k) * STEP;
    return groups_of(p) > 1 || bytes >= PIECE_BYTES ? 1 : bytes > 0 ? PIECE_BYTES / bytes : PIECE_BYTES;
}

/* Pieces of one group. */
V16_INLINE long runs_of(const product_t *p) { return (panels_of(p->n) + run_of(p) - 1) / run_of(p); }

static long pieces_of(const product_t *p) { return groups_of(p) * runs_of(p); }

V16_INLINE long first_panel(const product_t *p, long index) { return index % runs_of(p) * run_of(p); }

/* Where the weights of piece `index` begin. */
V16_INLINE const char *piece_at(const product_t *p, long index) { return panel_at(p, first_panel(p, index)); }

/* Piece `index`. after: where the thread's next piece begins, NULL when there is none. */
static void piece(const product_t *p, long index, const char *after) {
    const long tiles = tiles_of(p->rows), groups = groups_of(p), group = index / runs_of(p);
    long panel = first_panel(p, index), last = panel + run_of(p);
    if (last > panels_of(p->n)) last = panels_of(p->n);
    for (; panel < last; panel++) {
        const char *following = panel + 1 < last ? panel_at(p, panel + 1) : after;
        panel_tiles(p, panel, group * tiles / groups, (group + 1) * tiles / groups, following);
    }
}

#endif
