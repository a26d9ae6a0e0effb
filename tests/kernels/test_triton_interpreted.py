"""The logic of the Triton kernels, in Triton's interpreter on the CPU: tiny shapes, float32, against the definitions.

Bits are the GPU suite's business (tests/gpu). The interpreter is chosen when Triton is imported, so these run in a process of
their own.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

_CASES = {
    "triton_cases.py": ("linear", "fp8", "gated_delta", "delta_rows_alone", "attention"),
    "triton_cases_rows.py": ("norm", "activation", "rope", "convolution", "shift"),
    "triton_cases_flash.py": ("streams", "ngrams", "indexed"),
    "triton_cases_choice.py": ("largest", "noise", "rules"),
    "triton_cases_experts.py": ("route", "group", "layer", "fp8"),
}


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed (pip install 'isotherm[gpu]')"
)
@pytest.mark.parametrize(("script", "case"), [(script, case) for script, cases in _CASES.items() for case in cases])
def test_interpreted_kernels_agree_with_the_definition(script: str, case: str) -> None:
    here = Path(__file__).parent
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(here.parents[1] / "src"), str(here)])
    command = [sys.executable, str(here / script), case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    if "NUMPY_TOO_NEW" in done.stdout:
        pytest.skip("this Triton's interpreter does not run on the installed NumPy")
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
