#include "play.h"

void iso_play(const step_t *steps, int64_t n) {
    for (int64_t i = 0; i < n; i++) steps[i].call(steps[i].args);
}
