#include "act.h"
#include "play.h"

#include <string.h>

/* out [rows, n + m] = a [rows, n], b [rows, m] side by side. */
void iso_join(const act_t *a, long a_stride, long n, const act_t *b, long b_stride, long m, act_t *out, long rows) {
    for (long r = 0; r < rows; r++, out += n + m) {
        memcpy(out, a + r * a_stride, (size_t)n * sizeof(act_t));
        memcpy(out + n, b + r * b_stride, (size_t)m * sizeof(act_t));
    }
}
PLAYABLE(iso_join, PTR(0), LONG(1), LONG(2), PTR(3), LONG(4), LONG(5), PTR(6), LONG(7))
