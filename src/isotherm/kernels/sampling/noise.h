/* Gumbel noise of token ids from a counter: Philox4x32-10, as __init__.py states it. */
#ifndef ISO_SAMPLING_NOISE_H
#define ISO_SAMPLING_NOISE_H

#include "math.h"

typedef struct {
    uint32_t seed_low, seed_high, position, choice;
} noise_key_t;

/* The four words of token ids 4 group .. 4 group + 3. */
static inline void philox(const noise_key_t *key, uint32_t group, uint32_t word[4]) {
    uint32_t c0 = group, c1 = key->position, c2 = key->choice, c3 = 0, k0 = key->seed_low, k1 = key->seed_high;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    word[0] = c0, word[1] = c1, word[2] = c2, word[3] = c3;
}

/* -log(-log u) of sixteen words, u = (word + 1/2) / 2^32. */
static inline v16 gumbel(const uint32_t word[16]) {
    float nearer[16], above[16];
    for (int i = 0; i < 16; i++) {
        uint32_t high = word[i] >> 31;
        nearer[i] = ((float)(int32_t)(high ? ~word[i] : word[i]) + 0.5f) * 0x1p-32f; /* min(u, 1 - u) */
        above[i] = (float)(int32_t)high;
    }
    v16 x = v16_load(nearer);
    v16 rate = v16_select(v16_lt(v16_zero(), v16_load(above)), v16_log1p(v16_div(x, v16_sub(v16_set1(1.0f), x))), v16_neg(v16_log(x)));
    return v16_neg(v16_log(rate));
}

#endif
