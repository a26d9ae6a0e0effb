/* What the machine can do, for a profile to be held against: how fast memory is read, and how fast `dot` multiplies. */
#include "../linear/tile.h"
#include "pool.h"

#if defined(__AVX512F__)
enum { CHAINS = 16 };
#else
enum { CHAINS = 4 };
#endif
enum { PIECE = 1 << 17, STEPS = 4096 };

typedef struct {
    const float *from;
    float *sums; /* [pieces] */
} read_t;

static void read_pieces(const void *context, long first, long last) {
    const read_t *r = context;
    for (long piece = first; piece < last; piece++) {
        const float *p = r->from + piece * (PIECE / 4);
        v16 a = v16_zero(), b = v16_zero(), c = v16_zero(), d = v16_zero();
        for (long i = 0; i < PIECE / 4; i += 64) {
            a = v16_add(a, v16_load(p + i));
            b = v16_add(b, v16_load(p + i + 16));
            c = v16_add(c, v16_load(p + i + 32));
            d = v16_add(d, v16_load(p + i + 48));
        }
        r->sums[piece] = v16_first(v16_add(v16_add(a, b), v16_add(c, d)));
    }
}

/* Reads whole pieces of 128 KiB from `from` on, shared as kernels share theirs; sums has room for one number a piece. */
void iso_read(const float *from, float *sums, long pieces, int threads) {
    const read_t r = {from, sums};
    iso_each(read_pieces, &r, pieces, 1, threads);
}

static void multiply(const void *context, long first, long last) {
    const uint32_t *values = context;
    x16 x = x16_set(values[0]);
    char one[64];
    for (int i = 0; i < 16; i++) memcpy(one + 4 * i, values, 4);
    w16 w = w16_load(one);
    v16 acc[CHAINS];
    _Pragma("GCC unroll 16") for (int j = 0; j < CHAINS; j++) acc[j] = v16_set1((float)j); /* of different values, lest they be one */
    for (long step = first * STEPS; step < last * STEPS; step++) {
        __asm__ volatile("" ::: "memory"); /* every step is done */
        _Pragma("GCC unroll 16") for (int j = 0; j < CHAINS; j++) acc[j] = dot(acc[j], x, w);
    }
    float sum = 0.0f;
    _Pragma("GCC unroll 16") for (int j = 0; j < CHAINS; j++) sum += v16_first(acc[j]);
    volatile float kept = sum;
    (void)kept;
}

/* Rounds of dots; how many multiplications they were. */
int64_t iso_multiply(const uint32_t *values, long rounds, int threads) {
    iso_each(multiply, values, rounds, 1, threads);
    return (int64_t)rounds * STEPS * CHAINS * 16 * PAIR;
}
