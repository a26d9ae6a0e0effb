"""Which GPU there is, and whether the Triton kernels run on it. Imports Triton only to load them."""

import importlib.util
import logging
from typing import TYPE_CHECKING, cast

import torch

from isotherm.core.config import DType
from isotherm.core.errors import ConfigError
from isotherm.kernels.gpu.launch import interpreted

if TYPE_CHECKING:
    from isotherm.kernels.api import Kernels

log = logging.getLogger("isotherm")

LEAST_CAPABILITY = (8, 0)
"""Products of bfloat16 by matrix units."""


def no_cuda() -> str | None:
    """Why there is no device for the Triton kernels; None when there is one."""
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed: pip install 'isotherm[gpu]'"
    if interpreted():
        return None
    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    if torch.cuda.get_device_capability() < LEAST_CAPABILITY:
        return f"{torch.cuda.get_device_name()} is older than compute capability {LEAST_CAPABILITY[0]}.{LEAST_CAPABILITY[1]}"
    return None


def load_triton(dtype: DType, threads: int) -> "Kernels":
    """The Triton kernels on the current CUDA device, in bfloat16. Raises ConfigError saying what is missing."""
    if (reason := no_cuda()) is not None:
        raise ConfigError("device", f"cuda cannot be honoured: {reason}")
    from isotherm.kernels.triton_provider import TritonKernels

    if interpreted():
        return cast("Kernels", TritonKernels(torch.float32, torch.device("cpu"), threads or 1))
    if dtype == "float32":
        raise ConfigError("dtype", "cuda computes in bfloat16: float32 needs --device cpu")
    device = torch.device("cuda", torch.cuda.current_device())
    log.info("kernels: Triton on %s, bfloat16", torch.cuda.get_device_name(device))
    return cast("Kernels", TritonKernels(torch.bfloat16, device, threads or 1))


def available_bytes(device: torch.device, utilization: float, reserve: int) -> int:
    """What of the device's memory is left for state: `utilization` of all of it, less what is in use and `reserve`."""
    free, total = torch.cuda.mem_get_info(device)
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free + cached - (1 - utilization) * total - reserve)
