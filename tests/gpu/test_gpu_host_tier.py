"""Copies between the GPU and pinned memory: every byte, in the order in which they were asked for."""

import pytest
import torch

from isotherm.core.config import CacheConfig
from isotherm.core.errors import ConfigError
from isotherm.runner.capacity import host_capacity
from isotherm.runner.host import AT_ONCE, Shelf


def tensors(device: torch.device, ids: int) -> list[torch.Tensor]:
    """Of one block: as many shapes and dtypes as a model has, a mebibyte together."""
    return [
        torch.randn(ids, 64, 2, 256, device=device, dtype=torch.bfloat16),
        torch.randn(ids, 8, 128, 128, device=device),
        torch.randn(ids, 3, 2048, device=device, dtype=torch.bfloat16),
        torch.randint(0, 99, (ids, 3), device=device, dtype=torch.int32),
    ]


def test_what_went_out_comes_back_with_every_byte_to_any_id(device: torch.device) -> None:
    """More than is gathered at once; ids in runs and scattered; what is not named stays."""
    ids = 300
    kept = tensors(device, ids)
    before = [tensor.clone() for tensor in kept]
    shelf = Shelf(kept, 260)
    assert shelf.rows[0].nbytes * 250 > 2 * AT_ONCE
    out = [*zip(range(1, 200), range(3, 202), strict=True), (250, 1), (299, 250), (7, 260)]
    shelf.store(tuple(out))
    for tensor in kept:
        tensor.zero_()
    order = torch.randperm(len(out)).tolist()
    back = [(out[place][1], 1 + target) for target, place in enumerate(order)]
    shelf.fetch(tuple(back))
    for tensor, old in zip(kept, before, strict=True):
        assert all(torch.equal(tensor[1 + target], old[out[place][0]]) for target, place in enumerate(order))
        assert not tensor[0].any() and not tensor[1 + len(out) :].any()


def test_a_copy_out_is_of_what_was_there_before_the_next_write(device: torch.device) -> None:
    """The write is queued at once behind a copy that takes milliseconds, and behind work that takes longer."""
    kept = tensors(device, 256)
    before = [tensor.clone() for tensor in kept]
    shelf = Shelf(kept, 255)
    pairs = tuple((identity, identity) for identity in range(1, 256))
    a = torch.randn(4096, 4096, device=device)
    for _ in range(20):
        a = a @ a * 1e-3
    shelf.store(pairs)
    for tensor in kept:
        tensor.fill_(7)
    shelf.fetch(pairs)
    assert all(torch.equal(tensor[1:], old[1:]) for tensor, old in zip(kept, before, strict=True))


def test_memory_that_is_given_back_can_be_pinned_again(device: torch.device) -> None:
    for _ in range(3):
        shelf = Shelf(tensors(device, 4), 64)
        shelf.store(((1, 64),))
        del shelf


def test_more_than_there_is_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="kv_offloading_size"):
        host_capacity(CacheConfig(offload_bytes=1 << 50).offload_bytes, 1 << 20, 1 << 20, 1 << 40)
