/* Log-sum-exp, the largest logits and the choice of a token; the definitions and the split law are in __init__.py. */
#include "noise.h"
#include "order.h"
#include "play.h"
#include "pool.h"

static float largest_of(const float *x, long v) {
    v16 most = v16_set1(-__builtin_inff());
    for (long i = 0; i < v; i += 16) {
        long n = v - i < 16 ? v - i : 16;
        most = v16_max(v16_select(m16_first(n), v16_load_n(x + i, n), most), most);
    }
    return v16_hmax(most);
}

/* Sum of exp(x - shift) over ascending groups of 16. */
static float sum_exp(const float *x, long v, float shift) {
    v16 sum = v16_zero();
    for (long i = 0; i < v; i += 16) {
        long n = v - i < 16 ? v - i : 16;
        v16 part = v16_exp(v16_sub(v16_load_n(x + i, n), v16_set1(shift)));
        sum = v16_add(sum, v16_select(m16_first(n), part, v16_zero()));
    }
    return v16_hsum(sum);
}

typedef struct {
    const float *x;
    long stride, v, k;
    float *values; /* [rows] log-sum-exp, or [rows][k] the largest */
    int32_t *ids;
} logits_t;

static void log_sum_exp(const void *context, long first, long last) {
    const logits_t *c = context;
    for (long r = first; r < last; r++) {
        const float *x = c->x + r * c->stride;
        float largest = largest_of(x, c->v);
        c->values[r] = f1_log(sum_exp(x, c->v, largest)) + largest;
    }
}

void iso_log_sum_exp(const float *x, long stride, long rows, long v, float *out, int threads) {
    const logits_t c = {x, stride, v, 0, out, 0};
    iso_each(log_sum_exp, &c, rows, step_for(v), threads);
}

static void top(const void *context, long first, long last) {
    const logits_t *c = context;
    const long k = c->k;
    token_t *tokens = malloc((size_t)(k ? k : 1) * sizeof *tokens);
    for (long r = first; r < last; r++) {
        first_tokens(c->x + r * c->stride, c->v, tokens, k);
        for (long i = 0; i < k; i++) c->ids[r * k + i] = tokens[i].id, c->values[r * k + i] = tokens[i].value;
    }
    free(tokens);
}

void iso_top(const float *x, long stride, long rows, long v, long k, int32_t *ids, float *values, int threads) {
    const logits_t c = {x, stride, v, k, values, ids};
    iso_each(top, &c, rows, step_for(v), threads);
}

/* The best of a choice so far. */
typedef struct {
    float score;
    int32_t id;
} best_t;

static void consider(best_t *best, const float score[16], const int32_t ids[16], long n) {
    for (long i = 0; i < n; i++)
        if (score[i] > best->score || (score[i] == best->score && ids[i] < best->id)) *best = (best_t){score[i], ids[i]};
}

static const best_t NOTHING = {-__builtin_inff(), INT32_MAX};

static long chosen(best_t best) { return best.id == INT32_MAX ? 0 : best.id; }

/* argmax(x + noise) over all of x [v]. */
static long choose_from_all(const float *x, long v, const noise_key_t *key) {
    best_t best = NOTHING;
    for (long i = 0; i < v; i += 16) {
        uint32_t word[16];
        float score[16];
        int32_t ids[16];
        long n = v - i < 16 ? v - i : 16;
        for (int g = 0; g < 4; g++) philox(key, (uint32_t)(i / 4 + g), word + 4 * g);
        for (int lane = 0; lane < 16; lane++) ids[lane] = (int32_t)i + lane;
        v16_store(score, v16_add(v16_load_n(x + i, n), gumbel(word)));
        consider(&best, score, ids, n);
    }
    return chosen(best);
}

/* argmax(x + noise) over n kept tokens. */
static long choose_from(const token_t *kept, long n, const noise_key_t *key) {
    best_t best = NOTHING;
    for (long i = 0; i < n; i += 16) {
        uint32_t word[16] = {0}, four[4];
        float score[16] = {0};
        int32_t ids[16] = {0};
        long lanes = n - i < 16 ? n - i : 16;
        for (long lane = 0; lane < lanes; lane++) {
            ids[lane] = kept[i + lane].id;
            score[lane] = kept[i + lane].value;
            philox(key, (uint32_t)ids[lane] / 4, four);
            word[lane] = four[ids[lane] % 4];
        }
        v16_store(score, v16_add(v16_load(score), gumbel(word)));
        consider(&best, score, ids, lanes);
    }
    return chosen(best);
}

/* Tokens of x [v] above -inf and at or above `least`, in order; their number. */
static long tokens_from(const float *x, long v, float least, token_t *out) {
    long n = 0;
    for (long i = 0; i < v; i++)
        if (x[i] >= least && x[i] > -__builtin_inff()) out[n++] = (token_t){x[i], (int32_t)i};
    sort_tokens(out, n);
    return n;
}

