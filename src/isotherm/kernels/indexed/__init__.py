"""Indexed attention (QSA): an indexer scores groups of R keys, and a row attends to the best of them and to its own last group.

A token keeps a raw index key. Groups begin at absolute multiples of R; when the last token of one has come, its pooled key is
made: the mean of the raw keys, an RMS norm, and rotation at the group's first position. R divides 64, so a group lies in one
block. The row at t sees n = floor((t+1) / R) complete groups, and scores each:

    score_j = (sum over ascending heads h of max(q_h . pooled_j, 0)) / sqrt(D)

It attends to the `most` best, ties to the earlier group, and to the keys from nR to t; to all keys while n <= most. Keys stay
in their places: what is not chosen is masked, and a block of 64 in which nothing is chosen is passed over. Both are a function
of the row alone, so prefill and decode agree.

Where token 0 is left out (`IndexShape.skip`, a drafter), the first pooled key is the mean of R - 1 raw keys, and key 0 is masked
for every row beyond position 0.

Split law (C form). q . pooled is one accumulator of 16 lanes over ascending columns, then vec.h's tree. Attention visits the
blocks of 64 with a chosen key in ascending order, in one online softmax from m = -inf: q . k as q . pooled; the sum of p lane by
lane over the four groups of 16 keys, then the tree; P.V one chain of fused multiply-adds an output over the chosen keys,
ascending. The torch form makes every block a split of its own, as isotherm.kernels.attention does, and sums as torch does on
one shape.

Split law (Triton form). A choice is a row's list of its blocks with a chosen key, ascending. Scores leave out the root,
which changes no order: q . pooled is one dot over all columns, and heads are summed ascending. The least score that is
chosen is found by counting, and ties by their place: integers, in any order the same. Attention visits the list in splits of
8 entries of it, block by block as isotherm.kernels.attention does (exponentials of base two, l a dot with ones), and merges
splits ascending. No row shares a tile with another, and no block without a chosen key is visited, so beyond the budget a
decode costs the same however long the context, but for the scores.

Rounding points. Raw keys come rounded. The mean is summed in float32 over ascending tokens, divided by their number, and
rounded; the pooled key is rounded once more, after norm and rotation, and only that is cached and used. Scores are float32. p is
rounded for P.V and summed unrounded (Triton: rounded). The output is rounded once.
"""
