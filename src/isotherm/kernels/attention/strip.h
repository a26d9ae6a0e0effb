/* A strip: consecutive tokens of one segment inside one block of 64, with the query heads that read one key-value head. Its rows
   are (token, query head), tokens first. They see the same blocks, and share nothing but loads. */
#ifndef ISO_ATTENTION_STRIP_H
#define ISO_ATTENTION_STRIP_H

#include "math.h"
#include "tile.h"

#include <stdlib.h>

enum { SPLIT = 1024, STRIP_ROWS = 128 };

typedef struct {
    shape_t shape;
    const act_t *q;
    const unit_t *keys, *values;
    act_t *out;
    long q_stride, group, skip; /* skip: key 0 is left out for rows beyond position 0 */
    float scale;
} attention_t;

typedef struct {
    long head, row, first, tokens, rows; /* row: of the batch; first: position of the first token */
    const int32_t *blocks;
} strip_t;

/* The softmax over some keys: maximum, sum and weighted values of each row. m, l [rows], acc [rows][columns]. */
typedef struct {
    float *m, *l, *acc;
} partial_t;

/* Work space of a thread. change: what a row's earlier sums are multiplied by. */
typedef struct {
    unit_t *q;
    float *scores, *change;
    act_t *p;
    partial_t total, part;
} work_t;

static inline void *reserve(long units) { return aligned_alloc(64, (size_t)(units * 4 + 63) / 64 * 64); }

static inline long partial_size(const shape_t *shape, long rows) { return rows * (shape->columns + 2); }

static inline partial_t partial_in(float *memory, const shape_t *shape, long rows) {
    return (partial_t){memory + rows * shape->columns, memory + rows * (shape->columns + 1), memory};
}

static inline work_t work_for(const shape_t *shape, long rows) {
    return (work_t){
        .q = reserve(rows * shape->key_steps),
        .scores = reserve(rows * BLOCK),
        .change = reserve(rows),
        .p = reserve(rows * BLOCK),
        .total = partial_in(reserve(partial_size(shape, rows)), shape, rows),
        .part = partial_in(reserve(partial_size(shape, rows)), shape, rows),
    };
}

static inline void release(work_t *w) {
    void *parts[] = {w->q, w->scores, w->change, w->p, w->total.acc, w->part.acc};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
}

static inline long splits_of(const strip_t *strip) { return strip->first / SPLIT + 1; }

static void load_queries(const attention_t *at, const strip_t *strip, unit_t *to) {
    for (long r = 0; r < strip->rows; r++, to += at->shape.key_steps) {
        const act_t *q = at->q + (strip->row + r / at->group) * at->q_stride + (strip->head * at->group + r % at->group) * at->shape.dim;
        to[at->shape.key_steps - 1] = 0;
        memcpy(to, q, (size_t)at->shape.dim * sizeof(act_t));
    }
}

/* One row of one block: scores s [64] of which the first `limit` count, to p [64]. */
static void softmax_row(const float *s, long limit, int begins, float scale, float *m, float *l, float *change, act_t *p) {
    const v16 none = v16_set1(-__builtin_inff()), factor = v16_set1(scale);
    v16 x[4], largest = none, sum;
    for (int i = 0; i < 4; i++) {
        x[i] = v16_mul(v16_load(s + 16 * i), factor);
        long live = limit - 16 * i;
        if (live < 16) x[i] = v16_select(m16_first(live < 0 ? 0 : live), x[i], none);
        largest = i ? v16_max(largest, x[i]) : x[i];
    }
    float block_m = v16_hmax(largest), new_m = begins || block_m > *m ? block_m : *m;
    for (int i = 0; i < 4; i++) {
        x[i] = v16_exp(v16_sub(x[i], v16_set1(new_m)));
        long live = limit - 16 * i;
        if (live < 16) x[i] = v16_select(m16_first(live < 0 ? 0 : live), x[i], v16_zero());
        st16(p + 16 * i, x[i]);
        sum = i ? v16_add(sum, x[i]) : x[i];
    }
    if (begins) *change = 0.0f;
    else *change = *m == new_m ? 1.0f : f1_exp(*m - new_m); /* f1_exp(0) is 1 */
    *l = begins ? v16_hsum(sum) : *l * *change + v16_hsum(sum);
    *m = new_m;
}

