"""Write the random checkpoint that docs/performance.md measures: qwen3_5, 245 M parameters, bf16.

python benchmarks/make_checkpoint.py FOLDER
"""

import sys
from pathlib import Path

import torch

from isotherm.model.tiny import write_tiny

SHAPE = {
    "vocab_size": 32768,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "linear_num_key_heads": 8,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "max_position_embeddings": 32768,
    "tie_word_embeddings": True,
    "initializer_range": 0.02,
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(write_tiny("qwen3_5", Path(sys.argv[1]), dtype=torch.bfloat16, **SHAPE))
