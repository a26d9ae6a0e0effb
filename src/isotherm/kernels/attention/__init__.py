"""Causal attention over paged keys and values, with the softmax built up online (Milakov, Gimelshein 2018, arXiv:1805.02867).

Query head h reads key-value head h // (Hq/H). The row at position t sees keys 0..t, by absolute position, in splits that begin
at multiples of SPLIT = 1024 and, inside a split, in blocks of 64:

    s_j = (q . k_j) * scale;  m' = max(m, max_j s_j);  c = exp(m - m');  p_j = exp(s_j - m')
    l = l c + sum_j p_j;  acc = acc c + sum_j round(p_j) v_j

Each split begins with m = -inf, l = 0, acc = 0. The splits merge in ascending order, the first one taken as it is:

    m' = max(m, m_s);  a = exp(m - m');  b = exp(m_s - m');  l = l a + l_s b;  acc = acc a + acc_s b

and the row's output is acc / l. Prefill and decode run these same functions.

Split law (C form). q . k is one accumulator over ascending d; P.V is one accumulator over the ascending keys of the block,
starting from acc c. In bfloat16 both take two terms a step (one dpbf16 instruction where the processor has it, else two fused
multiply-adds, the lower index first: another build); on AMX 32, as linear/tile_matrix.h has it. The sum of p is taken lane by
lane over the four groups of 16 keys in ascending order, then across lanes in vec.h's tree. Rows that share a tile share nothing
but loads. In the block of t itself, keys beyond t are set to -inf before the maximum, their p to 0, and P.V stops at t (the
other half of an odd last pair is cleared by AND), so that a row meets no bit of a later one. The torch form has SPLIT = 64 and
sums as torch does on one shape.

Split law (Triton form, bfloat16). SPLIT = 2048; exponentials are powers of two, s and scale joined by one fused multiply-add:
p_j = exp2(s_j scale' - m), scale' = scale log2(e). q . k, sum p and P.V are dots of the matrix unit over a whole block, from
l c and acc c; l sums the rounded p, by a dot with ones, since a sum along a tile's row follows its layout (seen: 2 to 24 of
7,030 rows differed). Keys beyond t in the block of t are masked and values beyond the segment's end are cleared, but a value
between the two meets a weight of 0: a later row whose value is not finite spoils the rows that share its tile.

Where asked (`skip`), key 0 is left out for every row beyond position 0: its s is set to -inf before the maximum.

Rounding points. q, k and v come rounded. p is rounded to the activation type for P.V; l sums it unrounded (Triton: rounded).
s, m, l and acc are float32. The output is rounded once.
"""
