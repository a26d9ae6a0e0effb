"""Chooses and loads the kernel provider."""

import logging
import os
from typing import cast

from isotherm.core.config import DType, Provider
from isotherm.core.errors import ConfigError
from isotherm.kernels.api import Kernels
from isotherm.kernels.c_provider import CKernels
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
    with a warning where no C library can be built. isa: an instruction set instead of the best one (tests).
    """
    chosen = choose_dtype(dtype)
    count = threads or len(os.sched_getaffinity(0))
    if provider == "torch":
        return cast(Kernels, TorchKernels(chosen, count))
    target = choose_isa(isa)
    try:
        native = Library(build(target, chosen), count)
    except (ConfigError, OSError) as error:
        if provider == "c":
            raise
        _LOG.warning("kernels: torch (%s, exact but slow), because the C kernels cannot be built: %s", chosen, error)
        return cast(Kernels, TorchKernels(chosen, count))
    _LOG.info("kernels: C for %s, %s, %d threads, %s", target, chosen, count, native.build.compiler)
    return cast(Kernels, CKernels(native))


def with_threads(kernels: Kernels, threads: int) -> Kernels:
    """The same build on another number of threads: it reads the same packed weights, and gives the same bits."""
    if isinstance(kernels, CKernels):
        return cast(Kernels, CKernels(Library(kernels.native.build, threads)))
    return cast(Kernels, TorchKernels(kernels.dtype, threads))
