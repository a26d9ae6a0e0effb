"""RMS norms on the GPU. `sum` along a row follows the tile's layout, which columns and warps fix: one build for a row's shape.

Row strides come in units of 16 bytes, so that their alignment is known and no other build exists.
"""

import triton
import triton.language as tl

from isotherm.kernels.activation.triton_kernels import sigmoid, silu
from isotherm.kernels.gpu.triton_kernels import take_turn


@triton.jit
def inverse_rms(x, eps, D: tl.constexpr):
    """1 / sqrt(mean(x^2) + eps) of each row of x [rows, columns] float32, zeros beyond D columns."""
    return 1.0 / tl.sqrt_rn(tl.sum(x * x, 1) / D + eps)


@triton.jit(do_not_specialize=["x_units"])
def rms_norm(
    x, weight, out, x_units, eps, D: tl.constexpr, BD: tl.constexpr, UNIT: tl.constexpr, OVERLAP: tl.constexpr
):
    """One row a program."""
    take_turn(OVERLAP)
    row = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, BD)[None, :]
    live = d < D
    b_x = tl.load(x + row * x_units * UNIT + d, mask=live, other=0.0).to(tl.float32)
    y = b_x * inverse_rms(b_x, eps, D)[:, None] * tl.load(weight + d, mask=live, other=0.0)
    tl.store(out + row * D + d, y.to(out.dtype.element_ty), mask=live)


@triton.jit(do_not_specialize=["x_units", "gate_units"])
def gated_rms_norm(
    x, gate, weight, out, x_units, gate_units, eps,
    HEADS: tl.constexpr, D: tl.constexpr, BH: tl.constexpr, BD: tl.constexpr, UNIT: tl.constexpr, SIGMOID: tl.constexpr,
    OVERLAP: tl.constexpr,
):  # fmt: skip
    """BH heads of a row a program. SIGMOID: gated by sigmoid(gate), else by silu(gate)."""
    take_turn(OVERLAP)
    row = tl.program_id(0).to(tl.int64)
    head, d = tl.program_id(1) * BH + tl.arange(0, BH)[:, None], tl.arange(0, BD)[None, :]
    live, column = (head < HEADS) & (d < D), head * D + d
    b_x = tl.load(x + row * x_units * UNIT + column, mask=live, other=0.0).to(tl.float32)
    b_g = tl.load(gate + row * gate_units * UNIT + column, mask=live, other=0.0).to(tl.float32)
    y = b_x * inverse_rms(b_x, eps, D)[:, None] * tl.load(weight + d, mask=d < D, other=0.0)
    y *= sigmoid(b_g) if SIGMOID else silu(b_g)
    tl.store(out + row * HEADS * D + column, y.to(out.dtype.element_ty), mask=live)
