"""The completions endpoint, read by the openai client."""

import openai
import pytest
from server_fakes import BEGIN, EOS, PAIR, Script, Served, score


def test_text_and_token_ids_are_both_prompts(client: openai.OpenAI, served: Served) -> None:
    for prompt in ("Hey", [72, 101, 121]):
        answer = client.completions.create(model="tiny", prompt=prompt)
        assert answer.choices[0].text == "Hello world."
        assert (answer.object, answer.id[:5], answer.choices[0].finish_reason) == ("text_completion", "cmpl-", "stop")
    assert [request.prompt for request in served.engine.requests] == [(72, 101, 121)] * 2


def test_sixteen_tokens_are_generated_by_default(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("x" * 40)
    answer = client.completions.create(model="tiny", prompt="Hey")
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == ("x" * 16, "length")


def test_a_default_length_is_cut_to_what_the_context_leaves(client: openai.OpenAI, served: Served) -> None:
    client.completions.create(model="tiny", prompt="x" * 4090)
    assert served.engine.requests[0].sampling.max_tokens == 6


@pytest.mark.parametrize("prompts", [["a", "bb"], [[97], [98, 98]]])
def test_several_prompts_with_several_choices_are_numbered_prompt_by_prompt(
    client: openai.OpenAI, served: Served, prompts: list[str] | list[list[int]]
) -> None:
    served.engine.script = lambda request: Script(
        (*request.prompt, 48 + request.choice, EOS), cached=len(request.prompt)
    )
    answer = client.completions.create(model="tiny", prompt=prompts, n=2)
    assert [choice.text for choice in answer.choices] == ["a0", "a1", "bb0", "bb1"]
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 14)
    assert answer.usage.prompt_tokens_details.cached_tokens == 3


def test_a_stream_says_what_the_whole_answer_says(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("Grüße 🙂", group=2)
    extra = {"return_token_ids": True}
    whole = client.completions.create(model="tiny", prompt="Hey", logprobs=20, extra_body=extra).choices[0]
    text, ids, tokens, values, tops, offsets, reason = "", [], [], [], [], [], None
    for chunk in client.completions.create(model="tiny", prompt="Hey", logprobs=20, stream=True, extra_body=extra):
        part = chunk.choices[0]
        text += part.text
        ids += getattr(part, "token_ids", None) or []
        if part.logprobs:
            tokens += part.logprobs.tokens
            values += part.logprobs.token_logprobs
            tops += part.logprobs.top_logprobs
            offsets += part.logprobs.text_offset
        reason = part.finish_reason or reason
    assert (text, ids, reason) == (whole.text, whole.token_ids, whole.finish_reason) == ("Grüße 🙂", ids, "stop")
    assert (tokens, values) == (whole.logprobs.tokens, whole.logprobs.token_logprobs)
    assert (tops, offsets) == (whole.logprobs.top_logprobs, whole.logprobs.text_offset)
    assert len(tokens) == len(ids) == len("Grüße 🙂".encode()) + 1


def test_logprobs_name_the_likeliest_and_the_chosen_token_with_all_their_bits(
    client: openai.OpenAI, served: Served
) -> None:
    served.engine.script = lambda request: Script((PAIR, 0xC3, 0xA9, EOS))
    logprobs = client.completions.create(model="tiny", prompt="Hey", logprobs=3).choices[0].logprobs
    assert logprobs.tokens == ["ab", "bytes:\\xc3", "bytes:\\xa9", "<|end|>"]
    assert logprobs.token_logprobs == [score(token, 3).logprob for token in (PAIR, 0xC3, 0xA9, EOS)]
    assert logprobs.text_offset == [0, 2, 2, 3]
    top = score(PAIR, 3).top
    assert logprobs.top_logprobs[0] == {"ab": top[0][1], "\x01": top[1][1], "\x02": -9999.0}


def test_echo_puts_the_prompt_and_its_logprobs_first(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("!")
    choice = client.completions.create(model="tiny", prompt="Hé", echo=True, logprobs=0).choices[0]
    assert choice.text == "Hé!"
    assert choice.logprobs.tokens == ["H", "bytes:\\xc3", "bytes:\\xa9", "!", "<|end|>"]
    assert choice.logprobs.token_logprobs[0] is None and choice.logprobs.top_logprobs[0] is None
    assert choice.logprobs.token_logprobs[1:] == [score(token, 0).logprob for token in (0xC3, 0xA9, 33, EOS)]
    assert choice.logprobs.text_offset == [0, 1, 1, 2, 3]
    assert served.engine.requests[0].sampling.prompt_logprobs == 0


def test_echo_of_token_ids_shows_their_text_and_streams_it_first(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("!")
    stream = client.completions.create(model="tiny", prompt=[72, BEGIN, 105], echo=True, stream=True)
    assert [chunk.choices[0].text for chunk in stream] == ["Hi!", ""]


def test_prompt_logprobs_and_ids_are_given_by_choice(client: openai.OpenAI) -> None:
    extra = {"prompt_logprobs": 0, "return_token_ids": True}
    answer = client.completions.create(model="tiny", prompt="Hey", extra_body=extra)
    choice = answer.choices[0]
    assert choice.prompt_token_ids == answer.prompt_token_ids == [72, 101, 121]
    assert choice.prompt_logprobs == [
        None,
        {"101": {"logprob": score(101, 0).logprob, "rank": 1, "decoded_token": "e"}},
        {"121": {"logprob": score(121, 0).logprob, "rank": 1, "decoded_token": "y"}},
    ]
    assert bytes(choice.token_ids[:-1]) == b"Hello world."


def test_a_stream_ends_with_usage_when_asked_for(client: openai.OpenAI) -> None:
    stream = client.completions.create(model="tiny", prompt="a", stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == 13
