/* The order of tokens: value descending, id ascending. */
#ifndef ISO_SAMPLING_ORDER_H
#define ISO_SAMPLING_ORDER_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    float value;
    int32_t id;
} token_t;

static inline int comes_before(token_t a, token_t b) { return a.value > b.value || (a.value == b.value && a.id < b.id); }

static int compare_tokens(const void *a, const void *b) {
    token_t x = *(const token_t *)a, y = *(const token_t *)b;
    return comes_before(x, y) ? -1 : comes_before(y, x) ? 1 : 0;
}

static inline void sort_tokens(token_t *tokens, long n) { qsort(tokens, (size_t)n, sizeof *tokens, compare_tokens); }

/* Move heap[i] down until no child comes after it: heap[0] is the last in order. */
static inline void sift(token_t *heap, long n, long i) {
    for (token_t moved = heap[i];;) {
        long child = 2 * i + 1;
        if (child + 1 < n && comes_before(heap[child], heap[child + 1])) child++;
        if (child >= n || comes_before(heap[child], moved)) {
            heap[i] = moved;
            return;
        }
        heap[i] = heap[child];
        i = child;
    }
}

/* The first k tokens of x [v] in order; k <= v. A NaN counts as -inf, so that the order is one. */
static inline void first_tokens(const float *x, long v, token_t *out, long k) {
    for (long i = 0; i < k; i++) out[i] = (token_t){x[i] == x[i] ? x[i] : -__builtin_inff(), (int32_t)i};
    for (long i = k / 2; i-- > 0;) sift(out, k, i);
    for (long i = k; i < v && k > 0; i++) {
        if (!(x[i] > out[0].value)) continue; /* an equal value has a higher id */
        out[0] = (token_t){x[i], (int32_t)i};
        sift(out, k, 0);
    }
    sort_tokens(out, k);
}

#endif
