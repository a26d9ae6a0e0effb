"""Guesses made in a row, recorded, are those made one at a time."""

from dataclasses import replace
from pathlib import Path

import pytest
from harness import EOS, GREEDY, ON_GPU, TINY, Setup, drive, request, tokens

from isotherm.core.config import SpeculativeConfig
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams

KINDS = (
    ("qwen3_5", "qwen3_next") if ON_GPU else ("qwen3_5",)
)  # on the CPU what a mixture of experts does is not recorded


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from isotherm.model.tiny import write_tiny

    made = tmp_path_factory.mktemp(request.param)
    write_tiny(request.param, made, seed=1, drafter=True, vocab_size=512, eos_token_id=EOS, **TINY)
    return made


def guesses(setup: Setup, items: list[Request], count: int, chained: bool) -> tuple[list[object], dict[str, object]]:
    """All guesses of a run, in order, and its answers."""
    engine = setup.engine(speculative=SpeculativeConfig("mtp", count))
    drafter, found = engine.runner.drafter, []
    assert drafter._chain is not None
    if not chained:
        drafter._chain = drafter._graphs = drafter._recorded = None
    propose = drafter.propose
    drafter.propose = lambda *args: (found.append(propose(*args)), found[-1])[1]
    answers = drive(engine, items)
    return found, {name: answer.compared for name, answer in answers.items()}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_chained_guesses_are_those_made_one_at_a_time(folder: Path, count: int, dtype: str) -> None:
    """Alone and together, greedy, sampled and with penalties, up to the ends of blocks and of answers."""
    if ON_GPU and dtype == "float32":
        pytest.skip("another build")
    setup = Setup(folder, "c", dtype)
    sampled = SamplingParams(temperature=0.8, top_p=0.9, max_tokens=50, ignore_eos=True)
    pushed = SamplingParams(temperature=0.0, max_tokens=30, ignore_eos=True, repetition_penalty=1.3)
    for some in ([GREEDY], [sampled], [GREEDY, sampled, pushed, replace(GREEDY, max_tokens=70)]):
        items = [request(tokens(40 + 17 * n, n), f"r{n}", params, seed=n) for n, params in enumerate(some)]
        chained, answers = guesses(setup, items, count, True)
        single, expected = guesses(setup, items, count, False)
        assert chained == single and any(any(each) for each in chained)
        assert answers == expected
