"""One sequence, cut anywhere: the same logits and the same cached state as in one pass."""

import itertools
import random
from dataclasses import replace

import pytest
import torch
from harness import VOCABULARY_SIZE, on_test_device

from isotherm.core.constants import BLOCK
from isotherm.kernels.load import load_kernels, with_threads
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.runner.forward import Sequenced

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp", "qwen3_5-fp8", "qwen3_next-fp8")
BUILDS = (("c", "bfloat16"), ("c", "float32"), ("torch", "bfloat16"), ("torch", "float32"))
LENGTH = 300


def build_id(value: object) -> str:
    return "-".join(value) if isinstance(value, tuple) else str(value)


@pytest.fixture(
    scope="module",
    params=[(kind, build) for kind in KINDS for build in BUILDS],
    ids=lambda p: f"{p[0]}-{build_id(p[1])}",
)
def decoder(request, checkpoints) -> Decoder:
    kind, (kernels, dtype) = request.param
    if kernels == "torch" and kind != "qwen3_5" and (dtype == "float32" or kind == "qwen4_exp"):
        pytest.skip(
            "the torch form is slow; one dtype is enough for the sparse kinds, and test_flash.py has the slowest"
        )
    return load_decoder(checkpoints[kind], load_kernels(*on_test_device(kernels, dtype), 2), 1024)


class Run:
    """A sequence computed in segments, its memory NaN until written."""

    def __init__(self, decoder: Decoder, tokens: list[int], cuts: list[int]):
        self.sequence = Sequenced(decoder, len(tokens))
        state = self.sequence.state
        for tensor in (*state.by_block().values(), *state.by_lane().values()):
            tensor.fill_(float("nan"))
        for tensor in state.by_slot().values():
            tensor[1:] = float("nan")
        edges = [0, *cuts, len(tokens)]
        self.logits = torch.cat([self.sequence.extend(tokens[a:b]) for a, b in itertools.pairwise(edges)])

    def kept(self) -> dict[str, torch.Tensor]:
        """Whole blocks, and the state at every boundary."""
        whole = self.sequence.length // BLOCK
        state = self.sequence.state
        return {
            name: tensor[1 : whole + 1].contiguous().view(torch.uint8)
            for name, tensor in (state.by_block() | state.by_slot()).items()
        }


def assert_equal(one: Run, other: Run) -> None:
    differing = (one.logits != other.logits).any(dim=1).nonzero().flatten().tolist()
    assert not differing, f"logits differ at positions {differing[:5]}"
    for name, tensor in one.kept().items():
        assert torch.equal(tensor, other.kept()[name]), f"cached {name} differs"


def random_tokens(seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(VOCABULARY_SIZE) for _ in range(LENGTH)]


def test_decode_equals_prefill_at_every_position(decoder: Decoder) -> None:
    tokens = random_tokens(1)
    whole = Run(decoder, tokens, [])
    assert torch.isfinite(whole.logits).all()
    assert_equal(whole, Run(decoder, tokens, list(range(1, LENGTH))))


@pytest.mark.parametrize("seed", range(4))
def test_a_sequence_may_be_cut_anywhere(decoder: Decoder, seed: int) -> None:
    tokens, rng = random_tokens(2), random.Random(seed)
    cuts = sorted(rng.sample(range(1, LENGTH), rng.randrange(1, 40)))
    assert_equal(Run(decoder, tokens, []), Run(decoder, tokens, cuts))


@pytest.mark.parametrize("around", [64, 128, 256])
def test_a_cut_beside_a_block_boundary_changes_nothing(decoder: Decoder, around: int) -> None:
    tokens = random_tokens(3)
    whole = Run(decoder, tokens, [])
    for cut in (around - 1, around, around + 1):
        assert_equal(whole, Run(decoder, tokens, [cut]))


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_the_number_of_threads_changes_nothing(decoder: Decoder, threads: int) -> None:
    if type(decoder.kernels).__name__ != "CKernels":
        pytest.skip("the torch form always runs on one thread, and a GPU has none of these")
    tokens = random_tokens(4)
    other = replace(decoder, kernels=with_threads(decoder.kernels, threads))
    assert_equal(Run(decoder, tokens, []), Run(other, tokens, [5, 100, 101]))
