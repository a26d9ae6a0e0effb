"""The shift in C."""

from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.state import ConvState


def shift(native: Library, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.shift."""
    channels = state.shape.channels
    stride = matrix(x, native.dtype, "x", channels, batch.rows)
    out = native.empty(batch.rows, channels)
    pointers = native.pointers(batch)
    native.function("iso_shift", "ppllppp")(
        pointers.address,
        x.data_ptr(),
        stride,
        channels,
        vector(state.history, native.dtype, "history"),
        vector(state.rows, native.dtype, "rows"),
        out.data_ptr(),
    )
    return out
