"""The gated delta rule (Yang, Kautz, Hatamizadeh 2024, arXiv:2412.06464), in chunks of 64 tokens from a float32 state.

For one value head, with S [DK, DV] the state, the recurrence is

    S_t = exp(g_t) S_{t-1} + k_t^T u_t,   u_t = beta_t (v_t - k_t exp(g_t) S_{t-1}),   o_t = q_t S_t.

State exists at multiples of 64 only. Let h be the state at the last boundary, and i, j count positions since it:

    k_i, q_i  l2-normalised: x * (1 / sqrt(sum x^2 + 1e-6)), q then times DK^-0.5
    G_i     = G_{i-1} + g_i                                       g = decay * softplus(a + dt_bias), beta = sigmoid(b)
    a_ij    = (beta_i (k_i . k_j)) exp(G_i - G_j)                 j < i
    p_ij    = (q_i . k_j) exp(G_i - G_j)                          j <= i
    u_i     = beta_i (v_i - exp(G_i) (k_i . h)) - sum_{j<i} a_ij u_j
    o_i     = exp(G_i) (q_i . h) + sum_{j<=i} p_ij u_j
    h'      = exp(G_63) h + sum_{j<=63} (k_j exp(G_63 - G_j))^T u_j

Split law (C form). Everything is float32. Every dot (over d) and every sum (over j) is one accumulator and one chain of fused
multiply-adds over the ascending index. Dots start from zero; u_i, o_i and h' start from their first term as written.
v - exp(G) (k . h) is one fused multiply-add. Lanes run across columns of v (or across j for k.k and q.k), so a tile is only a
choice of which chains run side by side. Squares of the norm are summed in 16 lanes over ascending groups of 16 columns, then
across lanes in vec.h's tree. The torch form has the same terms, each sum one torch call of fixed shape over 64 masked places.

Split law (Triton form, bfloat16). The sum over u is solved in two halves of 32 rows. Let b be the first row of i's half:

    D_ic = [i = c] - sum_{b<=j<i} a_ij D_jc          c in the half; float32, one chain of fused multiply-adds over ascending j
    x_i  = beta_i (v_i - exp(G_i) (k_i . h)) - sum_{j<b} a_ij u_j
    u_i  = x_i + sum_{b<=j<i} D_ij x_j

Every other sum is a dot of the matrix unit, from its first term as accumulator, over ascending index; exact zeros of masked
terms change nothing. Dots read these rounded to bfloat16: k, q (scaled), h, v, a and D left of the diagonal, x, u, p, and in
h' the product u_j exp(G_63 - G_j). x_i is float32 in the sum of its own row. G, beta, D, h are float32. A lane keeps k, v,
beta, G, x, u, D, and h rounded; v and beta only so that a chunk can be computed whole from its middle. A row is computed
alone, or with its chunk: the same terms in the same order (seen equal on an H200: docs/gpu.md).

Rounding points. C and torch forms: the output o, once, to the activation type. What is kept (k, u, G) is float32, and the
kept value is the one used. State is float32 always.

What a sequence keeps since its last boundary: k a key head, u and G a value head. Snapshots are h at a boundary.
"""
