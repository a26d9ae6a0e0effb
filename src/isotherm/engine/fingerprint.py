"""The build: everything that decides bits, as named strings."""

import hashlib
import platform
from pathlib import Path

import torch

from isotherm.core.version import VERSION
from isotherm.engine.file_digests import FileDigests
from isotherm.kernels.api import Kernels


def weights_hash(folder: Path, digests: FileDigests | None = None) -> str:
    """SHA-256 over config.json and every safetensors file of the folder, names included, first 16 hex digits.

    Of whole files, n-gram tables too, so it is the same on every machine; digests of large files are remembered.
    """
    paths = [folder / "config.json", *sorted(folder.glob("*.safetensors"))]
    digest = hashlib.sha256()
    for path, content in zip(paths, (digests or FileDigests.open()).of(paths), strict=True):
        digest.update(path.name.encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def processor_vendor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Who made the processor, as it says itself ("AuthenticAMD", "GenuineIntel", on Arm a number such as "0x41").

    Equal instructions of two vendors may differ in bits where the architecture leaves them free (approximations, bf16 products).
    Where Linux does not tell, what the platform knows: at least the machine type.
    """
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("vendor_id", "CPU implementer") and value.strip():
            return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def build_fingerprint(kernels: Kernels, weights: str) -> dict[str, str]:
    """Two engines with equal fingerprints give equal bits; `id` is a digest of the rest."""
    parts = (
        {"isotherm": VERSION, "numerics": "exact", "torch": torch.__version__}
        | {"vendor": processor_vendor()}
        | kernels.fingerprint()
        | {"weights": weights}
    )
    text = "\n".join(f"{name}={value}" for name, value in sorted(parts.items()))
    return {"id": hashlib.sha256(text.encode()).hexdigest()[:16]} | parts
