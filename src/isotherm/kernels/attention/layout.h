/* Keys and values in their blocks, in units of four bytes: one float32, or a pair of bfloat16 that lie next to each other along
   the sum (see dot in linear/tile.h).

   A block of one head. Keys: [ceil(D/PAIR)][64 keys] units, pairs along d, 0 beyond an odd D. Values: panels of 64 columns, each
   [64/PAIR][columns of the panel] units, pairs along keys; D is rounded up to whole vectors of 16, zeros beyond it. */
#ifndef ISO_ATTENTION_LAYOUT_H
#define ISO_ATTENTION_LAYOUT_H

#include "../linear/tile.h"
#include "batch.h"

enum { VALUE_PANEL = 64, VALUE_STEPS = BLOCK / PAIR };

typedef uint32_t __attribute__((may_alias)) unit_t;

/* heads and dim of the cache; key_steps: units of a key; columns: dim in whole vectors. */
typedef struct {
    long heads, dim, key_steps, columns;
} shape_t;

static inline shape_t shape_of(long heads, long dim) {
    return (shape_t){heads, dim, (dim + PAIR - 1) / PAIR, (dim + 15) / 16 * 16};
}

/* Where the keys of a head lie, in units from the beginning of the store. */
static inline long keys_at(const shape_t *shape, long block, long head) {
    return (block * shape->heads + head) * shape->key_steps * BLOCK;
}

static inline long values_at(const shape_t *shape, long block, long head) {
    return (block * shape->heads + head) * VALUE_STEPS * shape->columns;
}

/* Columns of the panel that holds column c. */
static inline long panel_width(const shape_t *shape, long c) {
    long left = shape->columns - c / VALUE_PANEL * VALUE_PANEL;
    return left < VALUE_PANEL ? left : VALUE_PANEL;
}

#endif
