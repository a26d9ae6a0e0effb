/* Keys and values into their blocks, in the layout of layout.h. A task is one token. */
#include "layout.h"
#include "play.h"
#include "pool.h"

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

typedef struct {
    const batch_t *batch;
    const act_t *k, *v;
    act_t *keys, *values;
    long k_stride, v_stride;
    shape_t shape;
} write_t;

/* Rows [first, last) of the batch. */
static void write_rows(const void *context, long first, long last) {
    const write_t *w = context;
    const shape_t *shape = &w->shape;
    long s = segment_at(w->batch, first);
    for (long row = first; row < last; row++) {
        while (row >= w->batch->row_offsets[s + 1]) s++;
        const long position = w->batch->starts[s] + row - w->batch->row_offsets[s];
        const long block = w->batch->blocks[w->batch->block_offsets[s] + position / BLOCK];
        for (long head = 0; head < shape->heads; head++) {
            const act_t *k = w->k + row * w->k_stride + head * shape->dim, *v = w->v + row * w->v_stride + head * shape->dim;
            put_keys(shape, k, w->keys + keys_at(shape, block, head) * PAIR, position % BLOCK);
            put_values(shape, v, w->values + values_at(shape, block, head) * PAIR, position % BLOCK);
        }
    }
}

void iso_write_kv(const batch_t *batch, const act_t *k, long k_stride, const act_t *v, long v_stride, act_t *keys, act_t *values,
                  long heads, long dim, int threads) {
    const write_t w = {batch, k, v, keys, values, k_stride, v_stride, shape_of(heads, dim)};
    iso_each(write_rows, &w, batch->row_offsets[batch->segments], 16, threads);
}
PLAYABLE(iso_write_kv, PTR(0), PTR(1), LONG(2), PTR(3), LONG(4), PTR(5), PTR(6), LONG(7), LONG(8), INT(9))
