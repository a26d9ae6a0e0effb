"""RMS norm, and its form gated by silu.

rms_norm: y = x * r * weight with r = 1 / sqrt(sum(x^2) / D + eps), in that order, in float32.
gated_rms_norm: the same over each D columns of a row, times silu(gate). sigmoid_gated_rms_norm: times sigmoid(gate).

Split law (C): the squares are summed by one accumulator of 16 lanes over ascending columns (lane j holds columns j, j+16, ...;
absent columns count as 0), and the lanes by the tree of v16_hsum. Rows and heads are independent; threads take whole rows.
Rounding: once, of y, to the activation type.
"""
