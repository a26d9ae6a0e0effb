/* Indexed attention: the choice of groups, and attention over them. Split law and rounding points are in __init__.py. */
#include "act.h"
#include "batch.h"
#include "math.h"
#include "pool.h"

#include <stdlib.h>

/* k, v [blocks][heads][BLOCK][dim]; pooled [blocks][BLOCK / ratio][index_dim]; chosen [rows][groups]. */
typedef struct {
    const batch_t *batch;
    const act_t *q, *k, *v, *pooled;
    uint8_t *chosen;
    act_t *out;
    long stride, query_heads, heads, dim, ratio, groups, most;
    float scale;
    long skip; /* key 0 is left out for rows beyond position 0 */
} indexed_t;

/* Where a row of the batch stands. */
typedef struct {
    long position;
    const int32_t *blocks;
} place_t;

static place_t place_of(const batch_t *batch, long row) {
    const long s = segment_at(batch, row);
    return (place_t){batch->starts[s] + row - batch->row_offsets[s], batch->blocks + batch->block_offsets[s]};
}

V16_INLINE float dot(const act_t *a, const act_t *b, long dim) {
    v16 sum = v16_zero();
    long i = 0;
    for (; i + 16 <= dim; i += 16) sum = v16_fma(ld16(a + i), ld16(b + i), sum);
    if (i < dim) sum = v16_fma(ld16_n(a + i, dim - i), ld16_n(b + i, dim - i), sum);
    return v16_hsum(sum);
}

/* Scores are never negative, so their bits order as they do; a NaN comes first. */
static void score(const indexed_t *c, const act_t *q, const place_t *place, long complete, uint32_t *scores) {
    const long a_block = BLOCK / c->ratio;
    const float root = f1_sqrt((float)c->dim);
    for (long g = 0; g < complete; g++) {
        const act_t *key = c->pooled + (place->blocks[g / a_block] * a_block + g % a_block) * c->dim;
        float total = 0.0f;
        for (long h = 0; h < c->heads; h++) {
            const float product = dot(q + h * c->dim, key, c->dim);
            total += product <= 0.0f ? 0.0f : product;
        }
        total /= root;
        memcpy(scores + g, &total, 4);
    }
}

/* The most-th largest of n > most scores, found a byte at a time. */
static uint32_t threshold(const uint32_t *scores, long n, long most) {
    uint32_t prefix = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        long counts[256] = {0};
        for (long g = 0; g < n; g++)
            if ((scores[g] & mask) == prefix) counts[scores[g] >> shift & 255]++;
        int byte = 255;
        for (; counts[byte] < most; byte--) most -= counts[byte];
        prefix |= (uint32_t)byte << shift;
        mask |= 255u << shift;
    }
    return prefix;
}

static void choose(const uint32_t *scores, long n, long most, uint8_t *chosen) {
    const uint32_t least = threshold(scores, n, most);
    long ties = most;
    for (long g = 0; g < n; g++) {
        chosen[g] = scores[g] > least;
        ties -= chosen[g];
    }
    for (long g = 0; ties > 0; g++)
        if (scores[g] == least) {
            chosen[g] = 1;
            ties--;
        }
}

/* A piece is a row. */
static void select_rows(const void *context, team_t *team) {
    const indexed_t *c = context;
    uint32_t *scores = malloc((size_t)c->groups * sizeof(uint32_t));
    for (long row; (row = claim(team)) >= 0;) {
        const place_t place = place_of(c->batch, row);
        const long complete = (place.position + 1) / c->ratio, own = place.position / c->ratio + 1;
        uint8_t *chosen = c->chosen + row * c->groups;
        memset(chosen, 0, (size_t)c->groups);
        if (complete <= c->most) {
            memset(chosen, 1, (size_t)own);
            continue;
        }
        score(c, c->q + row * c->stride, &place, complete, scores);
        choose(scores, complete, c->most, chosen);
        if (own > complete) chosen[complete] = 1;
    }
    free(scores);
}

/* q [rows][stride], heads of dim; pooled keys of dim; groups: columns of chosen. */
void iso_select(const batch_t *batch, const act_t *q, long stride, const act_t *pooled, uint8_t *chosen, long heads, long dim,
                long ratio, long groups, long most, int threads) {
    const indexed_t c = {batch, q, 0, 0, pooled, chosen, 0, stride, 0, heads, dim, ratio, groups, most, 0, 0};
    iso_share(select_rows, &c, batch->row_offsets[batch->segments], threads);
}

