"""What makes torch's operators exact: one thread, one shape for each operation, aligned fresh operands.

torch chooses its loops by row count, thread count and address, so a row computed alone may differ from the same row in a
batch. Here every row is computed alone, always: the same operator on the same shape at the same alignment gives the same bits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch's operators within the calling thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def fresh(x: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """A contiguous copy in memory of its own, which torch aligns to 64 bytes."""
    copy = torch.empty(x.shape, dtype=dtype)
    return copy.copy_(x)


def each_row(f: Callable[..., Tensor], out: Tensor, *inputs: Tensor) -> Tensor:
    """out[i] = f(inputs[0][i], inputs[1][i], ...), one row a call, each row a fresh float32 copy. Rounds once, into `out`."""
    with one_thread():
        for row, *operands in zip(out, *inputs, strict=True):
            row.copy_(f(*map(fresh, operands)))
    return out
