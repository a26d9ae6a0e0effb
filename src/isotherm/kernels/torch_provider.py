"""The torch provider: exact without a compiler, slower, and with other bits than the C provider."""

import hashlib
from pathlib import Path

import torch
from torch import Tensor

from isotherm.kernels.norm import torch_form as norm


def _source_hash() -> str:
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted((*root.glob("*/torch_form.py"), *root.glob("*/reference.py"), root / "fixed.py")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class TorchKernels:
    """Every operation of `Kernels` in torch, in calls of one fixed shape within one thread. `threads` is held and not used."""

    def __init__(self, dtype: torch.dtype, threads: int):
        self.dtype = dtype
        self.threads = threads

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits: torch's own build and the instruction set that it chose."""
        return {
            "kernels": "torch",
            "sources": _source_hash(),
            "compiler": "none",
            "isa": torch.backends.cpu.get_cpu_capability(),
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    # norms

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.rms_norm(self.dtype, x, weight, eps)

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.gated_rms_norm(self.dtype, x, gate, weight, eps)
