"""Chat answers that are not streamed, read by the openai client."""

import json

import openai
import pytest
from server_fakes import BEGIN, EOS, Script, Served, score

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def test_an_answer_has_its_text_usage_and_finish_reason(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("Hello world.", cached=64)
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES)
    assert answer.choices[0].message.content == "Hello world."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.prompt_tokens == len(served.engine.requests[0].prompt)
    assert answer.usage.completion_tokens == len("Hello world.") + 1
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens_details.cached_tokens == 64
    assert (answer.object, answer.model, answer.id[:9]) == ("chat.completion", "tiny", "chatcmpl-")
    assert answer.system_fingerprint.startswith("fp_")


def test_the_engine_is_given_prompt_hint_salt_and_parameters(client: openai.OpenAI, served: Served) -> None:
    client.chat.completions.create(
        model="other",
        messages=MESSAGES,
        temperature=0.5,
        top_p=0.9,
        seed=7,
        max_completion_tokens=5,
        stop=["x", "yy"],
        frequency_penalty=0.25,
        presence_penalty=-0.5,
        logit_bias={"65": -100, "3": 1.5},
        extra_body={
            "top_k": -1,
            "min_p": 0.125,
            "repetition_penalty": 1.5,
            "min_tokens": 2,
            "stop_token_ids": [9],
            "ignore_eos": True,
            "include_stop_str_in_output": True,
            "skip_special_tokens": False,
            "cache_salt": "mine",
            "skip_reading_prefix_cache": True,
            "num_speculative_tokens": 2,
        },
    )
    request = served.engine.requests[0]
    params = request.sampling
    assert (request.hint, request.cache_salt, request.skip_reading_prefix_cache, request.seed) == (7, "mine", True, 7)
    assert request.prompt[0] == BEGIN and request.num_speculative_tokens == 2
    assert (params.temperature, params.top_p, params.top_k, params.min_p) == (0.5, 0.9, 0, 0.125)
    assert (params.frequency_penalty, params.presence_penalty, params.repetition_penalty) == (0.25, -0.5, 1.5)
    assert (params.max_tokens, params.min_tokens, params.stop, params.stop_token_ids) == (5, 2, ("x", "yy"), (9,))
    assert (params.ignore_eos, params.include_stop_str_in_output, params.skip_special_tokens) == (True, True, False)
    assert params.logit_bias == ((3, 1.5), (65, -100.0))
    assert params.logprobs is None and params.prompt_logprobs is None


def test_without_max_tokens_the_rest_of_the_context_may_be_used(client: openai.OpenAI, served: Served) -> None:
    client.chat.completions.create(model="tiny", messages=MESSAGES)
    request = served.engine.requests[0]
    assert request.sampling.max_tokens == 4096 - len(request.prompt)


def test_a_limit_ends_the_answer_with_length(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, max_tokens=5)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("Hello", "length")
    assert answer.usage.completion_tokens == 5


def test_fault_21_choices_share_one_seed_differ_in_number_and_are_all_counted(
    client: openai.OpenAI, served: Served
) -> None:
    served.engine.script = lambda request: Script(
        (*b"pick %d" % request.choice, EOS), cached=64 if request.choice else 128
    )
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, n=8, temperature=1.2)
    assert [choice.message.content for choice in answer.choices] == [f"pick {i}" for i in range(8)]
    assert [choice.index for choice in answer.choices] == list(range(8))
    requests = sorted(served.engine.requests, key=lambda request: request.choice)
    assert len({request.seed for request in requests}) == 1 and 0 <= requests[0].seed < 2**63
    assert [request.choice for request in requests] == list(range(8))
    assert len({request.id for request in requests}) == 8
    assert answer.usage.completion_tokens == 8 * len("pick 0\0")
    assert answer.usage.prompt_tokens == len(requests[0].prompt)
    assert answer.usage.prompt_tokens_details.cached_tokens == 128


def test_two_calls_without_a_seed_draw_different_ones(client: openai.OpenAI, served: Served) -> None:
    for _ in range(2):
        client.chat.completions.create(model="tiny", messages=MESSAGES)
    assert served.engine.requests[0].seed != served.engine.requests[1].seed


@pytest.mark.parametrize("group", [1, 3, 20])
def test_a_stop_string_inside_a_group_of_tokens_ends_text_and_ids(
    client: openai.OpenAI, served: Served, group: int
) -> None:
    served.engine.say("one two three", group=group)
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, stop=" tw", extra_body={"return_token_ids": True}
    )
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason, choice.stop_reason) == ("one", "stop", " tw")
    assert bytes(choice.token_ids) == b"one tw"


def test_a_stop_string_is_kept_when_asked_for(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("one two three")
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, stop=" tw", extra_body={"include_stop_str_in_output": True}
    )
    assert answer.choices[0].message.content == "one tw"


def test_a_stop_token_is_not_text_unless_asked_for(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("abc")
    for include, expected in ((False, "a"), (True, "ab")):
        extra = {"stop_token_ids": [ord("b")], "include_stop_str_in_output": include}
        choice = client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body=extra).choices[0]
        assert (choice.message.content, choice.stop_reason) == (expected, ord("b"))


