"""Flash-Next's drafter on a GPU: the same entries however the tokens are cut, and answers that drafts do not change."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from isotherm.fuzz.states import check_published, poison
from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.mtp import load_mtp
from isotherm.model.tiny import can_write, write_tiny
from isotherm.runner.drafter import Drafter
from isotherm.runner.forward import Sequenced

KIND = "qwen4_exp"
STREAMS = {"hc_count": 2, "hc_lowrank": 16}
TOKENS = [(11 * i * i + 3) % 500 for i in range(210)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not can_write(KIND):
        pytest.skip(f"the installed transformers has no {KIND}")
    folder = tmp_path_factory.mktemp("flash")
    write_tiny(
        KIND, folder, seed=1, drafter=True, vocab_size=512, eos_token_id=511, linear_value_head_dim=32, **STREAMS
    )
    return folder


def test_entries_are_the_same_bits_however_the_tokens_are_cut(folder: Path) -> None:
    decoder = load_decoder(folder, load_kernels("triton", "bfloat16", 1), 512)
    drafter = Drafter(load_mtp(folder, decoder), decoder)

    def cut(edges: list[int]) -> Sequenced:
        sequence = Sequenced(decoder, 210, drafter)
        poison(sequence.state)
        for a, b in itertools.pairwise(edges):
            sequence.extend(TOKENS[a:b])
        return sequence

    whole = cut([0, 210])
    for edges in ([0, 3, 8, 66, 71, 129, 210], [0, 1, 2, 63, 64, 65, 200, 210], list(range(211))):
        parts = cut(edges)
        for kept in ("by_slot", "by_block"):
            expected = getattr(whole.state, kept)()
            for name, tensor in getattr(parts.state, kept)().items():
                bits = [x[1:4].contiguous().view(torch.uint8) for x in (tensor, expected[name])]
                assert torch.equal(*bits), (edges[:3], name)


def test_answers_and_states_with_drafts_are_those_without(folder: Path) -> None:
    from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig, SpeculativeConfig
    from isotherm.core.request import Request
    from isotherm.core.sampling import SamplingParams
    from isotherm.core.vocabulary import Vocabulary
    from isotherm.engine.engine import Engine

    vocabulary = Vocabulary(tuple(f"{i % 256:02x}".encode() for i in range(512)), frozenset({511}), (511,))
    params = SamplingParams(temperature=1.0, max_tokens=50, ignore_eos=True)
    requests = [
        Request(f"{n}", tuple(TOKENS[: 50 + 40 * n]), replace(params, temperature=float(n % 2)), seed=n)
        for n in range(4)
    ]

    def engine(caching: bool, drafts: SpeculativeConfig | None) -> Engine:
        model = ModelConfig(str(folder), None, "bfloat16", 2048, "triton", 1)
        config = EngineConfig(model, CacheConfig(caching, 64 << 20), SchedulerConfig(8, 2048), speculative=drafts)
        return Engine(config, folder, vocabulary)

    def answers(of: Engine, items: list[Request]) -> dict[str, list[int]]:
        told: dict[str, list[int]] = {item.id: [] for item in items}
        for item in items:
            of.add(item)
        while of.has_work:
            for output in of.step():
                told[output.request_id] += output.tokens
        return told

    expected = {item.id: answers(engine(False, None), [item])[item.id] for item in requests}
    drafting = engine(True, SpeculativeConfig("mtp", 3))
    assert [answers(drafting, requests) for _ in range(2)] == [expected, expected]
    assert sum(drafting.stats().accepted_by_position) > 0
    runner = drafting.runner
    checked = list(check_published(drafting.cache, runner.state, runner.decoder, runner.drafter))
    assert checked and not any(wrong for _, wrong in checked)
