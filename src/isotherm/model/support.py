"""Which kernels compute which models."""

from isotherm.core.errors import CheckpointError
from isotherm.kernels.api import Kernels
from isotherm.kernels.stream_api import StreamKernels
from isotherm.model.spec import ModelSpec


def check_support(spec: ModelSpec, kernels: Kernels) -> None:
    """Raises CheckpointError where the model has operations that `kernels` lacks."""
    if spec.streams is not None and not isinstance(kernels, StreamKernels):
        raise CheckpointError(f"{spec.kind} is computed with numerics=exact, and by no other kernels yet")
