"""RMS norm of each head and rotation on the GPU; strides in units of 16 bytes, as in isotherm.kernels.norm."""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.norm.triton_kernels import inverse_rms


@triton.jit(do_not_specialize=["x_units"])
def norm_rope(
    x, weight, positions, cos, sin, out, x_units, eps,
    HEADS: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr, BH: tl.constexpr, BD: tl.constexpr, BR: tl.constexpr,
    UNIT: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """BH heads of a row a program; HALF columns rotate against the next HALF. The rotated columns are read once more."""
    take_turn(OVERLAP)
    row = tl.program_id(0).to(tl.int64)
    head, d, r = tl.program_id(1) * BH + tl.arange(0, BH)[:, None], tl.arange(0, BD)[None, :], tl.arange(0, BR)[None, :]
    p_x, p_out = x + row * x_units * UNIT + head * D, out + row * HEADS * D + head * D
    live, turned = (head < HEADS) & (d < D), (head < HEADS) & (r < HALF)
    b_x = tl.load(p_x + d, mask=live, other=0.0).to(tl.float32)
    scale = inverse_rms(b_x, eps, D)[:, None]
    y = b_x * scale * tl.load(weight + d, mask=d < D, other=0.0)
    tl.store(p_out + d, y.to(out.dtype.element_ty), mask=live & (d >= 2 * HALF))
    angle = tl.load(positions + row).to(tl.int64) * HALF + r
    c, s = tl.load(cos + angle, mask=r < HALF, other=0.0), tl.load(sin + angle, mask=r < HALF, other=0.0)
    first = tl.load(p_x + r, mask=turned, other=0.0).to(tl.float32)
    first = first * scale * tl.load(weight + r, mask=r < HALF, other=0.0)
    second = tl.load(p_x + HALF + r, mask=turned, other=0.0).to(tl.float32)
    second = second * scale * tl.load(weight + HALF + r, mask=r < HALF, other=0.0)
    c, s = tl.broadcast_to(c, (BH, BR)), tl.broadcast_to(s, (BH, BR))
    tl.store(p_out + r, tl.fma(-second, s, first * c).to(out.dtype.element_ty), mask=turned)
    tl.store(p_out + HALF + r, tl.fma(first, s, second * c).to(out.dtype.element_ty), mask=turned)
