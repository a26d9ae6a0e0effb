/* Attention's tile in AMX's matrix registers: up to 16 rows by 64 columns (linear/tile_matrix.h has the order of the sums). */
#ifndef ISO_ATTENTION_TILE_MATRIX_H
#define ISO_ATTENTION_TILE_MATRIX_H

/* `rows` rows times 16 J columns, from row r0 and column c on. */
V16_INLINE void sums_matrix(const sums_t *t, long r0, long rows, long c, int J) {
    const unit_t *x = t->x + r0 * t->x_stride;
    const char *b = (const char *)(t->b + c);
    float *sums = t->sums + r0 * t->sums_stride + c;
    const long x_stride = t->x_stride * 4, b_stride = t->b_stride * 4, sums_stride = t->sums_stride * 4;
    if (t->scale) {
        for (long r = 0; r < rows; r++)
            if (t->scale[r0 + r] != 1.0f) /* times 1 is the value itself */
                for (int j = 0; j < J; j++) {
                    float *part = sums + r * t->sums_stride + 16 * j;
                    v16_store(part, v16_mul(v16_set1(t->scale[r0 + r]), v16_load(part)));
                }
        matrix_load(sums, sums_stride, J);
    } else matrix_zero(J);
    long s = 0;
    for (; s + GROUP <= t->depth; s += GROUP) matrix_steps(x + s, x_stride, b + s * b_stride, b_stride, J, NULL, 0);
    const long halves = PAIR * (t->depth - s) + t->odd;
    if (halves > 0) {
        const char *last[MAX_ROWS];
        for (long r = 0; r < rows; r++) last[r] = (const char *)(x + s + r * t->x_stride);
        matrix_last(last, b + s * b_stride, b_stride, halves, J);
    }
    matrix_store(sums, sums_stride, J);
}

/* `columns` in whole vectors. */
static void sums_of(const sums_t *t, long rows, long columns) {
    for (long r = 0; r < rows; r += MAX_ROWS) {
        const long n = rows - r < MAX_ROWS ? rows - r : MAX_ROWS;
        matrix_shape(n);
        long c = 0;
        for (; columns - c >= 64; c += 64) sums_matrix(t, r, n, c, 4);
        for (; c < columns; c += 16) sums_matrix(t, r, n, c, 1);
    }
}

#endif
