"""The GPU suite needs a CUDA device and Triton; elsewhere every test is skipped and says why."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))  # segmented.py


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    if torch.cuda.is_available():
        return
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture
def device() -> torch.device:
    torch.manual_seed(0)
    return torch.device("cuda")