/* How many of the first n tokens top_p keeps: those before which the running sum is below `bound`. 0 when more are needed. */
static long kept_below(const token_t *tokens, long n, float bound, int complete) {
    float sum = 0.0f;
    for (long i = 0; i < n; i++) {
        if (!(sum < bound)) return i;
        sum = sum + f1_exp(tokens[i].value);
    }
    return complete || !(sum < bound) ? n : 0;
}

/* top_p alone: look no further down than needed. The answer does not depend on the steps, because it is a prefix of one order. */
static long keep_by_mass(const float *x, long v, float top_p, token_t *out) {
    float bound = top_p * sum_exp(x, v, 0.0f);
    static const float depths[] = {-4.0f, -8.0f, -16.0f, -32.0f};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        long kept = kept_below(out, tokens_from(x, v, depths[i], out), bound, 0);
        if (kept) return kept;
    }
    return kept_below(out, tokens_from(x, v, -__builtin_inff(), out), bound, 1);
}

/* min_p, top_k and top_p in this order; x is logits over temperature, its maximum 0. -> how many of `out` are kept. */
static long keep(const float *x, long v, long top_k, float top_p, float min_p, token_t *out) {
    if (top_k <= 0 && !(min_p > 0.0f)) return keep_by_mass(x, v, top_p, out);
    long n = v;
    if (top_k > 0 && top_k < v) first_tokens(x, v, out, n = top_k);
    else n = tokens_from(x, v, -__builtin_inff(), out);
    float sum = 0.0f;
    for (long i = 0; i < n; i++) {
        float weight = f1_exp(out[i].value);
        if (weight < min_p) n = i;
        else sum = sum + weight;
    }
    return top_p < 1.0f ? kept_below(out, n, top_p * sum, 1) : n;
}

/* One token of logits [v]. */
long iso_sample(const float *logits, long v, float temperature, long top_k, float top_p, float min_p, uint64_t seed, long choice,
                long position) {
    const noise_key_t key = {(uint32_t)seed, (uint32_t)(seed >> 32), (uint32_t)position, (uint32_t)choice};
    float largest = largest_of(logits, v);
    if (temperature == 0.0f) {
        for (long i = 0; i < v; i++)
            if (logits[i] == largest) return i;
        return 0;
    }
    float *x = malloc((size_t)(v + 16) * sizeof *x);
    for (long i = 0; i < v; i += 16) {
        long n = v - i < 16 ? v - i : 16;
        v16_store(x + i, v16_div(v16_sub(v16_load_n(logits + i, n), v16_set1(largest)), v16_set1(temperature)));
    }
    long answer;
    if (top_k <= 0 && !(top_p < 1.0f) && !(min_p > 0.0f)) {
        answer = choose_from_all(x, v, &key);
    } else {
        token_t *kept = malloc((size_t)v * sizeof *kept);
        answer = choose_from(kept, keep(x, v, top_k, top_p, min_p, kept), &key);
        free(kept);
    }
    free(x);
    return answer;
}

/* How the token after a row is chosen, as iso_sample has it. */
typedef struct {
    float temperature, top_p, min_p;
    int32_t pad;
    int64_t top_k, choice, position;
    uint64_t seed;
} choice_t;

typedef struct {
    const float *x;
    long stride, v;
    const choice_t *choices;
    int32_t *tokens;
} choose_t;

static int is_finite(const float *x, long v) {
    v16 sum = v16_zero();
    for (long i = 0; i < v; i += 16) {
        const v16 some = v16_load_n(x + i, v - i < 16 ? v - i : 16);
        sum = v16_add(sum, v16_sub(some, some)); /* NaN where one is not */
    }
    return v16_hsum(sum) == 0.0f;
}

static void choose(const void *context, long first, long last) {
    const choose_t *c = context;
    for (long r = first; r < last; r++) {
        const choice_t *how = c->choices + r;
        const float *x = c->x + r * c->stride;
        c->tokens[r] = !is_finite(x, c->v) ? -1
                                           : (int32_t)iso_sample(x, c->v, how->temperature, how->top_k, how->top_p, how->min_p,
                                                                 how->seed, how->choice, how->position);
    }
}

/* The token after each row of x [rows, v], or -1 where one of its logits is not finite. */
void iso_choose(const float *x, long stride, long rows, long v, const choice_t *choices, int32_t *tokens, int threads) {
    const choose_t c = {x, stride, v, choices, tokens};
    iso_each(choose, &c, rows, step_for(v), threads);
}
PLAYABLE(iso_choose, PTR(0), LONG(1), LONG(2), LONG(3), PTR(4), PTR(5), INT(6))

/* One position on: of rows that are one sequence each, and of the choices after them. */
void iso_go_on(int32_t *positions, choice_t *choices, long rows) {
    for (long r = 0; r < rows; r++) positions[r]++, choices[r].position++;
}
PLAYABLE(iso_go_on, PTR(0), PTR(1), LONG(2))
