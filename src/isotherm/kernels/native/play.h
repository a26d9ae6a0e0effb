/* Calls kept as data: a pass of a few rows makes the same ones every time, and plays them as one call. */
#ifndef ISO_PLAY_H
#define ISO_PLAY_H

#include <stdint.h>

typedef union {
    void *p;
    int64_t l;
    int32_t i;
    float f;
} arg_t;

typedef struct {
    void (*call)(const arg_t *args);
    const arg_t *args;
} step_t;

/* name_step(a), which calls name with arguments taken from a. */
#define PLAYABLE(name, ...)                                                                                                 \
    void name##_step(const arg_t *a) { name(__VA_ARGS__); }
#define PTR(n) a[n].p
#define LONG(n) a[n].l
#define INT(n) a[n].i
#define REAL(n) a[n].f

#endif
