"""Reads tensors out of a folder's safetensors files, by name, and accounts for every one of them."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from safetensors import safe_open
from torch import Tensor

from isotherm.core.errors import CheckpointError
from isotherm.kernels.weight import BLOCK, FP8, Fp8Weight, Weight, dequantized
from isotherm.model.fields import read_json
from isotherm.model.quantization import SCALES, Quantization, read_quantization

ROOTS = ("model.language_model.", "language_model.model.", "model.")
"""Where the text model's tensors may start, the longest first."""

SKIPPED = ("model.visual.", "visual.", "mtp.", "model.mtp.", "language_model.mtp.", "model.language_model.mtp.")
"""Tensors of parts that are not served here: the vision tower, the drafter."""


class Checkpoint:
    """The tensors of one folder. `take` each that the model needs; `finish` fails if any is left over.

    anchor: a tensor that the part to be read must have; its root, one of `roots`, is where the part's tensors are.
    device: where tensors are read to.
    Raises CheckpointError naming the tensor that is missing, extra or of another shape.
    """

    def __init__(
        self,
        folder: Path,
        roots: tuple[str, ...] = ROOTS,
        anchor: str = "embed_tokens.weight",
        device: str = "cpu",
    ):
        self.folder = folder
        self._device = device
        self._files: dict[tuple[Path, str], Any] = {}
        self._where = self._index()
        self._left = set(self._where)
        self._quantization: Quantization | None = None
        self._root = next((root for root in roots if f"{root}{anchor}" in self._where), None)
        if self._root is None:
            raise CheckpointError(f"{folder}: no tensor named {anchor} under {', '.join(roots)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.clear()

    def _index(self) -> dict[str, Path]:
        index = self.folder / "model.safetensors.index.json"
        if index.is_file():
            names: dict[str, str] = read_json(index).get("weight_map", {})
            return {name: self.folder / file for name, file in names.items()}
        files = sorted(self.folder.glob("*.safetensors"))
        if not files:
            raise CheckpointError(f"{self.folder}: no *.safetensors file; other weight formats are not read")
        return {name: file for file in files for name in self._open(file).keys()}  # noqa: SIM118

    def _open(self, file: Path, device: str | None = None) -> Any:
        key = file, device or self._device
        if key not in self._files:
            try:
                self._files[key] = safe_open(file, framework="pt", device=key[1])
            except Exception as error:
                raise CheckpointError(f"{file}: {error}") from error
        return self._files[key]

    def __contains__(self, name: str) -> bool:
        return f"{self._root}{name}" in self._where

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor `name` of the text model (without the root), which must have `shape`. [*shape], as stored; what is stored
        in FP8 as what it stands for."""
        return dequantized(self.take_weight(name, *shape))

    def take_weight(self, name: str, *shape: int) -> Weight:
        """As `take`, and what is stored in FP8 stays so."""
        return self._read(f"{self._root}{name}", shape)

    def take_mapped(self, name: str, *shape: int) -> Tensor:
        """As `take`, on the CPU whatever the device: mapped from its file, not loaded."""
        full = f"{self._root}{name}"
        tensor = self._plain(full, shape, "cpu")
        self._check_float(full, tensor)
        return tensor

    def is_fp8(self, name: str) -> bool:
        """Whether the tensor `name` is stored in FP8."""
        full = f"{self._root}{name}"
        return full in self._where and self._open(self._where[full]).get_slice(full).get_dtype() == "F8_E4M3"

    def take_integers(self, name: str, count: int) -> tuple[int, ...]:
        """The whole numbers of the tensor `name`, [count] int64."""
        full = f"{self._root}{name}"
        tensor: Tensor = self._open(self._where[full]).get_tensor(full)
        if tensor.shape != (count,) or tensor.dtype != torch.int64:
            raise CheckpointError(
                f"{self.folder}: tensor {full} is {tensor.dtype} {list(tensor.shape)}, expected int64 [{count}]"
            )
        self._left.discard(full)
        return tuple(tensor.tolist())

    def take_head(self, *shape: int) -> Weight:
        """lm_head.weight, which stands outside the text model's root in most checkpoints."""
        for name in ("lm_head.weight", "language_model.lm_head.weight", f"{self._root}lm_head.weight"):
            if name in self._where:
                return self._read(name, shape)
        return self._read("lm_head.weight", shape)

    def _read(self, name: str, shape: tuple[int, ...]) -> Weight:
        tensor = self._plain(name, shape)
        if tensor.dtype == FP8 and len(shape) > 1:
            return Fp8Weight.of_blocks(tensor, self._scales(name, shape))
        self._check_float(name, tensor)
        return tensor

    def _plain(self, name: str, shape: tuple[int, ...], device: str | None = None) -> Tensor:
        if name not in self._where:
            raise CheckpointError(f"{self.folder}: tensor {name} is missing (expected shape {list(shape)})")
        tensor: Tensor = self._open(self._where[name], device).get_tensor(name)
        if tuple(tensor.shape) != shape:
            raise CheckpointError(
                f"{self.folder}: tensor {name} has shape {list(tensor.shape)}, expected {list(shape)}"
            )
        self._left.discard(name)
        return tensor

    def _check_float(self, name: str, tensor: Tensor) -> None:
        if tensor.dtype not in (torch.bfloat16, torch.float16, torch.float32):
            raise CheckpointError(f"{self.folder}: tensor {name} is {tensor.dtype}, expected a float type")

    def _scales(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """The scales of the FP8 tensor `name`, [..., ceil(N/128), ceil(K/128)]."""
        if self._quantization is None:
            self._quantization = read_quantization(self.folder)
        if self._quantization is None:
            raise CheckpointError(f"{self.folder}: tensor {name} is {FP8}, and config.json has no quantization_config")
        if self._quantization.keeps(name.removesuffix(".weight")):
            raise CheckpointError(
                f"{self.folder}: tensor {name} is {FP8}, and quantization_config.modules_to_not_convert names it"
            )
        scales = self._plain(f"{name}{SCALES}", (*shape[:-2], -(-shape[-2] // BLOCK), -(-shape[-1] // BLOCK)))
        self._check_float(f"{name}{SCALES}", scales)
        return scales

    def drop_tied_head(self) -> None:
        """A checkpoint with tied embeddings may repeat the table as lm_head; it is the same tensor."""
        self._left -= {"lm_head.weight", "language_model.lm_head.weight", f"{self._root}lm_head.weight"}

    def left(self) -> tuple[str, ...]:
        """Names under the root that nobody has taken."""
        return tuple(sorted(name for name in self._left if name.startswith(self._root or "")))

    def finish(self) -> tuple[str, ...]:
        """Names of the tensors that were skipped on purpose; CheckpointError if any other is left."""
        skipped = {name for name in self._left if name.startswith(SKIPPED)}
        extra = sorted(self._left - skipped)
        if extra:
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            raise CheckpointError(f"{self.folder}: tensors that this model does not have: {', '.join(extra[:3])}{more}")
        return tuple(sorted(skipped))
