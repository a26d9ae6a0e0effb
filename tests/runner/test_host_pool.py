"""The host tier's memory on the CPU; tests/gpu/test_gpu_host_tier.py is the same on a card."""

import pytest
import torch

from isotherm.runner import host
from isotherm.runner.host import Shelf


def tensors(ids: int) -> list[torch.Tensor]:
    return [
        torch.randn(ids, 64, 2, 16).bfloat16(),
        torch.randn(ids, 8, 4, 4),
        torch.randint(0, 99, (ids, 3), dtype=torch.int32),
    ]


@pytest.mark.parametrize("at_once", [1, 1 << 14, 1 << 30], ids=str)
def test_what_went_out_comes_back_with_every_byte_to_any_id(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(host, "AT_ONCE", at_once)
    kept = tensors(40)
    before = [tensor.clone() for tensor in kept]
    shelf = Shelf(kept, 30)
    out = [*zip(range(1, 20), range(3, 22), strict=True), (25, 1), (39, 30)]
    shelf.store(tuple(out))
    for tensor in kept:
        tensor.zero_()
    order = torch.randperm(len(out)).tolist()
    shelf.fetch(tuple((out[place][1], 1 + target) for target, place in enumerate(order)))
    for tensor, old in zip(kept, before, strict=True):
        assert all(torch.equal(tensor[1 + target], old[out[place][0]]) for target, place in enumerate(order))
        assert not tensor[0].any() and not tensor[1 + len(out) :].any()


def test_a_row_that_is_poisoned_is_nan_in_every_tensor() -> None:
    kept = tensors(3)
    shelf = Shelf(kept, 2)
    shelf.poison(2)
    shelf.fetch(((2, 1),))
    assert kept[0][1].isnan().all() and kept[1][1].isnan().all()


def test_an_odd_width_is_copied_by_bytes() -> None:
    kept = [torch.randn(4, 3).bfloat16(), torch.randint(0, 9, (4, 5), dtype=torch.uint8)]
    before = [tensor.clone() for tensor in kept]
    shelf = Shelf(kept, 1)
    shelf.store(((2, 1),))
    shelf.fetch(((1, 3),))
    assert all(torch.equal(tensor[3], old[2]) for tensor, old in zip(kept, before, strict=True))
