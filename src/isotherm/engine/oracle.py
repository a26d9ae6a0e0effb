"""transformers' own class on a checkpoint's weights, in float32."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from isotherm.kernels.weight import FP8, Fp8Weight
from isotherm.model.quantization import SCALES, read_quantization


def transformers_model(folder: Path) -> Any:
    """The model in `folder`. FP8 weights are those that they stand for: transformers' own FP8 needs a GPU."""
    import transformers

    if read_quantization(folder) is None:
        return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    config = transformers.AutoConfig.from_pretrained(folder)
    for part in (config, config.get_text_config()):
        if hasattr(part, "quantization_config"):
            del part.quantization_config
    with torch.device("meta"):
        kind = type(transformers.AutoModelForCausalLM.from_config(config))
    weights = _dequantized(folder)
    return kind.from_pretrained(None, config=config, state_dict=weights, dtype=torch.float32).eval()


def _dequantized(folder: Path) -> dict[str, Tensor]:
    tensors = {
        name: tensor for file in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(file).items()
    }
    return {
        name: Fp8Weight.of_blocks(tensor, tensors[f"{name}{SCALES}"]).dequantized() if tensor.dtype == FP8 else tensor
        for name, tensor in tensors.items()
        if not name.endswith(SCALES)
    }
