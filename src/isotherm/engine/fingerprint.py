"""The build: everything that decides bits, as named strings."""

import hashlib
import platform
from pathlib import Path

import torch

from isotherm.core.version import VERSION
from isotherm.kernels.api import Kernels


def weights_hash(folder: Path) -> str:
    """SHA-256 over config.json and every safetensors file of the folder, names included, first 16 hex digits."""
    digest = hashlib.sha256()
    for path in [folder / "config.json", *sorted(folder.glob("*.safetensors"))]:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
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
