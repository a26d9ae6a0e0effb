"""The providers that kernel tests run on: C for each instruction set that this processor has, and torch."""

from dataclasses import dataclass
from functools import cache

import pytest
import torch

from isotherm.core.config import DType
from isotherm.kernels.api import Kernels
from isotherm.kernels.load import load_kernels
from isotherm.kernels.native.isa import supported


@dataclass(frozen=True, slots=True)
class Variant:
    """One provider in one build."""

    provider: str
    isa: str
    dtype: DType

    def kernels(self, threads: int = 1) -> Kernels:
        return _load(self, threads)

    @property
    def torch_dtype(self) -> torch.dtype:
        return torch.bfloat16 if self.dtype == "bfloat16" else torch.float32

    @property
    def rounding(self) -> float:
        """The largest relative error of rounding to the activation type, with room for float32 sums before it."""
        return 2**-8 if self.dtype == "bfloat16" else 1e-5

    def __str__(self) -> str:
        return "-".join(filter(None, (self.provider, self.isa, self.dtype)))


@cache
def _load(variant: Variant, threads: int) -> Kernels:
    return load_kernels("torch" if variant.provider == "torch" else "c", variant.dtype, threads, variant.isa or None)


_C = [
    Variant("c", isa, dtype)
    for isa in supported()
    for dtype in (("bfloat16",) if isa == "avx512_bf16" else ("bfloat16", "float32"))
]
VARIANTS = [*_C, Variant("torch", "", "bfloat16"), Variant("torch", "", "float32")]


@pytest.fixture(scope="session", params=VARIANTS, ids=str)
def variant(request: pytest.FixtureRequest) -> Variant:
    return request.param


@pytest.fixture(scope="session", params=_C, ids=str)
def c_variant(request: pytest.FixtureRequest) -> Variant:
    return request.param


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
