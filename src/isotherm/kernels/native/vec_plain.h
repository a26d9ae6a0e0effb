/* v16 as a GCC vector of 64 bytes: any processor, NEON included. Included by vec.h. */
typedef float v16 __attribute__((vector_size(64)));
typedef int32_t m16 __attribute__((vector_size(64)));
typedef uint32_t v16_bits __attribute__((vector_size(64)));

V16_INLINE v16 v16_load(const float *p) {
    v16 x;
    memcpy(&x, p, 64);
    return x;
}
V16_INLINE void v16_store(float *p, v16 x) { memcpy(p, &x, 64); }
V16_INLINE v16 v16_load_n(const float *p, long n) {
    v16 x = {0};
    memcpy(&x, p, (size_t)n * 4);
    return x;
}
V16_INLINE void v16_store_n(float *p, v16 x, long n) { memcpy(p, &x, (size_t)n * 4); }
V16_INLINE v16 v16_zero(void) { return (v16){0}; }
V16_INLINE v16 v16_set1(float x) { return (v16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }

V16_INLINE v16 v16_add(v16 a, v16 b) { return a + b; }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return a - b; }
V16_INLINE v16 v16_mul(v16 a, v16 b) { return a * b; }
V16_INLINE v16 v16_div(v16 a, v16 b) { return a / b; }
V16_INLINE v16 v16_sqrt(v16 a) {
    for (int i = 0; i < 16; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) {
#if defined(__aarch64__) || defined(__FP_FAST_FMAF)
    for (int i = 0; i < 16; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#else
    return a * b + c;
#endif
}

V16_INLINE m16 v16_lt(v16 a, v16 b) { return a < b; }
V16_INLINE m16 v16_le(v16 a, v16 b) { return a <= b; }
V16_INLINE m16 v16_eq(v16 a, v16 b) { return a == b; }
V16_INLINE m16 v16_isnan(v16 a) { return a != a; }
/* The lanes i < n. */
V16_INLINE m16 m16_first(long n) {
    const m16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return lane < (int32_t)n;
}
V16_INLINE m16 m16_and(m16 a, m16 b) { return a & b; }
V16_INLINE m16 m16_or(m16 a, m16 b) { return a | b; }
/* mask ? a : b in each lane. */
V16_INLINE v16 v16_select(m16 mask, v16 a, v16 b) { return (v16)((mask & (m16)a) | (~mask & (m16)b)); }
V16_INLINE v16 v16_max(v16 a, v16 b) { return v16_select(a > b, a, b); }

/* 2^n for integral n in [-126, 127]. */
V16_INLINE v16 v16_power2(v16 n) { return (v16)((__builtin_convertvector(n, m16) + 127) << 23); }

/* x * 2^n for integral n in [-126, 128], in two steps, since 2^128 is no float32. */
V16_INLINE v16 v16_scale2(v16 x, v16 n) {
    const v16 magic = v16_set1(12582912.0f);
    v16 half = v16_sub(v16_add(v16_mul(n, v16_set1(0.5f)), magic), magic);
    return v16_mul(v16_mul(x, v16_power2(half)), v16_power2(v16_sub(n, half)));
}

/* A positive normal x as 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)). */
V16_INLINE v16 v16_split(v16 x, v16 *exponent) {
    m16 e = ((m16)x - 0x3f3504f3) >> 23;
    *exponent = __builtin_convertvector(e, v16);
    return (v16)((m16)x - (e << 23));
}

V16_INLINE v16 v16_load_bf16_n(const uint16_t *p, long n) {
    v16_bits bits = {0};
    for (long i = 0; i < n; i++) bits[i] = (uint32_t)p[i] << 16;
    return (v16)bits;
}
/* To the nearest bfloat16, ties to even; a NaN stays one. */
V16_INLINE void v16_store_bf16_n(uint16_t *p, v16 x, long n) {
    v16_bits bits = (v16_bits)x, isnan = (v16_bits)v16_isnan(x);
    v16_bits rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, quiet = (bits >> 16) | 0x40;
    rounded = (isnan & quiet) | (~isnan & rounded);
    for (long i = 0; i < n; i++) p[i] = (uint16_t)rounded[i];
}
V16_INLINE v16 v16_load_bf16(const uint16_t *p) { return v16_load_bf16_n(p, 16); }
V16_INLINE void v16_store_bf16(uint16_t *p, v16 x) { v16_store_bf16_n(p, x, 16); }
