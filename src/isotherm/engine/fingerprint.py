"""The build: everything that decides bits, as named strings."""

import hashlib
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


def build_fingerprint(kernels: Kernels, weights: str) -> dict[str, str]:
    """Two engines with equal fingerprints give equal bits; `id` is a digest of the rest."""
    parts = (
        {"isotherm": VERSION, "numerics": "exact", "torch": torch.__version__}
        | kernels.fingerprint()
        | {"weights": weights}
    )
    text = "\n".join(f"{name}={value}" for name, value in sorted(parts.items()))
    return {"id": hashlib.sha256(text.encode()).hexdigest()[:16]} | parts
