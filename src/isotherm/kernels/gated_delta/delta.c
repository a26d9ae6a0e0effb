/* The gated delta rule in chunks; the form and its split law are in __init__.py. A task is one segment and one key head with the
   value heads that read it: no other task touches its lane rows, its part of a slot or its outputs. */
#include "act.h"
#include "batch.h"
#include "play.h"
#include "pool.h"
#include "tile.h"

#include <stdlib.h>

enum { AHEAD = 4 }; /* rows between asking for an input and using it */

/* `columns` is value_dim rounded up to whole vectors, the row length of u and of the state; the columns added stay 0. */
typedef struct {
    const batch_t *batch;
    const act_t *qkv, *b, *a;
    long qkv_stride, b_stride, a_stride;
    const float *decay, *dt_bias;
    float *state, *keys, *u, *totals; /* slots; lane rows k [Hk][DK][64], u [Hv][64][columns], G [Hv][64] */
    act_t *out;
    long key_heads, value_heads, key_dim, value_dim, columns, group;
    long most; /* rows of one chunk that a segment has, at most */
    int crosses; /* whether a segment reaches a boundary */
} delta_t;

/* Work space of a thread. Rows come in pairs: in keys k and q of a token, in dots k.k and q.k, in reads k.h (then the right-hand
   side of u) and q.h (then o). folded: k scaled for the fold. passing: states at boundaries that nobody keeps. */
typedef struct {
    float *keys, *dots, *minus_a, *p, *reads, *folded, *passing;
    float beta[BLOCK], grown[BLOCK];
} work_t;

/* Rows [first, first + n) of one chunk, at row `row` of the batch. */
typedef struct {
    long row, first, n;
} rows_t;

static long head_state(const delta_t *d) { return d->key_dim * d->columns; }

static float *reserve(size_t elements) { return aligned_alloc(64, (elements * sizeof(float) + 63) / 64 * 64); }

static work_t work_for(const delta_t *d) {
    const long n = d->most;
    const int crosses = d->crosses;
    return (work_t){
        .keys = reserve(2 * n * d->key_dim),
        .dots = reserve(2 * n * BLOCK),
        .minus_a = reserve(n * BLOCK),
        .p = reserve(n * BLOCK),
        .reads = reserve(2 * n * d->columns),
        .folded = reserve(crosses ? d->key_dim * BLOCK : 1),
        .passing = reserve(crosses ? 2 * d->group * head_state(d) : 1),
    };
}

static void release(work_t *w) {
    float *parts[] = {w->keys, w->dots, w->minus_a, w->p, w->reads, w->folded, w->passing};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
}

/* out = x / sqrt(sum x^2 + 1e-6) * scale. */
static void normalise(const act_t *x, long n, float scale, float *out) {
    v16 sum = v16_zero();
    for (long i = 0; i < n; i += 16) {
        v16 part = ld16_n(x + i, n - i < 16 ? n - i : 16);
        sum = v16_fma(part, part, sum);
    }
    v16 inverse = v16_set1(1.0f / f1_sqrt(v16_hsum(sum) + 1e-6f));
    for (long i = 0; i < n; i += 16) {
        long lanes = n - i < 16 ? n - i : 16;
        v16_store_n(out + i, v16_mul(v16_mul(ld16_n(x + i, lanes), inverse), v16_set1(scale)), lanes);
    }
}

/* Rows of one head lie far apart in the batch, where the processor does not foresee them. */
static void want(const act_t *x, long n) {
    for (long i = 0; i < n; i += 64 / (long)sizeof(act_t)) __builtin_prefetch(x + i);
}

/* Normalised k and q of the rows, k also into the lane's columns, and their dots with the chunk's keys so far. */
static void keys_of(const delta_t *d, rows_t rows, long head, float *lane, work_t *w) {
    const float scale = 1.0f / f1_sqrt((float)d->key_dim);
    for (long r = 0; r < rows.n; r++) {
        const act_t *q = d->qkv + (rows.row + r) * d->qkv_stride + head * d->key_dim;
        float *k = w->keys + 2 * r * d->key_dim;
        if (r + AHEAD < rows.n) {
            want(q + AHEAD * d->qkv_stride, d->key_dim);
            want(q + AHEAD * d->qkv_stride + d->key_heads * d->key_dim, d->key_dim);
        }
        normalise(q + d->key_heads * d->key_dim, d->key_dim, 1.0f, k);
        normalise(q, d->key_dim, scale, k + d->key_dim);
        for (long i = 0; i < d->key_dim; i++) lane[i * BLOCK + rows.first + r] = k[i];
    }
    for (long r = 0; r < rows.n; r += 16) {
        long n = rows.n - r < 16 ? rows.n - r : 16, columns = (rows.first + r + n + 15) / 16 * 16;
        const product_t dots = {.a = w->keys + 2 * r * d->key_dim, .a_stride = d->key_dim, .b = lane, .b_stride = BLOCK,
                                .out = w->dots + 2 * r * BLOCK, .out_stride = BLOCK};
        product(FULL, &dots, 2 * n, columns, d->key_dim);
    }
}

