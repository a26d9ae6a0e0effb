/* Attention over a batch: how strips and splits go to threads. Which way is taken changes no bit: a split's sums are made by
   attend_split, and splits are merged in ascending order by merge, whoever does it. */
#include "play.h"
#include "pool.h"
#include "strip.h"

static const long PARTIALS_LIMIT = 1L << 24; /* floats of split sums held at once */
static const long SMALL = 1L << 19;          /* products below which sharing costs more than it saves */

/* tokens: of a strip, at most, a power of two. offsets: the first strip of each segment, heads counted apart. */
typedef struct {
    const attention_t *at;
    const batch_t *batch;
    long tokens, count, rows, splits, products;
    long *offsets;
    float *sums;       /* by_splits: partial_t of every strip and split */
    atomic_long *done; /* by_splits: of each strip, how many splits are finished */
} plan_t;

static plan_t plan_of(const attention_t *at, const batch_t *batch) {
    plan_t plan = {at, batch, BLOCK, 0, 0, 1, 0, malloc((size_t)(batch->segments + 1) * sizeof(long)), 0, 0};
    while (plan.tokens > 1 && plan.tokens * at->group > STRIP_ROWS) plan.tokens /= 2;
    long longest = 1;
    for (long s = 0; s < batch->segments; s++) {
        segment_t segment = segment_of(batch, s);
        plan.offsets[s] = plan.count;
        plan.count += ((segment.end - 1) / plan.tokens - segment.start / plan.tokens + 1) * at->shape.heads;
        plan.products += 2 * (segment.end - segment.start) * segment.end * at->shape.heads * at->group * at->shape.columns;
        if (segment.end - segment.start > longest) longest = segment.end - segment.start;
        if ((segment.end - 1) / SPLIT + 1 > plan.splits) plan.splits = (segment.end - 1) / SPLIT + 1;
    }
    plan.offsets[batch->segments] = plan.count;
    plan.rows = (longest < plan.tokens ? longest : plan.tokens) * at->group;
    return plan;
}

static strip_t strip_of(const plan_t *plan, long index) {
    long s = 0, high = plan->batch->segments, heads = plan->at->shape.heads;
    while (high - s > 1) {
        long middle = (s + high) / 2;
        if (plan->offsets[middle] <= index) s = middle;
        else high = middle;
    }
    segment_t segment = segment_of(plan->batch, s);
    long within = index - plan->offsets[s], place = segment.start / plan->tokens + within / heads;
    long first = place * plan->tokens, end = first + plan->tokens;
    if (first < segment.start) first = segment.start;
    if (end > segment.end) end = segment.end;
    return (strip_t){within % heads, segment.row + first - segment.start, first, end - first, (end - first) * plan->at->group,
                     plan->batch->blocks + plan->batch->block_offsets[s]};
}

static void swap(partial_t *a, partial_t *b) {
    partial_t other = *a;
    *a = *b;
    *b = other;
}

/* A piece is a whole strip, the longest first. */
static void strips(const void *context, team_t *team) {
    const plan_t *plan = context;
    const attention_t *at = plan->at;
    work_t work = work_for(&at->shape, plan->rows);
    tiles_begin();
    for (long i; (i = claim(team)) >= 0;) {
        strip_t strip = strip_of(plan, plan->count - 1 - i);
        load_queries(at, &strip, work.q);
        for (long split = 0; split < splits_of(&strip); split++) {
            attend_split(at, &strip, split, &work);
            if (split == 0) swap(&work.total, &work.part);
            else merge(&at->shape, strip.rows, &work.total, &work.part);
        }
        finish(at, &strip, &work.total);
    }
    tiles_end();
    release(&work);
}

static partial_t sums_at(const plan_t *plan, long strip, long split) {
    const shape_t *shape = &plan->at->shape;
    return partial_in(plan->sums + (strip * plan->splits + split) * partial_size(shape, plan->rows), shape, plan->rows);
}

/* Few strips over long contexts: a piece is a single split, whose sums wait in memory; the last to finish merges them. */
static void splits(const void *context, team_t *team) {
    const plan_t *plan = context;
    const attention_t *at = plan->at;
    work_t work = work_for(&at->shape, plan->rows);
    tiles_begin();
    const partial_t own = work.part;
    for (long i; (i = claim(team)) >= 0;) {
        const long index = i / plan->splits, split = i % plan->splits;
        strip_t strip = strip_of(plan, index);
        if (split >= splits_of(&strip)) continue;
        load_queries(at, &strip, work.q);
        work.part = sums_at(plan, index, split);
        attend_split(at, &strip, split, &work);
        if (atomic_fetch_add(&plan->done[index], 1) + 1 < splits_of(&strip)) continue;
        partial_t total = sums_at(plan, index, 0);
        for (long next = 1; next < splits_of(&strip); next++) {
            partial_t part = sums_at(plan, index, next);
            merge(&at->shape, strip.rows, &total, &part);
        }
        finish(at, &strip, &total);
    }
    work.part = own;
    tiles_end();
    release(&work);
}

static void by_splits(plan_t *plan, int threads) {
    plan->sums = reserve(plan->count * plan->splits * partial_size(&plan->at->shape, plan->rows));
    plan->done = calloc((size_t)plan->count, sizeof *plan->done);
    iso_share(splits, plan, plan->count * plan->splits, threads);
    free(plan->sums);
    free(plan->done);
}

void iso_attention(const batch_t *batch, const act_t *q, long q_stride, const unit_t *keys, const unit_t *values, act_t *out,
                   long query_heads, long heads, long dim, float scale, long skip, int threads) {
    const attention_t at = {shape_of(heads, dim), q, keys, values, out, q_stride, query_heads / heads, skip, scale};
    plan_t plan = plan_of(&at, batch);
    if (plan.products < SMALL) threads = 1;
    int few = plan.splits > 1 && plan.count < 4 * threads;
    if (few && plan.count * plan.splits * partial_size(&at.shape, plan.rows) <= PARTIALS_LIMIT) by_splits(&plan, threads);
    else iso_share(strips, &plan, plan.count, threads);
    free(plan.offsets);
}
PLAYABLE(iso_attention, PTR(0), PTR(1), LONG(2), PTR(3), PTR(4), PTR(5), LONG(6), LONG(7), LONG(8), REAL(9), LONG(10), INT(11))
