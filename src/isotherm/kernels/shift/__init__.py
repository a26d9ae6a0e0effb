"""Each row's predecessor: y[t] = x[t-1], y[0] = 0, for an operation that reads the row before its own (the drafter).

State as a convolution of width 2 keeps it: the row before each boundary in the slot, the rows since it in the lane. Bits are only
copied.
"""
