"""The rotary table: one float32 table, built at load to the maximum length."""

import torch

from isotherm.kernels.api import RopeTable
from isotherm.model.spec import RopeSpec


def rope_table(spec: RopeSpec, positions: int, device: torch.device | str = "cpu") -> RopeTable:
    """On `device`: cos and sin of position * theta^(-2i/rotary_dim) / factor, [positions, rotary_dim/2] float32.

    The angle is formed in float32, as the released checkpoints' reference code does; its cosine and sine in float64,
    rounded once, so that the table does not depend on a vector library. Formula: Su et al. 2021, RoFormer, eq. 15.
    """
    half = torch.arange(0, spec.rotary_dim, 2, dtype=torch.float32)
    frequency = 1.0 / (spec.theta ** (half / spec.rotary_dim)) / spec.factor
    angle = torch.arange(positions, dtype=torch.float32)[:, None] * frequency[None, :]
    cos, sin = angle.double().cos().float().contiguous(), angle.double().sin().float().contiguous()
    return RopeTable(cos=cos.to(device), sin=sin.to(device))
