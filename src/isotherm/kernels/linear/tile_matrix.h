/* The tile in AMX's matrix registers: up to 16 rows, all 64 columns, 16 steps (32 of k) an instruction.

   tdpbf16ps adds to each sum, over its 16 steps, e + o, where e is one chain of fused multiply-adds from 0 over the lower halves
   of the pairs in ascending order, and o the same over the upper halves. Subnormals are zero. A row meets no other row, so sums do
   not depend on how many rows a tile has. The last steps of a sum are filled up to 16 with zeros.

   One or two rows wait for memory, not for multiplications, and are faster in vector registers, by the same chains; pool.c has set
   the processor to take subnormals for zero there too. (Seen equal to tdpbf16ps in 102 million sums, subnormal and infinite ones too.)

   Matrix registers: 0 to 3 hold sums of 16 columns each, 4 the rows of x, 5 to 7 weights. */
#ifndef ISO_TILE_MATRIX_H
#define ISO_TILE_MATRIX_H

enum { GROUP = 16 }; /* steps an instruction */

#define UNROLL _Pragma("GCC unroll 8")

/* What ldtilecfg reads. */
typedef struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} matrix_shapes_t;

/* What was stored is in memory: GCC's tile loads do not say that they read it. */
V16_INLINE void matrix_fence(void) { __asm__ volatile("" : : : "memory"); }

/* Rows that this thread's registers are set up for; 0: they are not. */
static _Thread_local long matrix_rows;

/* Sums and x of `rows` rows; sums that the registers hold are lost when that is another number than before. */
V16_INLINE void matrix_shape(long rows) {
    if (rows == matrix_rows) return;
    matrix_shapes_t shapes = {.palette = 1};
    for (int i = 0; i < 8; i++) shapes.row_bytes[i] = 64, shapes.rows[i] = i < 5 ? (uint8_t)rows : GROUP;
    matrix_fence();
    _tile_loadconfig(&shapes);
    matrix_rows = rows;
}

/* Around the work that a thread does in one call: others use the registers too. */
V16_INLINE void tiles_begin(void) { matrix_rows = 0; }
V16_INLINE void tiles_end(void) {
    if (matrix_rows) _tile_release();
}

/* Sums of 16 J columns from zeros or from memory, and back. Strides in bytes. */
V16_INLINE void matrix_zero(int J) {
    _tile_zero(0);
    if (J > 1) _tile_zero(1);
    if (J > 2) _tile_zero(2);
    if (J > 3) _tile_zero(3);
}

V16_INLINE void matrix_load(const float *sums, long stride, int J) {
    matrix_fence();
    _tile_loadd(0, sums, stride);
    if (J > 1) _tile_loadd(1, sums + 16, stride);
    if (J > 2) _tile_loadd(2, sums + 32, stride);
    if (J > 3) _tile_loadd(3, sums + 48, stride);
}

V16_INLINE void matrix_store(float *sums, long stride, int J) {
    _tile_stored(0, sums, stride);
    if (J > 1) _tile_stored(1, sums + 16, stride);
    if (J > 2) _tile_stored(2, sums + 32, stride);
    if (J > 3) _tile_stored(3, sums + 48, stride);
}

/* Four of 16 steps' weights that are wanted soon; ahead may be NULL. */
V16_INLINE void matrix_fetch(prefetch_t *ahead, const char *w, long w_stride, long step, long first) {
    if (ahead)
        for (long s = first; s < first + 4; s++) prefetch(ahead, w + s * w_stride, 4, step + s);
}

/* 16 steps: x and w from memory, strides in bytes. ahead: NULL, or what is fetched meanwhile. */
V16_INLINE void matrix_steps(const void *x, long x_stride, const char *w, long w_stride, int J, prefetch_t *ahead, long step) {
    matrix_fence();
    _tile_loadd(4, x, x_stride);
    matrix_fetch(ahead, w, w_stride, step, 0);
    _tile_loadd(5, w, w_stride);
    _tile_dpbf16ps(0, 4, 5);
    matrix_fetch(ahead, w, w_stride, step, 4);
    if (J > 1) {
        _tile_loadd(6, w + 64, w_stride);
        _tile_dpbf16ps(1, 4, 6);
    }
    matrix_fetch(ahead, w, w_stride, step, 8);
    if (J > 2) {
        _tile_loadd(7, w + 128, w_stride);
        _tile_dpbf16ps(2, 4, 7);
    }
    matrix_fetch(ahead, w, w_stride, step, 12);
    if (J > 3) {
        _tile_loadd(5, w + 192, w_stride);
        _tile_dpbf16ps(3, 4, 5);
    }
}

/* The end of a sum, filled up to 16 steps with zeros. */
typedef struct {
    uint32_t x[16][GROUP], w[GROUP][64];
} __attribute__((aligned(64))) last_t;

/* The first `halves` halves of 16 steps, 0 < halves < 32: what lies beyond them, in x or w, is not read. x: one pointer a row. */
static void fill_last(last_t *last, const char *const *x, long rows, const char *w, long w_stride, long halves, int J) {
    memset(last, 0, sizeof *last);
    for (long r = 0; r < rows; r++) memcpy(last->x[r], x[r], (size_t)halves * 2);
    for (long s = 0; s < (halves + 1) / 2; s++) memcpy(last->w[s], w + s * w_stride, (size_t)J * 64);
    if (halves % 2)
        for (int i = 0; i < 16 * J; i++) last->w[halves / 2][i] &= 0xffff;
}

