"""Linear layers, logits, and the embedding that shares their weight.

linear: y[m, n] = round(residual[m, n] + sum_k x[m, k] w[n, k]); logits is the sum itself, float32. embed: rows of the weight.

Split law (C): an output is one float32 accumulator, from 0, over ascending k, whatever M, the tile, its place or the thread; the
residual is added to the finished sum. bfloat16 on AVX512_BF16 adds pairs k = 2s, 2s+1 by vdpbf16ps; elsewhere bfloat16 is
widened and each k is one fused multiply-add (two roundings on plain x86-64, which has no FMA). An odd K ends in a pair with 0.
On AMX, 16 pairs make one term: even k in one chain from 0, odd k in another, and their sum is added (tile_matrix.h).
Subnormal numbers count as zero in every C kernel (native/pool.c).
Split law (Triton, bfloat16): one float32 accumulator an output, from 0, over ascending k in the matrix unit's own steps of 16; no
split of K. Tiles, warps, stages, pointers or descriptors change no bit: tests/gpu compares every tile of every table.
Split law (torch): x and the rounded weight in float32, one matrix-vector product of one shape a row.
Rounding: the weight at load, to the activation type; y once, to the activation type (logits not at all).
"""
