/* Keys and values into their blocks, in the layout of layout.h. A task is one token. */
#include "layout.h"

static void put_keys(const shape_t *shape, const act_t *k, act_t *keys, long place) {
    for (long d = 0; d < shape->key_steps * PAIR; d++) {
        act_t *to = keys + (d / PAIR * BLOCK + place) * PAIR + d % PAIR;
        if (d < shape->dim) *to = k[d];
        else *to = 0;
    }
}

static void put_values(const shape_t *shape, const act_t *v, act_t *values, long place) {
    for (long c = 0; c < shape->columns; c++) {
        long width = panel_width(shape, c), panel = c / VALUE_PANEL * VALUE_PANEL * VALUE_STEPS;
        act_t *to = values + (panel + place / PAIR * width + c % VALUE_PANEL) * PAIR + place % PAIR;
        if (c < shape->dim) *to = v[c];
        else *to = 0;
    }
}

void iso_write_kv(const batch_t *batch, const act_t *k, long k_stride, const act_t *v, long v_stride, act_t *keys, act_t *values,
                  long heads, long dim, int threads) {
    const shape_t shape = shape_of(heads, dim);
#pragma omp parallel num_threads(threads) if (batch->row_offsets[batch->segments] > 16)
    for (long s = 0; s < batch->segments; s++) {
        const segment_t segment = segment_of(batch, s);
        const int32_t *blocks = batch->blocks + batch->block_offsets[s];
#pragma omp for schedule(static) nowait
        for (long position = segment.start; position < segment.end; position++) {
            long row = segment.row + position - segment.start, block = blocks[position / BLOCK];
            for (long head = 0; head < heads; head++) {
                put_keys(&shape, k + row * k_stride + head * dim, keys + keys_at(&shape, block, head) * PAIR, position % BLOCK);
                put_values(&shape, v + row * v_stride + head * dim, values + values_at(&shape, block, head) * PAIR, position % BLOCK);
            }
        }
    }
}
