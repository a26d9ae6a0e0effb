"""The embedded model as GGUF: `python convert.py LLAMA_CPP MODEL_FOLDER --outtype bf16 --no-mtp --outfile embedded.gguf`.

LLAMA_CPP has llama.cpp's converter, which recognises a tokenizer by a hash of its output and so cannot know ours; its
pre-tokenizer is Qwen3.5's. The chat template is taken along.
"""

import sys
from pathlib import Path

llama_cpp = Path(sys.argv.pop(1))
sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]

import convert_hf_to_gguf  # noqa: E402
from conversion.base import TextModel  # noqa: E402

TextModel.get_vocab_base_pre = lambda self, tokenizer: "qwen35"
convert_hf_to_gguf.main()
