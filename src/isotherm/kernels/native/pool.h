/* Threads that share the pieces of one call.

   Pieces are fixed by shape and numbered; whoever is free claims the next number, and the caller claims like everybody else. So a
   worker that the system does not run delays a call by the piece it holds at most, and by nothing if it holds none. What a piece
   computes does not depend on who computes it. */
#ifndef ISO_POOL_H
#define ISO_POOL_H

#include <stdatomic.h>

/* The pieces of one call that nobody has claimed: [next, pieces). */
typedef struct {
    atomic_long next;
    long pieces;
} team_t;

/* A piece that is now the caller's, or -1 when there are none left. */
static inline long claim(team_t *team) {
    if (atomic_load_explicit(&team->next, memory_order_relaxed) >= team->pieces) return -1;
    long piece = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
    return piece < team->pieces ? piece : -1;
}

/* Claims pieces until there are none. Runs in several threads at once; work space is its own affair. */
typedef void (*work_fn)(const void *context, team_t *team);

/* Every piece of [0, pieces), by at most `threads` threads, the caller among them. All are done when it returns. */
void iso_share(work_fn work, const void *context, long pieces, int threads);

/* Items [first, last) of a call whose items need no work space. */
typedef void (*items_fn)(const void *context, long first, long last);

/* Every item of [0, count), `step` items a piece. */
void iso_each(items_fn items, const void *context, long count, long step, int threads);

/* Items a piece, for items of `elements` elements each: enough to be worth claiming. */
static inline long step_for(long elements) { return elements > 0 && elements < 16384 ? 16384 / elements : 1; }

#endif
