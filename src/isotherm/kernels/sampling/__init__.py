"""Log-sum-exp, the largest logits, and the choice of a token by Gumbel-max (Gumbel 1954): argmax(x + noise) with
x = (logit - max logit) / T.

Noise. Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3",
doi:10.1145/2063384.2063405), key = the seed's 64 bits (low word first), counter = (token id div 4, position, choice, 0), word =
token id mod 4. A word w gives
u = (w + 1/2) / 2^32 in (0, 1) and Gumbel noise -log(-log(u)), where -log(u) is taken from 1 - u = (2^32 - 1 - w + 1/2) / 2^32
when u is above one half, so that both tails keep float32's resolution. It depends on (seed, choice, position, token id) and
on nothing else.

Which tokens may be chosen, in vLLM's order. In the order (x descending, id ascending) each rule keeps a prefix: min_p
those with exp(x) >= min_p; top_k the first k; top_p, of what is left, every token before which the summed probability
is below top_p. A logit of -inf is never chosen. Temperature 0 is the largest logit, ties to the lowest id, with no noise.

Split law (C form). log_sum_exp: the maximum m, then exp(logit - m) summed in 16 lanes over ascending groups of 16, then
across lanes in vec.h's tree.
top_p: the total is that same sum where neither top_k nor min_p is set, else the sum of what they kept, in order; the running
sum is taken in order; all float32. Rounding points: none, everything is float32.
"""
