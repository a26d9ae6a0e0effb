/* Each row's predecessor; where it lies is in __init__.py. Segments share nothing, and few rows are copied: one thread. */
#include "act.h"
#include "batch.h"
#include "play.h"

#include <string.h>

typedef struct {
    const act_t *x;
    long stride, channels;
    act_t *history, *rows;
} shift_t;

/* The row at `position`: of the segment, of its lane, or the one before its block. */
static const act_t *row_at(const shift_t *s, const segment_t *segment, long position) {
    if (position >= segment->start) return s->x + (segment->row + position - segment->start) * s->stride;
    if (position >= segment->base) return s->rows + (segment->lane * BLOCK + position % BLOCK) * s->channels;
    return s->history + segment->state * s->channels;
}

void iso_shift(const batch_t *batch, const act_t *x, long stride, long channels, act_t *history, act_t *rows, act_t *out) {
    const shift_t s = {x, stride, channels, history, rows};
    const size_t bytes = (size_t)channels * sizeof(act_t);
    for (long i = 0; i < batch->segments; i++) {
        const segment_t segment = segment_of(batch, i);
        for (long position = segment.start; position < segment.end; position++)
            memcpy(out + (segment.row + position - segment.start) * channels, row_at(&s, &segment, position - 1), bytes);
        for (long w = batch->write_offsets[i]; w < batch->write_offsets[i + 1]; w++)
            memcpy(history + batch->write_slots[w] * channels, row_at(&s, &segment, batch->write_positions[w] - 1), bytes);
        long kept = segment.end / BLOCK * BLOCK;
        for (long position = kept > segment.start ? kept : segment.start; position < segment.end; position++)
            memcpy(rows + (segment.lane * BLOCK + position % BLOCK) * channels, row_at(&s, &segment, position), bytes);
    }
}
PLAYABLE(iso_shift, PTR(0), PTR(1), LONG(2), LONG(3), PTR(4), PTR(5), PTR(6))
