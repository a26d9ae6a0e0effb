"""A tiny checkpoint rewritten as released block-FP8 checkpoints are."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from isotherm.kernels.weight import BLOCK, FP8
from isotherm.model.fields import read_json
from isotherm.model.quantization import SCALES

QUANTIZED = (
    "in_proj_qkvz",
    "in_proj_qkv",
    "in_proj_z",
    "out_proj",
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "gate_up_proj",
)
"""Modules that are converted; routers, gates, `in_proj_ba`, the head and what is not a projection are kept."""

_MOST = 448.0  # of e4m3


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """weight [..., N, K] -> [..., N, K] FP8 and scales [..., ceil(N/128), ceil(K/128)] float32: a block's largest is 448."""
    *outer, n, k = weight.shape
    tall, wide = -(-n // BLOCK), -(-k // BLOCK)
    padded = weight.new_zeros(*outer, tall * BLOCK, wide * BLOCK, dtype=torch.float32)
    padded[..., :n, :k] = weight
    blocks = padded.view(*outer, tall, BLOCK, wide, BLOCK)
    scales = (blocks.abs().amax((-3, -1)) / _MOST).clamp_min(1e-12)
    values = (blocks / scales[..., :, None, :, None]).clamp(-_MOST, _MOST).to(FP8)
    return values.view(padded.shape)[..., :n, :k].contiguous(), scales


def convert(folder: Path) -> None:
    """Rewrites the checkpoint of one file in `folder`: projections in FP8, and a quantization_config that names what is kept."""
    file = folder / "model.safetensors"
    tensors, kept = {}, []
    for name, tensor in load_file(file).items():
        module = name.removesuffix(".weight")
        if tensor.dim() > 1 and module.rsplit(".", 1)[-1] in QUANTIZED:
            tensors[name], tensors[name + SCALES] = quantize(tensor)
        else:
            tensors[name] = tensor
            kept += [module] if name.endswith(".weight") else []
    save_file(tensors, file, {"format": "pt"})
    config = read_json(folder / "config.json")
    config["quantization_config"] = {
        "activation_scheme": "dynamic",
        "fmt": "e4m3",
        "modules_to_not_convert": kept,
        "quant_method": "fp8",
        "weight_block_size": [BLOCK, BLOCK],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
