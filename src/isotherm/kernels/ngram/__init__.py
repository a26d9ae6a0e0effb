"""Hashed n-grams (as in Engram and Qwen4's per-layer embedding): for each order 2..N, several places in one table of rows.

The token k before t counts as it is unless the end of a sequence stands among the k tokens before t, or t - k < 0: then it counts
as that end token. With the odd multipliers m and a prime size p a head:

    h = (token[t] m_0) xor (token[t-1] m_1) xor ... xor (token[t-n+1] m_{n-1});     place = h mod p + offset

Integers only: there is no order to state and nothing to round, so every provider runs one form. Products fit 63 bits, because the
multipliers are below 2^63 / vocabulary.

Tables are far larger than a GPU's memory, so for a model on a GPU too tokens are hashed, their histories kept and the
table's rows gathered on the CPU (`device_form`). The rows are sent with the numbers of the pass, in its one copy, where the
pass is recorded.

What a sequence keeps: as a convolution of width N and one channel does, each token plus one, so that 0 is "before the start" and
the zero slot is an empty history. Kept as float32, exact below 2^24, so that whoever owns the state may fill it with NaN.
"""
