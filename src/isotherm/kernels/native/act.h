/* act_t, the activation type that this library is compiled for: bfloat16 (-DISO_BF16=1) or float32 (-DISO_BF16=0).

   Kernels compute in float32 and round where they store: that store is the rounding point. round16 rounds a value that is
   kept, so that the pass which makes it uses it as later passes will read it. */
#ifndef ISO_ACT_H
#define ISO_ACT_H

#include "vec.h"

#if ISO_BF16
typedef uint16_t act_t;
V16_INLINE v16 ld16(const act_t *p) { return v16_load_bf16(p); }
V16_INLINE v16 ld16_n(const act_t *p, long n) { return v16_load_bf16_n(p, n); }
V16_INLINE void st16(act_t *p, v16 x) { v16_store_bf16(p, x); }
V16_INLINE void st16_n(act_t *p, v16 x, long n) { v16_store_bf16_n(p, x, n); }
V16_INLINE float ld1(const act_t *p) {
    uint32_t bits = (uint32_t)*p << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
V16_INLINE v16 round16(v16 x) {
    act_t lanes[16];
    st16(lanes, x);
    return ld16(lanes);
}
#else
typedef float act_t;
V16_INLINE v16 ld16(const act_t *p) { return v16_load(p); }
V16_INLINE v16 ld16_n(const act_t *p, long n) { return v16_load_n(p, n); }
V16_INLINE void st16(act_t *p, v16 x) { v16_store(p, x); }
V16_INLINE void st16_n(act_t *p, v16 x, long n) { v16_store_n(p, x, n); }
V16_INLINE float ld1(const act_t *p) { return *p; }
V16_INLINE v16 round16(v16 x) { return x; }
#endif

V16_INLINE void st1(act_t *p, float x) { st16_n(p, v16_set1(x), 1); }

#endif
