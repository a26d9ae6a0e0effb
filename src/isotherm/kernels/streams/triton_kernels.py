"""Hyper-connections on the GPU. A row of streams is S times H columns.

`sum` along a row follows the tile's layout, which columns and warps fix: one build for a row's shape, as in
isotherm.kernels.norm; strides of its inputs come in units of 16 bytes. The others are per element, sums over streams ascending.
"""

import triton
import triton.language as tl

from isotherm.kernels.activation.triton_kernels import sigmoid, silu
from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.norm.triton_kernels import inverse_rms


@triton.jit(do_not_specialize=["x_units"])
def stream_norm(
    x, weight, out, x_units, eps, S: tl.constexpr, H: tl.constexpr, BH: tl.constexpr, UNIT: tl.constexpr, OVERLAP: tl.constexpr
):  # fmt: skip
    """One stream of one row a program."""
    take_turn(OVERLAP)
    row, h = tl.program_id(0).to(tl.int64), tl.arange(0, BH)[None, :]
    live, column = h < H, tl.program_id(1) * H + h
    b_x = tl.load(x + row * x_units * UNIT + column, mask=live, other=0.0).to(tl.float32)
    y = b_x * inverse_rms(b_x, eps, H)[:, None] * tl.load(weight + column, mask=live, other=0.0)
    tl.store(out + row * S * H + column, y.to(out.dtype.element_ty), mask=live)


@triton.jit
def signed_root(d):
    """sign(d) sqrt(max(|d|, 1e-6)), 0 of 0."""
    root = tl.sqrt_rn(tl.maximum(tl.abs(d), 1e-6))
    return tl.where(d == 0.0, 0.0, tl.where(d < 0.0, -root, root))


@triton.jit(do_not_specialize=["key_units", "query_units", "value_units"])
def stream_gate(
    key, query, value, out, key_units, query_units, value_units, root,
    S: tl.constexpr, H: tl.constexpr, BH: tl.constexpr, UNIT: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """One stream of one row a program. root: sqrt(H)."""
    take_turn(OVERLAP)
    row, h = tl.program_id(0).to(tl.int64), tl.arange(0, BH)[None, :]
    live, column = h < H, tl.program_id(1) * H + h
    b_k = tl.load(key + row * key_units * UNIT + column, mask=live, other=0.0).to(tl.float32)
    b_q = tl.load(query + row * query_units * UNIT + column, mask=live, other=0.0).to(tl.float32)
    gate = sigmoid(signed_root(tl.sum(b_k * b_q, 1) / root))[:, None]
    b_v = tl.load(value + row * value_units * UNIT + h, mask=live, other=0.0).to(tl.float32)
    tl.store(out + row * S * H + column, (gate * b_v).to(out.dtype.element_ty), mask=live)


@triton.jit
def _columns(width, BD: tl.constexpr):
    """A row and BD of its columns, a program."""
    column = tl.program_id(1) * BD + tl.arange(0, BD)
    return tl.program_id(0).to(tl.int64), column, column < width


@triton.jit
def stream_mix(
    x, gate, out, x_stride, gate_stride, S: tl.constexpr, H: tl.constexpr, BD: tl.constexpr, OVERLAP: tl.constexpr
):
    """The mean over streams of sigmoid(gate) * x."""
    take_turn(OVERLAP)
    row, h, live = _columns(H, BD)
    total = tl.zeros((BD,), tl.float32)
    for s in tl.static_range(S):
        b_x = tl.load(x + row * x_stride + s * H + h, mask=live, other=0.0).to(tl.float32)
        b_g = tl.load(gate + row * gate_stride + s * H + h, mask=live, other=0.0).to(tl.float32)
        total = tl.fma(sigmoid(b_g), b_x, total)
    tl.store(out + row * H + h, (total / S).to(out.dtype.element_ty), mask=live)


@triton.jit
def stream_add(
    x, y, gate, out, x_stride, y_stride, gate_stride, S: tl.constexpr, H: tl.constexpr, BD: tl.constexpr, OVERLAP: tl.constexpr
):  # fmt: skip
    """x_s + y * 2 sigmoid(gate_s / S), BD columns of every stream a program."""
    take_turn(OVERLAP)
    row, h, live = _columns(H, BD)
    b_y = tl.load(y + row * y_stride + h, mask=live, other=0.0).to(tl.float32)
    for s in tl.static_range(S):
        weight = 2.0 * sigmoid(tl.load(gate + row * gate_stride + s).to(tl.float32) / S)
        b_x = tl.load(x + row * x_stride + s * H + h, mask=live, other=0.0).to(tl.float32)
        sum_s = tl.fma(b_y, tl.zeros_like(b_y) + weight, b_x)
        tl.store(out + row * S * H + s * H + h, sum_s.to(out.dtype.element_ty), mask=live)


@triton.jit
def scaled_silu(x, out, x_stride, width, divisor, BD: tl.constexpr, OVERLAP: tl.constexpr):
    """silu(x / divisor)."""
    take_turn(OVERLAP)
    row, column, live = _columns(width, BD)
    b_x = tl.load(x + row * x_stride + column, mask=live, other=0.0).to(tl.float32)
    tl.store(out + row * width + column, silu(b_x / divisor).to(out.dtype.element_ty), mask=live)


@triton.jit
def stream_sum(x, a, b, out, x_stride, a_stride, b_stride, width, BD: tl.constexpr, OVERLAP: tl.constexpr):
    """x + (a + b)."""
    take_turn(OVERLAP)
    row, column, live = _columns(width, BD)
    b_x = tl.load(x + row * x_stride + column, mask=live, other=0.0).to(tl.float32)
    b_a = tl.load(a + row * a_stride + column, mask=live, other=0.0).to(tl.float32)
    b_b = tl.load(b + row * b_stride + column, mask=live, other=0.0).to(tl.float32)
    tl.store(out + row * width + column, (b_x + (b_a + b_b)).to(out.dtype.element_ty), mask=live)
