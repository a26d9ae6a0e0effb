/* The workers. They are made when a call first wants them, wait with their eyes open for a moment after each call and then sleep,
   and end with the process. A fork leaves them behind; the child makes its own. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { MOST_WORKERS = 255, OPEN = 1 << 16, PAUSES = 32 };
static const long PATIENCE = 100000; /* nanoseconds of looking before sleeping */

/* gate: OPEN while a call takes in workers, plus how many are inside. What a call consists of changes only while nobody is.
   calls: counts them, so that a worker sees a new one. call: held by the caller. */
typedef struct {
    pthread_mutex_t call, sleep;
    pthread_cond_t wake, left;
    atomic_int sleepers, waiting, ending;
    int workers;
    pthread_t threads[MOST_WORKERS];
    _Alignas(64) atomic_uint calls;
    work_fn work;
    const void *context;
    int helpers;
    _Alignas(64) atomic_uint gate;
    _Alignas(64) team_t team;
} pool_t;

#define EMPTY                                                                                                               \
    {.call = PTHREAD_MUTEX_INITIALIZER, .sleep = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,                \
     .left = PTHREAD_COND_INITIALIZER}
static pool_t pool = EMPTY;

/* Kernels take subnormal numbers for zero, as operands and as results, which is what matrix instructions do, and what keeps decays
   that have died out from costing a hundred cycles each on some processors. Only while they run: the caller's ways are its own. */
static unsigned flush_subnormals(void) {
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static void restore_subnormals(unsigned before) {
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

static void pause_thread(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Look at *word for a moment: whether it became other than `old` (or, with `until`, equal to it). */
static int watch(atomic_uint *word, unsigned old, int until) {
    for (long end = 0;;) {
        for (int i = 0; i < PAUSES; i++, pause_thread())
            if ((atomic_load_explicit(word, memory_order_acquire) == old) == until) return 1;
        long now = nanoseconds();
        if (!end) end = now + PATIENCE;
        if (now > end) return 0;
    }
}

/* Wait for a call after number `seen`; its number. */
static unsigned next_call(unsigned seen) {
    if (!watch(&pool.calls, seen, 0)) {
        pthread_mutex_lock(&pool.sleep);
        atomic_fetch_add(&pool.sleepers, 1);
        while (atomic_load(&pool.calls) == seen) pthread_cond_wait(&pool.wake, &pool.sleep);
        atomic_fetch_sub(&pool.sleepers, 1);
        pthread_mutex_unlock(&pool.sleep);
    }
    return atomic_load(&pool.calls);
}

static int enter(void) {
    unsigned gate = atomic_load(&pool.gate);
    do
        if (!(gate & OPEN)) return 0;
    while (!atomic_compare_exchange_weak(&pool.gate, &gate, gate + 1));
    return 1;
}

static void leave(void) {
    if (atomic_fetch_sub(&pool.gate, 1) != 1 || !atomic_load(&pool.waiting)) return; /* open, others inside, or nobody waits */
    pthread_mutex_lock(&pool.sleep);
    pthread_cond_signal(&pool.left);
    pthread_mutex_unlock(&pool.sleep);
}

static void *worker(void *number) {
    flush_subnormals();
    for (unsigned seen = 0;;) {
        seen = next_call(seen);
        if (atomic_load(&pool.ending)) return 0;
        if (!enter()) continue;
        if ((long)number < pool.helpers && atomic_load(&pool.team.next) < pool.team.pieces) pool.work(pool.context, &pool.team);
        leave();
    }
}

static void forget(void) { pool = (pool_t)EMPTY; }

/* At least `wanted` workers, or as many as the system gives. They take no signals. */
static void make_workers(int wanted) {
    if (pool.workers >= wanted || atomic_load(&pool.ending)) return;
    static int watching_forks;
    if (!watching_forks) watching_forks = !pthread_atfork(0, 0, forget);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted && !pthread_create(&pool.threads[pool.workers], 0, worker, (void *)(long)pool.workers))
        pool.workers++;
    pthread_sigmask(SIG_SETMASK, &before, 0);
}

static void wake_workers(void) {
    atomic_fetch_add(&pool.calls, 1);
    if (!atomic_load(&pool.sleepers)) return;
    pthread_mutex_lock(&pool.sleep);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.sleep);
}

/* Nobody enters any more; wait for those inside. */
static void close_gate(void) {
    if (atomic_fetch_and(&pool.gate, ~(unsigned)OPEN) == OPEN || watch(&pool.gate, 0, 1)) return;
    pthread_mutex_lock(&pool.sleep);
    atomic_store(&pool.waiting, 1);
    while (atomic_load(&pool.gate)) pthread_cond_wait(&pool.left, &pool.sleep);
    atomic_store(&pool.waiting, 0);
    pthread_mutex_unlock(&pool.sleep);
}

static void share(work_fn work, const void *context, long pieces, int threads) {
    if (threads > pieces) threads = (int)pieces;
    if (threads > MOST_WORKERS) threads = MOST_WORKERS;
    if (threads < 2 || pthread_mutex_trylock(&pool.call)) { /* busy with another thread's call: this one goes alone */
        team_t alone = {0, pieces};
        work(context, &alone);
        return;
    }
    make_workers(threads - 1);
    pool.work = work, pool.context = context, pool.helpers = threads - 1;
    pool.team.pieces = pieces;
    atomic_store(&pool.team.next, 0);
    atomic_store(&pool.gate, OPEN);
    wake_workers();
    work(context, &pool.team);
    close_gate();
    pthread_mutex_unlock(&pool.call);
}

void iso_share(work_fn work, const void *context, long pieces, int threads) {
    const unsigned before = flush_subnormals();
    share(work, context, pieces, threads);
    restore_subnormals(before);
}

typedef struct {
    items_fn items;
    const void *context;
    long count, step;
} each_t;

static void each_piece(const void *context, team_t *team) {
    const each_t *each = context;
    for (long piece; (piece = claim(team)) >= 0;) {
        long first = piece * each->step, last = first + each->step;
        each->items(each->context, first, last < each->count ? last : each->count);
    }
}

void iso_each(items_fn items, const void *context, long count, long step, int threads) {
    const each_t each = {items, context, count, step};
    iso_share(each_piece, &each, (count + step - 1) / step, threads);
}

/* When the library goes, its code goes: nobody may be inside. */
__attribute__((destructor)) static void end_workers(void) {
    atomic_store(&pool.ending, 1);
    wake_workers();
    for (int i = 0; i < pool.workers; i++) pthread_join(pool.threads[i], 0);
    pool.workers = 0;
}
