"""The engine on the Triton kernels, in Triton's interpreter on the CPU: the C kernels' tokens, through padded passes too."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed (pip install 'isotherm[gpu]')"
)


@needs_triton
@pytest.mark.parametrize("kind", ["qwen3_5", "qwen3_next", "qwen4_exp"])
def test_an_interpreted_engine_writes_the_tokens_of_the_c_kernels(kind: str) -> None:
    interpreted("triton_engine.py", kind)


@needs_triton
@pytest.mark.parametrize("kind", ["qwen3_next", "qwen4_exp"])
def test_an_interpreted_prefill_that_is_padded_equals_a_plain_one_to_the_last_bit_of_state(kind: str) -> None:
    interpreted("triton_prefills.py", kind)


def interpreted(script: str, kind: str) -> None:
    """Runs a script in a process of its own: the interpreter is chosen when Triton is imported."""
    here = Path(__file__).parent
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(here.parents[1] / "src"), str(here.parent / "gpu")]),
    }
    command = [sys.executable, str(here / script), kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    if "NUMPY_TOO_NEW" in done.stdout:
        pytest.skip("this Triton's interpreter does not run on the installed NumPy")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