/* acc of rows [r, r + n) takes the first `limit` keys of a block. */
static void add_values(const attention_t *at, const unit_t *values, long r, long n, long limit, int begins, const work_t *w) {
    const shape_t *shape = &at->shape;
    for (long c = 0; c < shape->columns; c += VALUE_PANEL) {
        long width = panel_width(shape, c);
        const sums_t sums = {
            .x = (const unit_t *)(const void *)(w->p + r * BLOCK), .x_stride = BLOCK / PAIR,
            .b = values + c * VALUE_STEPS, .b_stride = width, .depth = limit / PAIR, .odd = limit % PAIR,
            .scale = begins ? 0 : w->change + r, .sums = w->part.acc + r * shape->columns + c, .sums_stride = shape->columns};
        sums_of(&sums, n, width);
    }
}

/* Block number i of the sequence into w->part. begins: it is the first of its split. */
static void attend_block(const attention_t *at, const strip_t *strip, long i, int begins, const work_t *w) {
    const shape_t *shape = &at->shape;
    const unit_t *values = at->values + values_at(shape, strip->blocks[i], strip->head);
    const sums_t scores = {.x = w->q, .x_stride = shape->key_steps, .b = at->keys + keys_at(shape, strip->blocks[i], strip->head),
                           .b_stride = BLOCK, .depth = shape->key_steps, .sums = w->scores, .sums_stride = BLOCK};
    sums_of(&scores, strip->rows, BLOCK);
    int whole = i < strip->first / BLOCK;
    if (i == 0 && at->skip)
        for (long r = 0; r < strip->rows; r++)
            if (strip->first + r / at->group > 0) w->scores[r * BLOCK] = -__builtin_inff();
    for (long r = 0; r < strip->rows; r++) {
        long limit = whole ? BLOCK : strip->first % BLOCK + r / at->group + 1;
        softmax_row(w->scores + r * BLOCK, limit, begins, at->scale, w->part.m + r, w->part.l + r, w->change + r, w->p + r * BLOCK);
    }
    if (whole) add_values(at, values, 0, strip->rows, BLOCK, begins, w);
    else
        for (long t = 0; t < strip->tokens; t++)
            add_values(at, values, t * at->group, at->group, strip->first % BLOCK + t + 1, begins, w);
}

/* All blocks of one split into w->part. */
static void attend_split(const attention_t *at, const strip_t *strip, long split, const work_t *w) {
    long last = strip->first / BLOCK + 1, end = (split + 1) * (SPLIT / BLOCK);
    for (long i = split * (SPLIT / BLOCK); i < last && i < end; i++) attend_block(at, strip, i, i % (SPLIT / BLOCK) == 0, w);
}

/* total takes the next split. */
static void merge(const shape_t *shape, long rows, const partial_t *total, const partial_t *part) {
    for (long r = 0; r < rows; r++) {
        float m = part->m[r] > total->m[r] ? part->m[r] : total->m[r];
        float before = f1_exp(total->m[r] - m), after = f1_exp(part->m[r] - m);
        total->l[r] = total->l[r] * before + part->l[r] * after;
        total->m[r] = m;
        for (long c = r * shape->columns; c < (r + 1) * shape->columns; c += 16) {
            v16 next = v16_mul(v16_load(part->acc + c), v16_set1(after));
            v16_store(total->acc + c, v16_add(v16_mul(v16_load(total->acc + c), v16_set1(before)), next));
        }
    }
}

/* round(acc / l) of every row into the output. */
static void finish(const attention_t *at, const strip_t *strip, const partial_t *total) {
    long dim = at->shape.dim;
    for (long r = 0; r < strip->rows; r++) {
        long head = strip->head * at->group + r % at->group;
        act_t *out = at->out + ((strip->row + r / at->group) * at->shape.heads * at->group + head) * dim;
        for (long c = 0; c < dim; c += 16) {
            v16 y = v16_div(v16_load(total->acc + r * at->shape.columns + c), v16_set1(total->l[r]));
            st16_n(out + c, y, dim - c < 16 ? dim - c : 16);
        }
    }
}

#endif
