"""Gates: silu(gate) * up, and x * sigmoid(gate).

Split law: elementwise. silu(v) = v / (1 + exp(-v)), sigmoid(v) = 1 / (1 + exp(-v)), in float32 with math.h's exp (C).
Rounding: once, of the product.
"""
