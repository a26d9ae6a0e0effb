"""Depthwise causal convolution over time, then SiLU: y_p = silu(sum_j w_j x_{p-(W-1-j)e}), dilation e (1 but for Flash-Next).

Split law. An output is one float32 chain of fused multiply-adds over the taps, oldest first, starting from zero; then
silu(s) = s * sigmoid(s) in float32. Channels are independent.

Rounding points. The output, once, to the activation type. Inputs are kept (lane and history) as they came, already rounded.

What a sequence keeps: `rows[lane, p % 64]` the input at p for every position since the last block boundary, and
`history[slot]` the (W-1)e inputs before a boundary, oldest first (zeros before position 0).
"""
