"""RMS norm of each head, then rotary embedding (Su et al. 2021, arXiv:2104.09864) of its first rotary_dim columns in halves.

    n = x * (1 / sqrt(mean(x^2) + eps)) * weight
    y[i] = n[i] cos - n[i + R/2] sin,   y[i + R/2] = n[i + R/2] cos + n[i] sin   for i < R/2;   y = n from R on

cos and sin come from one float32 table, by absolute position.

Split law (C form). Squares are summed as in isotherm.kernels.norm; everything else is per element: the product with cos is
rounded, the other joins it in a fused multiply-add. Rounding point: the output, once.
"""
