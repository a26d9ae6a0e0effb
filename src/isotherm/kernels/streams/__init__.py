"""Hyper-connections (Zhu et al. 2024, arXiv:2409.19606): a layer reads one row mixed from S residual streams and writes to each.

A row of streams is S rows of H columns side by side, [M, S*H]. With n the streams after their norms, u and g projections of n:

    stream_norm   n_s = x_s / sqrt(mean(x_s^2) + eps) * w_s               each stream by itself
    stream_mix    y = (sum over ascending s of sigmoid(u_s) n_s) / S
    stream_add    x_s + y * (2 sigmoid(g_s / S))
    scaled_silu   silu(x / S)                                             between the two halves of the low-rank mixer
    stream_gate   sigmoid(r_s) v, r_s = sign(d_s) sqrt(max(|d_s|, 1e-6)), d_s = (k_s . q_s) / sqrt(H); r_s = 0 where d_s = 0
    stream_sum    x + (a + b)

Split law (C form). Sums of squares and k . q are one accumulator of 16 lanes over ascending columns, then vec.h's tree; sums over
streams ascend, one fused multiply-add a stream. Everything else is per element. Rows are independent.

Split law (Triton form). Sums of squares and k . q follow the layout of the tile that holds a stream of one row, which the row's
shape fixes, as those of isotherm.kernels.norm do. The rest as in C.

Rounding points. Each result, once, to the activation type; so n, u, g, y, v and the gated values are kept rounded.
"""