/* beta, G and exp(G) of the rows for one value head; lane rows run across the rows, 16 at a time. */
static void gates_of(const delta_t *d, rows_t rows, long head, float *totals, work_t *w) {
    float total = rows.first ? totals[rows.first - 1] : 0.0f;
    for (long r = 0; r < rows.n; r += 16) {
        float b[16] = {0}, a[16] = {0};
        long n = rows.n - r < 16 ? rows.n - r : 16;
        for (long i = 0; i < n; i++) {
            b[i] = ld1(d->b + (rows.row + r + i) * d->b_stride + head);
            a[i] = ld1(d->a + (rows.row + r + i) * d->a_stride + head);
        }
        v16 g = v16_mul(v16_set1(d->decay[head]), v16_softplus(v16_add(v16_load(a), v16_set1(d->dt_bias[head]))));
        v16_store(a, g);
        for (long i = 0; i < n; i++) totals[rows.first + r + i] = total = total + a[i];
        v16_store_n(w->beta + r, v16_sigmoid(v16_load(b)), n);
        v16_store_n(w->grown + r, v16_exp(v16_load_n(totals + rows.first + r, n)), n);
    }
}

/* -a_ij and p_ij of the rows, for j up to i; the places after i hold nothing. */
static void weights_of(rows_t rows, const float *totals, work_t *w) {
    for (long r = 0; r < rows.n; r++) {
        v16 total = v16_set1(totals[rows.first + r]), minus_beta = v16_set1(-w->beta[r]);
        for (long j = 0; j <= rows.first + r; j += 16) {
            v16 decay = v16_exp(v16_sub(total, v16_load(totals + j)));
            v16 kk = v16_load(w->dots + 2 * r * BLOCK + j), qk = v16_load(w->dots + (2 * r + 1) * BLOCK + j);
            v16_store(w->minus_a + r * BLOCK + j, v16_mul(v16_mul(minus_beta, kk), decay));
            v16_store(w->p + r * BLOCK + j, v16_mul(qk, decay));
        }
    }
}

/* k.h becomes beta (v - exp(G) k.h). */
static void right_hand_sides(const delta_t *d, rows_t rows, long head, work_t *w) {
    for (long r = 0; r < rows.n; r++) {
        const act_t *v = d->qkv + (rows.row + r) * d->qkv_stride + 2 * d->key_heads * d->key_dim + head * d->value_dim;
        if (r + AHEAD < rows.n) want(v + AHEAD * d->qkv_stride, d->value_dim);
        v16 minus_grown = v16_set1(-w->grown[r]), beta = v16_set1(w->beta[r]);
        for (long c = 0; c < d->columns; c += 16) {
            float *read = w->reads + 2 * r * d->columns + c;
            v16 value = ld16_n(v + c, d->value_dim - c < 16 ? d->value_dim - c : 16);
            v16_store(read, v16_mul(beta, v16_fma(minus_grown, v16_load(read), value)));
        }
    }
}

/* The rows of one value head: u into the lane, o out. h is the state at the chunk's beginning. */
static void values_of(const delta_t *d, rows_t rows, long head, const float *h, float *u, work_t *w) {
    const long columns = d->columns;
    const product_t reads = {.a = w->keys, .a_stride = d->key_dim, .b = h, .b_stride = columns, .out = w->reads, .out_stride = columns};
    product(FULL, &reads, 2 * rows.n, columns, d->key_dim);
    right_hand_sides(d, rows, head, w);
    const product_t solve = {.a = w->minus_a, .a_stride = BLOCK, .b = u, .b_stride = columns, .from = w->reads,
                             .from_stride = 2 * columns, .out = u + rows.first * columns, .out_stride = columns};
    product(SOLVE, &solve, rows.n, columns, rows.first);
    float *o = w->reads + columns;
    const product_t sums = {.a = w->p, .a_stride = BLOCK, .b = u, .b_stride = columns, .from = o, .from_stride = 2 * columns,
                            .scale = w->grown, .scale_step = 1, .out = o, .out_stride = 2 * columns};
    product(CAUSAL, &sums, rows.n, columns, rows.first);
    for (long r = 0; r < rows.n; r++) {
        act_t *out = d->out + ((rows.row + r) * d->value_heads + head) * d->value_dim;
        for (long c = 0; c < columns; c += 16)
            st16_n(out + c, v16_load(o + 2 * r * columns + c), d->value_dim - c < 16 ? d->value_dim - c : 16);
    }
}

