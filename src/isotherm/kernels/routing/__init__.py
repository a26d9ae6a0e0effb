"""Mixture of experts: which experts a row uses (route), their pairs by expert (group), and their sum (combine).

route: p = exp(x - max x) / sum, the k largest x (ties to the lower id), optionally divided by their own sum.
combine: y = round((residual + s) + sigmoid(shared_gate) * shared) with s the sum over the row's experts of weight * pair.

Split law (C): the softmax's sum is one accumulator of 16 lanes over ascending experts (lane j holds experts j, j+16, ...), and
the lanes by the tree of v16_hsum. The weights are renormalised by their sum over ascending ids. s is one accumulator, from 0,
a fused multiply-add an expert, ascending; the last addition is fused too (unfused on plain x86-64). Rows are independent.
Rounding: once, of y. Weights are float32 and are not rounded.
"""
