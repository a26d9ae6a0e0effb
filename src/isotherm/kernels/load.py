"""Chooses and loads the kernel provider."""

import logging
import os
from typing import cast

from isotherm.core.config import Device, DType, Provider
from isotherm.core.errors import ConfigError
from isotherm.kernels.api import Kernels
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.gpu.device import load_triton, no_cuda
from isotherm.kernels.native.build import build
from isotherm.kernels.native.isa import choose_dtype, choose_isa
from isotherm.kernels.native.library import Library
from isotherm.kernels.torch_provider import TorchKernels

_LOG = logging.getLogger(__name__)


def load_kernels(
    provider: Provider = "auto", dtype: DType = "auto", threads: int = 0, isa: str | None = None
) -> Kernels:
    """The provider for this process; threads 0 is one a core. Logs what was chosen.

    "c" compiles at first use and raises ConfigError when it cannot. "torch" needs no compiler. "auto" is "c", or "torch"
    with a warning where no C library can be built. "triton" needs a CUDA device. isa: an instruction set instead of the best
    one (tests).
    """
    if provider == "triton":
        return load_triton(dtype, threads)
    chosen = choose_dtype(dtype)
    count = threads or len(os.sched_getaffinity(0))
    if provider == "torch":
        return cast(Kernels, TorchKernels(chosen, count))
    target = choose_isa(isa, chosen)
    try:
        native = Library(build(target, chosen), count)
    except (ConfigError, OSError) as error:
        if provider == "c":
            raise
        _LOG.warning("kernels: torch (%s, exact but slow), because the C kernels cannot be built: %s", chosen, error)
        return cast(Kernels, TorchKernels(chosen, count))
    _LOG.info("kernels: C for %s, %s, %d threads, %s", target, chosen, count, native.build.compiler)
    return cast(Kernels, CKernels(native))


def on_device(provider: Provider, device: Device) -> Provider:
    """The provider that `device` means: "triton" for a GPU. Raises ConfigError when they contradict each other."""
    if provider not in ("auto", "triton") and device == "cuda":
        raise ConfigError("kernels", f"{provider} runs on the CPU; leave it at auto for --device cuda")
    if provider == "auto" and (device == "cuda" or (device == "auto" and no_cuda() is None)):
        return "triton"
    return provider


def with_threads(kernels: Kernels, threads: int) -> Kernels:
    """The same build on another number of threads: it reads the same packed weights, and gives the same bits."""
    if isinstance(kernels, CKernels):
        return cast(Kernels, CKernels(Library(kernels.native.build, threads)))
    if not isinstance(kernels, TorchKernels):
        return kernels  # a GPU's: the CPU's threads compute nothing
    return cast(Kernels, TorchKernels(kernels.dtype, threads))
