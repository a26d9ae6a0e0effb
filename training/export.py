"""Writes the trained network as a Hugging Face folder, and reads its weights back."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from training.network import Network, Shape
from training.packing import load_tokenizer


def from_checkpoint(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The network's state from a checkpoint's tensors: the same names, in float32."""
    return {name: tensor.float() for name, tensor in weights.items()}


def config(shape: Shape) -> dict[str, object]:
    """config.json."""
    pairs = shape.rotary_dim // 2
    end, pad = (load_tokenizer().token_to_id(text) for text in ("<|im_end|>", "<|endoftext|>"))
    return {
        "architectures": ["Qwen3_5ForCausalLM"],
        "model_type": "qwen3_5_text",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": 32768,
        "initializer_range": 0.02,
        "rms_norm_eps": shape.eps,
        "use_cache": True,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "full_attention_interval": shape.full_attention_interval,
        "layer_types": list(shape.layer_types),
        "linear_conv_kernel_dim": shape.conv_kernel,
        "linear_key_head_dim": shape.linear_head_dim,
        "linear_value_head_dim": shape.linear_head_dim,
        "linear_num_key_heads": shape.linear_heads,
        "linear_num_value_heads": shape.linear_heads,
        "mamba_ssm_dtype": "float32",
        "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": False,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": shape.rope_theta,
            "partial_rotary_factor": shape.rotary_dim / shape.head_dim,
            "mrope_section": [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3],
            "mrope_interleaved": True,
        },
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": pad,
        "dtype": "bfloat16",
    }


def export(network: Network, folder: Path) -> None:
    """config.json, generation_config.json and model.safetensors in bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().to("cpu", torch.bfloat16).contiguous() for name, tensor in network.state_dict().items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config(network.shape), indent=2) + "\n")
    settings = {
        "do_sample": False,
        "temperature": 0.0,
        "eos_token_id": [config(network.shape)["eos_token_id"], config(network.shape)["pad_token_id"]],
        "pad_token_id": config(network.shape)["pad_token_id"],
    }
    (folder / "generation_config.json").write_text(json.dumps(settings, indent=2) + "\n")