static void matrix_last(const char *const *x, const char *w, long w_stride, long halves, int J) {
    last_t last;
    fill_last(&last, x, matrix_rows, w, w_stride, halves, J);
    matrix_steps(last.x, sizeof *last.x, (const char *)last.w, sizeof *last.w, J, NULL, 0);
}

/* 16 steps of rows that lie anywhere. */
V16_INLINE void matrix_gathered(const tile_t *t, long step, const char *w, prefetch_t *ahead) {
    uint32_t rows[16][GROUP] __attribute__((aligned(64)));
    for (long r = 0; r < matrix_rows; r++) memcpy(rows[r], t->x[r] + PAIR * step, sizeof *rows);
    matrix_steps(rows, sizeof *rows, w, STEP, 4, ahead, step);
}

/* 16 steps in vector registers: R rows, x [R] of 16 units each. ahead: NULL, or what is fetched meanwhile. */
V16_INLINE void vector_steps(const int R, const uint32_t *const *x, const char *w, long w_stride, v16 sums[][4], prefetch_t *ahead,
                             long step) {
    v16 even[2][4], odd[2][4];
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < 4; j++) even[r][j] = odd[r][j] = v16_zero();
    for (long s = 0; s < GROUP; s++) {
        if (ahead) prefetch(ahead, w + s * w_stride, 4, step + s);
        UNROLL for (int j = 0; j < 4; j++) {
            const __m512i pair = _mm512_loadu_si512(w + s * w_stride + 64 * j);
            const v16 lower = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
            const v16 upper = _mm512_castsi512_ps(_mm512_and_si512(pair, _mm512_set1_epi32((int)0xffff0000)));
            UNROLL for (int r = 0; r < R; r++) {
                even[r][j] = v16_fma(_mm512_castsi512_ps(_mm512_set1_epi32((int)(x[r][s] << 16))), lower, even[r][j]);
                odd[r][j] = v16_fma(_mm512_castsi512_ps(_mm512_set1_epi32((int)(x[r][s] & 0xffff0000))), upper, odd[r][j]);
            }
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < 4; j++) sums[r][j] = v16_add(sums[r][j], v16_add(even[r][j], odd[r][j]));
}

V16_INLINE void vector_tile(const int R, const tile_t *t, prefetch_t *ahead) {
    prefetch_t soon = *ahead;
    v16 sums[2][4];
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < 4; j++)
        sums[r][j] = t->from ? v16_load(t->sums + r * PANEL + 16 * j) : v16_zero();
    const char *w = t->panel + t->from * STEP;
    const uint32_t *x[2];
    long s = t->from;
    for (; s + GROUP <= t->to; s += GROUP, w += GROUP * STEP) {
        for (int r = 0; r < R; r++) x[r] = (const uint32_t *)(const void *)(t->x[r] + PAIR * s);
        if (soon.near || soon.next < soon.end) vector_steps(R, x, w, STEP, sums, &soon, s);
        else vector_steps(R, x, w, STEP, sums, NULL, 0);
    }
    const long halves = PAIR * (t->to - s) + t->odd;
    if (halves > 0) {
        last_t last;
        for (int r = 0; r < R; r++) x[r] = last.x[r];
        const char *rows[2] = {(const char *)(t->x[0] + PAIR * s), R > 1 ? (const char *)(t->x[1] + PAIR * s) : NULL};
        fill_last(&last, rows, R, w, STEP, halves, 4);
        vector_steps(R, x, (const char *)last.w, sizeof *last.w, sums, NULL, 0);
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < 4; j++) v16_store(t->sums + r * PANEL + 16 * j, sums[r][j]);
    *ahead = soon;
}

V16_INLINE int together(long rows) { return (void)rows, PANEL / 16; }

static void matrix_tile(const tile_t *t, long rows, prefetch_t *ahead) {
    matrix_shape(rows);
    prefetch_t soon = *ahead;
    if (t->from) matrix_load(t->sums, PANEL * sizeof(float), 4);
    else matrix_zero(4);
    const char *w = t->panel + t->from * STEP;
    long s = t->from;
    for (; s + GROUP <= t->to; s += GROUP, w += GROUP * STEP) {
        prefetch_t *fetched = soon.near || soon.next < soon.end ? &soon : NULL;
        if (!t->x_stride) matrix_gathered(t, s, w, fetched);
        else if (fetched) matrix_steps(t->x[0] + PAIR * s, t->x_stride * (long)sizeof(act_t), w, STEP, 4, fetched, s);
        else matrix_steps(t->x[0] + PAIR * s, t->x_stride * (long)sizeof(act_t), w, STEP, 4, NULL, 0);
    }
    const long halves = PAIR * (t->to - s) + t->odd;
    if (halves > 0) {
        const char *x[MAX_ROWS];
        for (long r = 0; r < rows; r++) x[r] = (const char *)(t->x[r] + PAIR * s);
        matrix_last(x, w, STEP, halves, 4);
    }
    matrix_store(t->sums, PANEL * sizeof(float), 4);
    *ahead = soon;
}

/* All 64 columns of `rows` rows, 1 <= rows <= MAX_ROWS. */
static void tile(tile_t *t, long rows, prefetch_t *ahead) {
    if (rows > 2) matrix_tile(t, rows, ahead);
    else if (rows == 2) vector_tile(2, t, ahead);
    else vector_tile(1, t, ahead);
}

#endif