/* The state 64 tokens after h, from a full lane. */
static void fold(const delta_t *d, const float *keys, const float *u, const float *totals, const float *h, float *next, work_t *w) {
    float decays[BLOCK], last = totals[BLOCK - 1], grown = f1_exp(last);
    for (long j = 0; j < BLOCK; j += 16) v16_store(decays + j, v16_exp(v16_sub(v16_set1(last), v16_load(totals + j))));
    for (long i = 0; i < d->key_dim * BLOCK; i += 16)
        v16_store(w->folded + i, v16_mul(v16_load(keys + i), v16_load(decays + i % BLOCK)));
    const product_t sums = {.a = w->folded, .a_stride = BLOCK, .b = u, .b_stride = d->columns, .from = h, .from_stride = d->columns,
                            .scale = &grown, .scale_step = 0, .out = next, .out_stride = d->columns};
    product(FULL, &sums, d->key_dim, d->columns, BLOCK);
}

/* All chunks of a segment for one key head. */
static void task(const delta_t *d, const segment_t *segment, long key_head, work_t *w) {
    const long size = head_state(d), first_head = key_head * d->group;
    float *keys = d->keys + (segment->lane * d->key_heads + key_head) * d->key_dim * BLOCK;
    float *u = d->u + (segment->lane * d->value_heads + first_head) * BLOCK * d->columns;
    float *totals = d->totals + (segment->lane * d->value_heads + first_head) * BLOCK;
    const float *h = d->state + (segment->state * d->value_heads + first_head) * size;
    float *spare = w->passing;
    for (long start = segment->start, end; start < segment->end; start = end) {
        end = start / BLOCK * BLOCK + BLOCK;
        int crosses = end <= segment->end;
        if (!crosses) end = segment->end;
        rows_t rows = {segment->row + start - segment->start, start % BLOCK, end - start};
        long slot = crosses ? slot_of(d->batch, segment->index, end) : -1;
        float *next = slot < 0 ? spare : d->state + (slot * d->value_heads + first_head) * size;
        keys_of(d, rows, key_head, keys, w);
        for (long g = 0; g < d->group; g++) {
            gates_of(d, rows, first_head + g, totals + g * BLOCK, w);
            weights_of(rows, totals + g * BLOCK, w);
            values_of(d, rows, first_head + g, h + g * size, u + g * BLOCK * d->columns, w);
            if (crosses) fold(d, keys, u + g * BLOCK * d->columns, totals + g * BLOCK, h + g * size, next + g * size, w);
        }
        if (!crosses) break;
        if (slot < 0) spare = spare == w->passing ? w->passing + d->group * size : w->passing;
        h = next;
    }
}

static void work(const void *context, team_t *team) {
    const delta_t *d = context;
    work_t space = work_for(d);
    for (long i; (i = claim(team)) >= 0;) {
        segment_t segment = segment_of(d->batch, i / d->key_heads);
        task(d, &segment, i % d->key_heads, &space);
    }
    release(&space);
}

void iso_gated_delta(const batch_t *batch, const act_t *qkv, long qkv_stride, const act_t *b, long b_stride, const act_t *a,
                     long a_stride, const float *decay, const float *dt_bias, float *state, float *keys, float *u, float *totals,
                     act_t *out, long key_heads, long value_heads, long key_dim, long value_dim, int threads) {
    delta_t d = {batch, qkv, b, a, qkv_stride, b_stride, a_stride, decay, dt_bias, state, keys, u, totals, out, key_heads,
                 value_heads, key_dim, value_dim, (value_dim + 15) / 16 * 16, value_heads / key_heads, 0, 0};
    for (long s = 0; s < batch->segments; s++) {
        segment_t segment = segment_of(batch, s);
        long n = segment.end - segment.start;
        if (n > d.most) d.most = n < BLOCK ? n : BLOCK;
        d.crosses |= segment.end >= segment.base + BLOCK;
    }
    iso_share(work, &d, batch->segments * key_heads, threads);
}
PLAYABLE(iso_gated_delta, PTR(0), PTR(1), LONG(2), PTR(3), LONG(4), PTR(5), LONG(6), PTR(7), PTR(8), PTR(9), PTR(10), PTR(11),
          PTR(12), PTR(13), LONG(14), LONG(15), LONG(16), LONG(17), INT(18))
