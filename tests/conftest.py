"""Fixtures that all tests may use: tiny random checkpoints, one a kind, written once a session."""

import os
from pathlib import Path

import pytest

import isotherm  # noqa: F401  before torch: it sets how long kernel threads wait

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp")
FP8_KINDS = ("qwen3_5-fp8", "qwen3_next-fp8")


class Folders(dict[str, Path]):
    """By kind; a test of one that this transformers cannot write is skipped."""

    def __missing__(self, kind: str) -> Path:
        pytest.skip(f"the installed transformers has no {kind}")


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny float32 checkpoints by kind, vocabulary 512; those in block FP8 have two blocks along K."""
    from isotherm.model.tiny import can_write, write_tiny
    from isotherm.model.tiny_fp8 import convert

    shape = {"linear_value_head_dim": 32} if os.environ.get("ISOTHERM_TEST_DEVICE") == "cuda" else {}
    folders = Folders()
    for kind in filter(can_write, KINDS):
        folders[kind] = tmp_path_factory.mktemp(kind)
        write_tiny(kind, folders[kind], seed=1, vocab_size=512, eos_token_id=511, **shape)
    for kind in FP8_KINDS:
        folders[kind] = tmp_path_factory.mktemp(kind)
        base = kind.removesuffix("-fp8")
        write_tiny(base, folders[kind], seed=1, vocab_size=512, eos_token_id=511, hidden_size=160, **shape)
        convert(folders[kind])
    return folders