def test_the_end_token_is_not_text_even_when_special_tokens_are_shown(client: openai.OpenAI, served: Served) -> None:
    served.engine.script = lambda request: Script((ord("a"), BEGIN, ord("b"), EOS))
    for skip, expected in ((True, "ab"), (False, "a<|begin|>b")):
        extra = {"skip_special_tokens": skip}
        answer = client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body=extra)
        assert answer.choices[0].message.content == expected


def test_every_token_has_its_logprobs_with_all_their_bits(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("aé")
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, logprobs=True, top_logprobs=3)
    entries = answer.choices[0].logprobs.content
    tokens = (*"aé".encode(), EOS)
    assert [entry.bytes for entry in entries] == [[97], [0xC3], [0xA9], list(b"<|end|>")]
    assert [entry.token for entry in entries] == ["a", "\ufffd", "\ufffd", "<|end|>"]
    for entry, token in zip(entries, tokens, strict=True):
        expected = score(token, 3)
        assert entry.logprob == expected.logprob
        assert [top.logprob for top in entry.top_logprobs] == [*(value for _, value in expected.top[:2]), -9999.0]


def test_logprobs_without_top_have_the_chosen_token_only(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, logprobs=True)
    assert [entry.top_logprobs for entry in answer.choices[0].logprobs.content] == [[]] * 13


def test_tokens_may_be_named_by_id(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("a")
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, logprobs=True, extra_body={"return_tokens_as_token_ids": True}
    )
    assert [entry.token for entry in answer.choices[0].logprobs.content] == ["token_id:97", f"token_id:{EOS}"]


def test_prompt_logprobs_have_vllms_shape(client: openai.OpenAI, served: Served) -> None:
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body={"prompt_logprobs": 2})
    prompt = served.engine.requests[0].prompt
    assert len(answer.prompt_logprobs) == len(prompt) and answer.prompt_logprobs[0] is None
    expected = score(prompt[1], 2)
    assert answer.prompt_logprobs[1] == {
        str(prompt[1]): {"logprob": expected.logprob, "rank": 1, "decoded_token": chr(prompt[1])},
        "1": {"logprob": -9999.0, "rank": 2, "decoded_token": "\x01"},
    }


def test_token_ids_come_back_when_asked_for(client: openai.OpenAI, served: Served) -> None:
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body={"return_token_ids": True})
    assert tuple(answer.prompt_token_ids) == served.engine.requests[0].prompt
    assert answer.choices[0].token_ids == [*b"Hello world.", EOS]


def test_tool_calls_are_parsed_and_change_the_finish_reason(client: openai.OpenAI, served: Served) -> None:
    served.engine.say('Let me see.<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>')
    choice = client.chat.completions.create(model="tiny", messages=MESSAGES, tools=[WEATHER]).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content.strip() == "Let me see."
    call = choice.message.tool_calls[0]
    assert (call.type, call.function.name, json.loads(call.function.arguments)) == (
        "function",
        "weather",
        {"city": "Oslo"},
    )
    assert call.id
    assert served.template.tools == [WEATHER]


def test_an_answer_that_is_only_a_call_has_null_content(client: openai.OpenAI, served: Served) -> None:
    served.engine.say('<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>')
    choice = client.chat.completions.create(model="tiny", messages=MESSAGES, tools=[WEATHER]).choices[0]
    assert choice.message.content is None and len(choice.message.tool_calls) == 1


def test_calls_cut_by_the_limit_finish_with_length(client: openai.OpenAI, served: Served) -> None:
    served.engine.say('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>')
    choice = client.chat.completions.create(model="tiny", messages=MESSAGES, tools=[WEATHER], max_tokens=50).choices[0]
    assert choice.finish_reason == "length"


def test_tool_choice_none_keeps_the_tools_in_the_prompt_and_the_text_unparsed(
    client: openai.OpenAI, served: Served
) -> None:
    text = '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'
    served.engine.say(text)
    choice = client.chat.completions.create(
        model="tiny", messages=MESSAGES, tools=[WEATHER], tool_choice="none"
    ).choices[0]
    assert (choice.message.content, choice.message.tool_calls, choice.finish_reason) == (text, None, "stop")
    assert served.template.tools == [WEATHER]


def test_an_assistant_message_can_be_sent_back_as_the_client_dumps_it(client: openai.OpenAI, served: Served) -> None:
    served.engine.say('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>')
    message = client.chat.completions.create(model="tiny", messages=MESSAGES, tools=[WEATHER]).choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "-3"}
    served.engine.say("Minus three.")
    history = [*MESSAGES, message.model_dump(), result]
    answer = client.chat.completions.create(model="tiny", messages=history, tools=[WEATHER])
    assert answer.choices[0].message.content == "Minus three."
    assert served.template.messages[2]["tool_calls"][0]["function"]["name"] == "weather"


def test_template_arguments_are_passed_on(client: openai.OpenAI, served: Served) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "add_generation_prompt": False}
    client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body=extra)
    assert served.template.kwargs == {"enable_thinking": False}
    assert served.template.add_generation_prompt is False


def test_inert_fields_are_accepted(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="tiny",
        messages=MESSAGES,
        user="me",
        metadata={"a": "b"},
        store=False,
        service_tier="auto",
        prompt_cache_key="k",
        safety_identifier="s",
        response_format={"type": "text"},
        parallel_tool_calls=True,
        modalities=["text"],
    )
    assert answer.choices[0].message.content == "Hello world."
