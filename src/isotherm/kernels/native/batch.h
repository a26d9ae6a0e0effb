/* A pass as index arrays, as isotherm.kernels.batch.Batch describes them. */
#ifndef ISO_BATCH_H
#define ISO_BATCH_H

#include <stdint.h>

enum { BLOCK = 64 };

typedef struct {
    const int32_t *row_offsets, *starts, *lanes, *states, *write_offsets, *write_positions, *write_slots, *block_offsets, *blocks;
    int64_t segments;
} batch_t;

/* One segment: rows [row, row + end - start) of the batch hold positions [start, end); base is the block boundary at or before start. */
typedef struct {
    long index, row, start, end, base, lane, state;
} segment_t;

static inline segment_t segment_of(const batch_t *batch, long s) {
    long row = batch->row_offsets[s], start = batch->starts[s];
    return (segment_t){s, row, start, start + batch->row_offsets[s + 1] - row, start / BLOCK * BLOCK, batch->lanes[s], batch->states[s]};
}

/* The segment that has row `row`. */
static inline long segment_at(const batch_t *batch, long row) {
    long s = 0, high = batch->segments;
    while (high - s > 1) {
        long middle = (s + high) / 2;
        if (batch->row_offsets[middle] <= row) s = middle;
        else high = middle;
    }
    return s;
}

/* Where the state at `boundary` is kept, or -1. */
static inline long slot_of(const batch_t *batch, long s, long boundary) {
    for (long w = batch->write_offsets[s]; w < batch->write_offsets[s + 1]; w++)
        if (batch->write_positions[w] == boundary) return batch->write_slots[w];
    return -1;
}

#endif
