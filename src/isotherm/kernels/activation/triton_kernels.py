"""Gates on the GPU, elementwise: a program takes a tile of BM rows and BD columns, whose size is no part of the bits."""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn


@triton.jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def silu(x):
    """x / (1 + exp(-x))."""
    return x / (1.0 + tl.exp(-x))


@triton.jit
def _tile(rows, d, BM: tl.constexpr, BD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = tl.program_id(1) * BD + tl.arange(0, BD)[None, :]
    return row, column, (row < rows) & (column < d)


@triton.jit(do_not_specialize=["rows"])
def silu_mul(gate_up, out, stride, rows, d, BM: tl.constexpr, BD: tl.constexpr, OVERLAP: tl.constexpr):
    """out [M, d] = silu(gate_up[:, :d]) * gate_up[:, d:]."""
    take_turn(OVERLAP)
    row, column, live = _tile(rows, d, BM, BD)
    p = gate_up + row * stride + column
    gate, up = tl.load(p, mask=live, other=0.0).to(tl.float32), tl.load(p + d, mask=live, other=0.0).to(tl.float32)
    tl.store(out + row * d + column, (silu(gate) * up).to(out.dtype.element_ty), mask=live)


@triton.jit(do_not_specialize=["rows"])
def sigmoid_mul(
    x, gate, out, x_stride, gate_stride, rows, d, BM: tl.constexpr, BD: tl.constexpr, OVERLAP: tl.constexpr
):
    """out [M, d] = x * sigmoid(gate)."""
    take_turn(OVERLAP)
    row, column, live = _tile(rows, d, BM, BD)
    b_x = tl.load(x + row * x_stride + column, mask=live, other=0.0).to(tl.float32)
    b_g = tl.load(gate + row * gate_stride + column, mask=live, other=0.0).to(tl.float32)
    tl.store(out + row * d + column, (b_x * sigmoid(b_g)).to(out.dtype.element_ty), mask=live)
