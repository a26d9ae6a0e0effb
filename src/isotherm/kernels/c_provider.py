"""The C provider: kernels compiled for this processor."""

import torch
from torch import Tensor

from isotherm.kernels.native.library import Library
from isotherm.kernels.norm import c as norm


class CKernels:
    """Every operation of `Kernels` in C. `native` holds the library, the activation dtype and the number of threads."""

    def __init__(self, native: Library):
        self.native = native
        self.dtype = native.dtype
        self.threads = native.threads

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits. The number of threads does not."""
        build = self.native.build
        return {
            "kernels": "c",
            "sources": build.sources,
            "compiler": build.compiler,
            "flags": build.flags,
            "isa": build.isa,
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    # norms

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.rms_norm(self.native, x, weight, eps)

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.gated_rms_norm(self.native, x, gate, weight, eps)
