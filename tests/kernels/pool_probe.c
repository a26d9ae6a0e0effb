/* Lets test_pool.py call what pool.h declares. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int32_t *times;
    pthread_t caller;
    atomic_long *by_others;
    long spin;
} count_t;

static void wait_nanoseconds(long n) {
    struct timespec pause = {n / 1000000000, n % 1000000000};
    if (n) nanosleep(&pause, 0);
}

static void count(const void *context, team_t *team) {
    const count_t *c = context;
    for (long piece; (piece = claim(team)) >= 0;) {
        c->times[piece]++;
        if (!pthread_equal(pthread_self(), c->caller)) atomic_fetch_add(c->by_others, 1);
        wait_nanoseconds(c->spin);
    }
}

/* times[piece] += 1 for each piece, each of which takes `pause` ns; how many pieces workers did. */
long probe_count(int32_t *times, long pieces, int threads, long pause) {
    atomic_long by_others = 0;
    const count_t c = {times, pthread_self(), &by_others, pause};
    iso_share(count, &c, pieces, threads);
    return by_others;
}

typedef struct {
    pthread_t caller;
    atomic_long *finished;
    long pieces;
} stall_t;

/* A worker keeps its piece until all others are finished. */
static void stall(const void *context, team_t *team) {
    const stall_t *s = context;
    for (long piece; (piece = claim(team)) >= 0;) {
        if (!pthread_equal(pthread_self(), s->caller))
            while (atomic_load(s->finished) < s->pieces - 1) wait_nanoseconds(1000);
        else wait_nanoseconds(1000000);
        atomic_fetch_add(s->finished, 1);
    }
}

/* How many pieces are finished in a call whose one worker holds its first piece to the end. */
long probe_stall(long pieces) {
    atomic_long finished = 0;
    const stall_t s = {pthread_self(), &finished, pieces};
    iso_share(stall, &s, pieces, 2);
    return finished;
}

static void nested(const void *context, team_t *team) {
    int32_t *times = (int32_t *)context;
    for (long piece; (piece = claim(team)) >= 0;) probe_count(times + 8 * piece, 8, 2, 0);
}

/* Eight calls of eight pieces, each made from inside a piece. */
void probe_nested(int32_t *times) { iso_share(nested, times, 8, 2); }

static void mark(const void *context, long first, long last) {
    for (long i = first; i < last; i++) ((int32_t *)context)[i]++;
}

void probe_each(int32_t *times, long count, long step, int threads) { iso_each(mark, times, count, step, threads); }
