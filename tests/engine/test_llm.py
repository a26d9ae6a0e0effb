"""LLM: text in and text out, in this process, on the embedded model."""

import math
from dataclasses import replace

import pytest

from isotherm import LLM, SamplingParams
from isotherm.core.errors import CheckpointError, ConfigError, RequestError
from isotherm.core.request import Request

GREEDY = SamplingParams(temperature=0.0, max_tokens=12, logprobs=3, ignore_eos=True)


@pytest.fixture(scope="module")
def llm() -> LLM:
    return LLM(max_model_len=2048, kv_cache_memory_bytes=64 << 20)


def test_text_and_token_ids_are_the_same_prompt(llm: LLM) -> None:
    text = "The weather in Oslo is"
    (by_text,) = llm.generate(text, GREEDY)
    (by_ids,) = llm.generate([llm.tokenizer.encode(text)], GREEDY)
    assert by_text.outputs == by_ids.outputs
    assert by_text.prompt_token_ids == llm.tokenizer.encode(text)
    assert by_text.outputs[0].text == llm.tokenizer.decode(by_text.outputs[0].token_ids)


def test_many_prompts_come_back_in_order_and_equal_each_alone(llm: LLM) -> None:
    prompts = [f"City number {i}:" for i in range(5)]
    together = llm.generate(prompts, GREEDY)
    for prompt, output in zip(prompts, together, strict=True):
        assert output.outputs == llm.generate(prompt, GREEDY)[0].outputs


def test_n_choices_share_a_seed_and_differ(llm: LLM) -> None:
    params = SamplingParams(temperature=1.2, max_tokens=10, seed=5, ignore_eos=True)
    (first,) = llm.generate("Once", params, n=4)
    (again,) = llm.generate("Once", params, n=4)
    assert first.outputs == again.outputs
    assert len({output.token_ids for output in first.outputs}) == 4


def test_score_gives_the_log_probabilities_of_generation(llm: LLM) -> None:
    (output,) = llm.generate("A question about trains", GREEDY)
    ids = (*output.prompt_token_ids, *output.outputs[0].token_ids)
    (scores,) = llm.score([ids])
    assert output.outputs[0].logprobs is not None
    assert scores[-12:] == [entry.logprob for entry in output.outputs[0].logprobs]
    assert len(scores) == len(ids) - 1 and all(math.isfinite(score) for score in scores)


def test_without_recorded_passes_the_answers_are_the_same(llm: LLM) -> None:
    eager = LLM(max_model_len=2048, kv_cache_memory_bytes=64 << 20, enforce_eager=True)
    prompts = ["The weather in Oslo is", "City number 7:"]
    assert [x.outputs for x in eager.generate(prompts, GREEDY)] == [x.outputs for x in llm.generate(prompts, GREEDY)]
    assert eager.engine.runner.graphs is None and eager.engine.runner._few_rows is None


def test_what_is_to_be_done_meanwhile_is_done_once_a_step(llm: LLM) -> None:
    engine, done = llm.engine, []
    for name in ("a", "b"):
        engine.add(Request(name, (1, 2, 3), replace(GREEDY, max_tokens=3)))
    for step in range(1, 9):  # the last ones have nothing to run
        engine.step(lambda: done.append(0))
        assert len(done) == step
    assert not engine.has_work


def test_a_conversation_is_cached_between_turns(llm: LLM) -> None:
    history = [{"role": "user", "content": "What is the capital of Norway? " * 12}]
    (first,) = llm.chat(history, GREEDY)
    history += [{"role": "assistant", "content": first.outputs[0].text}, {"role": "user", "content": "And of Peru?"}]
    (second,) = llm.chat(history, GREEDY)
    assert (first.cached_tokens, second.cached_tokens > 0) == (0, True)


def test_a_stop_string_ends_text_and_ids(llm: LLM) -> None:
    (whole,) = llm.generate("The weather in Oslo is", GREEDY)
    text = whole.outputs[0].text
    stop = text[3:6]
    params = replace(GREEDY, stop=(stop,))
    (cut,) = llm.generate("The weather in Oslo is", params)
    assert cut.outputs[0].text == text[: text.index(stop)]
    assert (cut.outputs[0].finish_reason, cut.outputs[0].stop_reason) == ("stop", stop)


@pytest.mark.parametrize(
    ("call", "param"),
    [
        (lambda llm: llm.generate("x", GREEDY, n=0), "n"),
        (lambda llm: llm.generate([[1, 10**9]], GREEDY), "prompt"),
        (lambda llm: llm.generate([[1] * 2048], GREEDY), "prompt"),
        (lambda llm: llm.generate([[]], GREEDY), "prompt"),
        (lambda llm: SamplingParams(temperature=-1.0), "temperature"),
        (lambda llm: SamplingParams(top_p=0.0), "top_p"),
        (lambda llm: SamplingParams(logprobs=21), "logprobs"),
        (lambda llm: SamplingParams(max_tokens=2, min_tokens=3), "min_tokens"),
        (lambda llm: SamplingParams(stop=("",)), "stop"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_names_its_parameter(llm: LLM, call, param: str) -> None:
    with pytest.raises(RequestError) as caught:
        call(llm)
    assert caught.value.param == param
    assert not llm.engine.has_work


def test_a_setting_that_cannot_be_honoured_is_named() -> None:
    with pytest.raises(ConfigError, match="kv_cache_memory_bytes"):
        LLM(kv_cache_memory_bytes=1000)
    with pytest.raises(CheckpointError, match="no/where/at/all"):
        LLM("no/where/at/all")
