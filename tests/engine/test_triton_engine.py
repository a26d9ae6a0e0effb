"""The engine on the Triton kernels, in Triton's interpreter on the CPU: the C kernels' tokens, through padded passes too."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed (pip install 'isotherm[gpu]')"
)
@pytest.mark.parametrize("kind", ["qwen3_5", "qwen3_next"])
def test_an_interpreted_engine_writes_the_tokens_of_the_c_kernels(kind: str) -> None:
    here = Path(__file__).parent
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(here.parents[1] / "src"),
    }
    command = [sys.executable, str(here / "triton_engine.py"), kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    if "NUMPY_TOO_NEW" in done.stdout:
        pytest.skip("this Triton's interpreter does not run on the installed NumPy")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
