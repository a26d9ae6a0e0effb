"""Fixtures that all tests may use: tiny random checkpoints, one a kind, written once a session."""

from pathlib import Path

import pytest

import isotherm  # noqa: F401  before torch: it sets how long kernel threads wait

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe")


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny float32 checkpoints by kind, vocabulary 512."""
    from isotherm.model.tiny import write_tiny

    folders = {}
    for kind in KINDS:
        folders[kind] = tmp_path_factory.mktemp(kind)
        write_tiny(kind, folders[kind], seed=1, vocab_size=512, eos_token_id=511)
    return folders
