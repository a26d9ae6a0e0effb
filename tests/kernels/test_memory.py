"""Memory in large pages: zeros of any shape, aligned, and kept by whoever looks at it."""

import gc

import pytest
import torch

from isotherm.kernels.native.memory import large_pages


@pytest.mark.parametrize("shape", [(3, 5), (0,), (2, 1200, 1024), (5 << 20,)])
def test_memory_is_zeros_of_the_shape_and_aligned(shape):
    for dtype in (torch.bfloat16, torch.float32):
        memory = large_pages(*shape, dtype=dtype)
        assert memory.shape == shape and memory.dtype == dtype and memory.is_contiguous()
        assert not memory.any() and memory.data_ptr() % 64 == 0


def test_a_view_keeps_the_memory():
    view = large_pages(4, 1 << 20, dtype=torch.float32)[3]
    gc.collect()
    view.fill_(2.0)
    assert view.sum() == 2 << 20
