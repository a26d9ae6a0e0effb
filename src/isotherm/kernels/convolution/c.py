"""The convolution in C."""

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution.torch_form import conv_state as conv_state  # one layout for both forms
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.state import ConvState


def causal_conv(native: Library, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.causal_conv."""
    channels, width = state.shape.channels, state.shape.width
    stride = matrix(x, native.dtype, "x", channels, batch.rows)
    out = native.empty(batch.rows, channels)
    pointers = native.pointers(batch)
    native.function("iso_causal_conv", "pplplllpppi")(
        pointers.address,
        x.data_ptr(),
        stride,
        vector(weight, torch.float32, "weight", channels * width),
        channels,
        width,
        state.shape.dilation,
        vector(state.history, native.dtype, "history"),
        vector(state.rows, native.dtype, "rows"),
        out.data_ptr(),
        native.threads,
    )
    return out
