/* Depthwise causal convolution and silu; the split law is in __init__.py. A task is one segment and TILE channels: it reads the
   lane and the history before it overwrites them, and no other task touches its columns. */
#include "act.h"
#include "batch.h"
#include "math.h"
#include "play.h"
#include "pool.h"

#include <stdlib.h>

enum { TILE = 256, SMALL = 1 << 15 }; /* elements below which sharing costs more than it saves */

typedef struct {
    const batch_t *batch;
    const act_t *x;
    const float *weight;
    long stride, channels, width, dilation, before; /* before: (width - 1) * dilation, rows of a history */
    act_t *history, *rows, *out;
} conv_t;

/* The inputs at `position`, which may lie before the segment (lane) or before its block (history). */
static const act_t *inputs_at(const conv_t *conv, const segment_t *segment, long position) {
    if (position >= segment->start) return conv->x + (segment->row + position - segment->start) * conv->stride;
    if (position >= segment->base) return conv->rows + (segment->lane * BLOCK + position % BLOCK) * conv->channels;
    long place = position - (segment->base - conv->before);
    return conv->history + (segment->state * conv->before + place) * conv->channels;
}

/* weight [n][width] -> taps [width][TILE], zeros beyond n. */
V16_INLINE void by_tap(const float *weight, long n, long width, float *taps) {
    memset(taps, 0, (size_t)width * TILE * sizeof(float));
    for (long i = 0; i < n; i++)
        for (long tap = 0; tap < width; tap++) taps[tap * TILE + i] = weight[i * width + tap];
}

/* taps: [width][TILE], the weights of channels [c, c+n) by tap. */
static void outputs(const conv_t *conv, const segment_t *segment, const float *taps, long c, long n) {
    const act_t *inputs[conv->width];
    for (long position = segment->start; position < segment->end; position++) {
        act_t *y = conv->out + (segment->row + position - segment->start) * conv->channels + c;
        for (long tap = 0; tap < conv->width; tap++)
            inputs[tap] = inputs_at(conv, segment, position - conv->before + tap * conv->dilation) + c;
        for (long i = 0; i < n; i += 16) {
            long lanes = n - i < 16 ? n - i : 16;
            v16 sum = v16_zero();
            if (lanes == 16) {
                for (long tap = 0; tap < conv->width; tap++)
                    sum = v16_fma(v16_load(taps + tap * TILE + i), ld16(inputs[tap] + i), sum);
                st16(y + i, v16_silu(sum));
            } else {
                for (long tap = 0; tap < conv->width; tap++)
                    sum = v16_fma(v16_load(taps + tap * TILE + i), ld16_n(inputs[tap] + i, lanes), sum);
                st16_n(y + i, v16_silu(sum), lanes);
            }
        }
    }
}

/* Histories first, because they may read lane rows that are then overwritten. */
static void keep(const conv_t *conv, const segment_t *segment, long c, long n) {
    const batch_t *batch = conv->batch;
    size_t bytes = (size_t)n * sizeof(act_t);
    long before = conv->before, kept = segment->end / BLOCK * BLOCK;
    for (long w = batch->write_offsets[segment->index]; w < batch->write_offsets[segment->index + 1]; w++)
        for (long i = 0; i < before; i++)
            memcpy(conv->history + (batch->write_slots[w] * before + i) * conv->channels + c,
                   inputs_at(conv, segment, batch->write_positions[w] - before + i) + c, bytes);
    for (long position = kept > segment->start ? kept : segment->start; position < segment->end; position++)
        memcpy(conv->rows + (segment->lane * BLOCK + position % BLOCK) * conv->channels + c,
               inputs_at(conv, segment, position) + c, bytes);
}

static long tiles_of(const conv_t *conv) { return (conv->channels + TILE - 1) / TILE; }

static void work(const void *context, team_t *team) {
    const conv_t *conv = context;
    const long tiles = tiles_of(conv), width = conv->width;
    float *taps = aligned_alloc(64, (size_t)width * TILE * sizeof(float));
    for (long task; (task = claim(team)) >= 0;) {
        segment_t segment = segment_of(conv->batch, task / tiles);
        long c = task % tiles * TILE, n = conv->channels - c < TILE ? conv->channels - c : TILE;
        if (width == 4) by_tap(conv->weight + c * 4, n, 4, taps); /* a constant width, which the compiler turns into shuffles */
        else by_tap(conv->weight + c * width, n, width, taps);
        outputs(conv, &segment, taps, c, n);
        keep(conv, &segment, c, n);
    }
    free(taps);
}

void iso_causal_conv(const batch_t *batch, const act_t *x, long stride, const float *weight, long channels, long width,
                     long dilation, act_t *history, act_t *rows, act_t *out, int threads) {
    const conv_t conv = {batch, x, weight, stride, channels, width, dilation, (width - 1) * dilation, history, rows, out};
    iso_share(work, &conv, batch->segments * tiles_of(&conv), batch->row_offsets[batch->segments] * channels > SMALL ? threads : 1);
}
PLAYABLE(iso_causal_conv, PTR(0), PTR(1), LONG(2), PTR(3), LONG(4), LONG(5), LONG(6), PTR(7), PTR(8), PTR(9), INT(10))
