"""Grouped expert linear: every (row, expert) pair of a routing times its expert's weight.

Split law: that of `linear`, exactly: a pair's output is one accumulator over ascending k, whatever else its expert was given.
Threads take equal ranges of tiles over all experts. Rounding: the weight at load; each pair's output once.
"""
