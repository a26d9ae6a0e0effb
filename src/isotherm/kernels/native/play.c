#include "play.h"

#include <string.h>

void iso_play(const step_t *steps, int64_t n) {
    for (int64_t i = 0; i < n; i++) steps[i].call(steps[i].args);
}

/* Bytes from one place that stays to another. */
void iso_copy(void *to, const void *from, long bytes) { memcpy(to, from, (size_t)bytes); }
PLAYABLE(iso_copy, PTR(0), PTR(1), LONG(2))
