"""Gumbel noise of token ids from a counter, on the GPU: the words and the logarithms of the C form (noise.h, math.h), exactly."""

import triton
import triton.language as tl


@triton.jit
def _words(ids, key):
    """The 32-bit word of each token id. key: a pointer to seed, choice, position, int64."""
    seed = tl.load(key)
    zero = ids * 0
    k0, k1 = (
        (zero + seed.to(tl.int32)).to(tl.uint32, bitcast=True),
        (zero + (seed >> 32).to(tl.int32)).to(tl.uint32, bitcast=True),
    )
    c0 = (ids >> 2).to(tl.uint32, bitcast=True)
    c1 = (zero + tl.load(key + 2).to(tl.int32)).to(tl.uint32, bitcast=True)
    c2 = (zero + tl.load(key + 1).to(tl.int32)).to(tl.uint32, bitcast=True)
    c3 = zero.to(tl.uint32, bitcast=True)
    m0, m1 = tl.full(ids.shape, 0xD2511F53, tl.uint32), tl.full(ids.shape, 0xCD9E8D57, tl.uint32)
    w0, w1 = tl.full(ids.shape, 0x9E3779B9, tl.uint32), tl.full(ids.shape, 0xBB67AE85, tl.uint32)
    for _ in tl.static_range(10):
        high0, high1 = tl.umulhi(m0, c0), tl.umulhi(m1, c2)
        low0, low1 = m0 * c0, m1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += w0
        k1 += w1
    n = ids & 3
    return tl.where(n == 0, c0, tl.where(n == 1, c1, tl.where(n == 2, c2, c3)))


@triton.jit
def _log(x):
    """ln x of positive normal x, within 2 ulp: v16_log."""
    bits = x.to(tl.int32, bitcast=True)
    e = (bits - 0x3F3504F3) >> 23
    f = (bits - (e << 23)).to(tl.float32, bitcast=True) - 1.0
    e = e.to(tl.float32)
    f2, one = f * f, f * 0.0
    p = tl.fma(f, one - 7.6344983800e-02, one + 1.2761578509e-01)
    p = tl.fma(p, f, one - 1.3160182392e-01)
    p = tl.fma(p, f, one + 1.4201757804e-01)
    p = tl.fma(p, f, one - 1.6623357326e-01)
    p = tl.fma(p, f, one + 2.0001226884e-01)
    p = tl.fma(p, f, one - 2.5000821035e-01)
    p = tl.fma(p, f, one + 3.3333331708e-01)
    p = tl.fma(p * f, f2, e * -2.12194440e-4)
    p = f + tl.fma(f2, one - 0.5, p)
    return tl.fma(e, one + 0.693359375, p)


@triton.jit
def _log1p(x):
    """ln(1 + x) of finite x >= 0: v16_log1p."""
    u = 1.0 + x
    return _log(u) + tl.div_rn(x - (u - 1.0), u)


@triton.jit
def gumbel(ids, key):
    """-log(-log u) of each token id, u = (word + 1/2) / 2^32."""
    word = _words(ids, key).to(tl.int32, bitcast=True)
    nearer = (tl.where(word < 0, ~word, word).to(tl.float32) + 0.5) * 2.3283064365386963e-10  # min(u, 1 - u)
    rate = tl.where(word < 0, _log1p(tl.div_rn(nearer, 1.0 - nearer)), -_log(nearer))
    return -_log(rate)