/* The chosen keys of block i at or before the row, ascending; how many. */
static long live_keys(const indexed_t *c, const uint8_t *chosen, long position, long i, int *live) {
    const long a_block = BLOCK / c->ratio, end = position - i * BLOCK + 1, begin = c->skip && !i && position;
    long count = 0;
    for (long g = 0; g < a_block && g * c->ratio < end; g++)
        if (chosen[i * a_block + g])
            for (long j = g ? g * c->ratio : begin; j < (g + 1) * c->ratio && j < end; j++) live[count++] = (int)j;
    return count;
}

/* One query head's softmax so far; acc has dim floats. */
typedef struct {
    float m, l, *acc;
} softmax_t;

static void add_block(const indexed_t *c, softmax_t *soft, const act_t *q, const act_t *k, const act_t *v, const int *live,
                      long count) {
    float s[BLOCK] __attribute__((aligned(64)));
    v16_store(s, v16_set1(-__builtin_inff()));
    for (int g = 1; g < BLOCK / 16; g++) memcpy(s + 16 * g, s, 16 * sizeof(float));
    float m = soft->m;
    for (long n = 0; n < count; n++) {
        s[live[n]] = dot(q, k + live[n] * c->dim, c->dim) * c->scale;
        if (s[live[n]] > m) m = s[live[n]];
    }
    const float before = f1_exp(soft->m - m);
    v16 sum = v16_zero();
    for (int g = 0; g < BLOCK; g += 16) {
        const v16 p = v16_exp(v16_sub(v16_load(s + g), v16_set1(m)));
        sum = v16_add(sum, p);
        v16_store(s + g, round16(p));
    }
    soft->l = f1_fma(soft->l, before, v16_hsum(sum));
    soft->m = m;
    for (long i = 0; i < c->dim; i += 16) {
        const long n = c->dim - i < 16 ? c->dim - i : 16;
        v16 acc = v16_mul(v16_load_n(soft->acc + i, n), v16_set1(before));
        for (long key = 0; key < count; key++)
            acc = v16_fma(v16_set1(s[live[key]]), ld16_n(v + live[key] * c->dim + i, n), acc);
        v16_store_n(soft->acc + i, acc, n);
    }
}

/* A piece is the query heads of one row that share keys. */
static void attend(const void *context, team_t *team) {
    const indexed_t *c = context;
    const long group = c->query_heads / c->heads;
    softmax_t *soft = malloc((size_t)group * sizeof(softmax_t));
    float *acc = malloc((size_t)(group * c->dim) * sizeof(float));
    int live[BLOCK];
    for (long piece; (piece = claim(team)) >= 0;) {
        const long row = piece / c->heads, head = piece % c->heads;
        const place_t place = place_of(c->batch, row);
        const act_t *q = c->q + row * c->stride + head * group * c->dim;
        memset(acc, 0, (size_t)(group * c->dim) * sizeof(float));
        for (long h = 0; h < group; h++) soft[h] = (softmax_t){-__builtin_inff(), 0.0f, acc + h * c->dim};
        for (long i = 0; i * BLOCK <= place.position; i++) {
            const long count = live_keys(c, c->chosen + row * c->groups, place.position, i, live);
            if (!count) continue;
            const long at = (place.blocks[i] * c->heads + head) * BLOCK * c->dim;
            for (long h = 0; h < group; h++) add_block(c, soft + h, q + h * c->dim, c->k + at, c->v + at, live, count);
        }
        act_t *out = c->out + (row * c->query_heads + head * group) * c->dim;
        for (long h = 0; h < group; h++)
            for (long i = 0; i < c->dim; i += 16) {
                const long n = c->dim - i < 16 ? c->dim - i : 16;
                st16_n(out + h * c->dim + i, v16_div(v16_load_n(soft[h].acc + i, n), v16_set1(soft[h].l)), n);
            }
    }
    free(acc);
    free(soft);
}

/* q, out [rows][query_heads][dim]. */
void iso_indexed_attention(const batch_t *batch, const act_t *q, long stride, const act_t *k, const act_t *v, const uint8_t *chosen,
                           act_t *out, long query_heads, long heads, long dim, long ratio, long groups, float scale, long skip,
                           int threads) {
    const indexed_t c = {batch, q, k, v, 0, (uint8_t *)chosen, out, stride, query_heads, heads, dim, ratio, groups, 0, scale, skip};
    iso_share(attend, &c, batch->row_offsets[batch->segments] * heads, threads);
}
