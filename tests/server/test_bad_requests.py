"""Every parameter that cannot be honoured is a 400 that names it."""

import json
from typing import Any

import httpx
import pytest
from server_fakes import Served, serving

from isotherm.server.fields import INERT, UNSUPPORTED

HI = [{"role": "user", "content": "Hi"}]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {}}}
STRICT = {"type": "function", "function": {"name": "weather", "strict": True}}
IMAGE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]

BOTH: list[tuple[str, Any]] = [
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", "0.5"),
    ("temperature", True),
    ("top_p", 0),
    ("top_p", 1.1),
    ("top_k", -2),
    ("top_k", 1.5),
    ("min_p", -1),
    ("presence_penalty", 2.5),
    ("frequency_penalty", -2.5),
    ("repetition_penalty", 0),
    ("seed", 2**64),
    ("seed", "7"),
    ("n", 0),
    ("n", 129),
    ("max_tokens", 0),
    ("max_tokens", -1),
    ("max_tokens", 100000),
    ("min_tokens", -1),
    ("min_tokens", 5000),
    ("stop", [""]),
    ("stop", [1]),
    ("stop_token_ids", [300]),
    ("stop_token_ids", [-1]),
    ("logit_bias", {"300": 1}),
    ("logit_bias", {"a": 1}),
    ("logit_bias", {"9" * 5000: 1}),
    ("logit_bias", {"1": 101}),
    ("prompt_logprobs", 21),
    ("prompt_logprobs", -1),
    ("stream_options", {"include_usage": True}),
    ("response_format", {"type": "json_object"}),
    ("response_format", {"type": "json_schema", "json_schema": {}}),
    ("cache_salt", ""),
    ("ignore_eos", "yes"),
    ("store", True),
    ("service_tier", "priority"),
    ("best_of", 2),
    ("suffix", "x"),
    ("use_beam_search", True),
    ("structured_outputs", {"json": {}}),
    ("no_such_field", 1),
    ("no_such_field", None),
]
CHAT: list[tuple[str, Any]] = [
    ("top_logprobs", 21),
    ("top_logprobs", -1),
    ("top_logprobs", 5),
    ("logprobs", 5),
    ("max_completion_tokens", 0),
    ("max_completion_tokens", 100000),
    ("messages", []),
    ("messages", "Hi"),
    ("messages", None),
    ("tool_choice", "required"),
    ("tool_choice", "sometimes"),
    ("tool_choice", {"type": "function", "function": {"name": "weather"}}),
    ("parallel_tool_calls", False),
    ("functions", []),
    ("function_call", "auto"),
    ("reasoning_effort", "low"),
    ("modalities", ["text", "audio"]),
    ("continue_final_message", True),
    ("echo", True),
    ("add_special_tokens", True),
    ("prompt", "Hi"),
]
COMPLETION: list[tuple[str, Any]] = [
    ("logprobs", 21),
    ("logprobs", True),
    ("prompt", ""),
    ("prompt", []),
    ("prompt", [300]),
    ("prompt", [[]]),
    ("prompt", None),
    ("prompt", "x" * 4096),
    ("messages", HI),
    ("tools", [WEATHER]),
    ("max_completion_tokens", 5),
    ("add_special_tokens", False),
]


def refused(http: httpx.Client, path: str, body: dict[str, Any], status: int = 400) -> dict[str, Any]:
    """The error of a response, whose shape is checked."""
    response = http.post(path, json=body)
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert set(response.json()) == {"error"} and set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error" and error["message"] and error["code"]
    return error


@pytest.mark.parametrize(("name", "value"), BOTH + CHAT)
def test_chat_names_the_parameter(http: httpx.Client, served: Served, name: str, value: Any) -> None:
    error = refused(http, "/v1/chat/completions", {"messages": HI, name: value})
    assert error["param"] == name
    assert served.engine.requests == []


@pytest.mark.parametrize(("name", "value"), BOTH + COMPLETION)
def test_fault_24_completions_name_the_parameter(http: httpx.Client, served: Served, name: str, value: Any) -> None:
    error = refused(http, "/v1/completions", {"prompt": "Hi", name: value})
    assert error["param"] == name
    assert served.engine.requests == []


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": HI, "max_tokens": 5, "max_completion_tokens": 6}, "max_tokens"),
        ({"messages": HI, "stream": True, "prompt_logprobs": 1}, "prompt_logprobs"),
        ({"messages": HI, "stream": True, "stream_options": {"colour": True}}, "stream_options"),
        ({"messages": HI, "stream": True, "stream_options": {"include_usage": 1}}, "stream_options"),
        ({"messages": HI, "min_tokens": 9, "max_tokens": 8}, "min_tokens"),
        ({"messages": HI, "tools": [STRICT]}, "tools[0].function.strict"),
        ({"messages": [{"role": "user", "content": "Hi", "colour": 1}]}, "messages[0].colour"),
        ({"messages": HI, "chat_template_kwargs": {"tokenize": True}}, "chat_template_kwargs.tokenize"),
        ({}, "messages"),
    ],
)
def test_contradictions_and_nested_fields_are_named(http: httpx.Client, body: dict[str, Any], param: str) -> None:
    assert refused(http, "/v1/chat/completions", body)["param"] == param


def test_image_input_is_refused(http: httpx.Client) -> None:
    error = refused(http, "/v1/chat/completions", {"messages": IMAGE})
    assert error["param"].startswith("messages[0].content") and "image" in error["message"]


def test_fault_24_a_prompt_longer_than_the_context_is_refused_by_name(http: httpx.Client) -> None:
    long = [{"role": "user", "content": "x" * 5000}]
    error = refused(http, "/v1/chat/completions", {"messages": long})
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")
    error = refused(http, "/v1/completions", {"prompt": [1] * 4096})
    assert (error["param"], error["code"]) == ("prompt", "context_length_exceeded")


def test_the_longest_prompt_that_fits_is_served(http: httpx.Client) -> None:
    response = http.post("/v1/completions", json={"prompt": [1] * 4095})
    assert response.json()["usage"]["completion_tokens"] == 1


def test_a_model_that_is_not_served_is_a_404(http: httpx.Client) -> None:
    error = refused(http, "/v1/chat/completions", {"model": "gpt-4", "messages": HI}, 404)
    assert (error["param"], error["code"]) == ("model", "model_not_found")


def test_a_body_that_is_not_json_is_refused(http: httpx.Client) -> None:
    headers = {"content-type": "application/json"}
    for content in (b"", b"{", b"[]", b"null", b'{"messages": NaN}', b'{"messages": "\xff"}'):
        response = http.post("/v1/chat/completions", content=content, headers=headers)
        assert response.status_code == 400, content
        assert response.json()["error"]["type"] == "invalid_request_error"


def test_a_number_that_is_not_finite_is_refused_by_name(http: httpx.Client) -> None:
    for value in ("NaN", "Infinity", "1e999"):
        content = json.dumps({"messages": HI, "temperature": 0.5}).replace("0.5", value)
        response = http.post("/v1/chat/completions", content=content, headers={"content-type": "application/json"})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "temperature"), value


def test_a_body_of_another_type_is_a_415(http: httpx.Client) -> None:
    response = http.post("/v1/chat/completions", content='{"messages": []}', headers={"content-type": "text/plain"})
    assert response.status_code == 415
    assert response.json()["error"]["code"] == "unsupported_media_type"


def test_unknown_paths_and_methods_have_the_same_shape(http: httpx.Client) -> None:
    for response, status in ((http.get("/v1/nothing"), 404), (http.get("/v1/chat/completions"), 405)):
        assert response.status_code == status
        assert response.json()["error"]["type"] == "invalid_request_error"


def test_neutral_values_of_unsupported_fields_are_accepted(http: httpx.Client) -> None:
    fields: dict[str, Any] = {name: (known.neutral or (None,))[0] for name, known in UNSUPPORTED.items()}
    fields |= dict.fromkeys(INERT, "x")
    response = http.post("/v1/chat/completions", json={"messages": HI, **fields})
    assert response.status_code == 200, response.text


def test_null_means_absent_for_every_declared_field(http: httpx.Client) -> None:
    from isotherm.server.chat_body import ChatBody
    from isotherm.server.completion_body import CompletionBody

    for path, body, needed in (
        ("/v1/chat/completions", ChatBody, {"messages": HI}),
        ("/v1/completions", CompletionBody, {"prompt": "Hi"}),
    ):
        response = http.post(path, json={**dict.fromkeys(body.model_fields), **needed})
        assert response.status_code == 200, response.text


@pytest.fixture(scope="module")
def plain() -> Any:
    with serving() as served:
        yield served


def test_tools_without_a_parser_are_refused_with_how_to_enable_it(plain: Served) -> None:
    with httpx.Client(base_url=plain.origin, trust_env=False) as http:
        error = refused(http, "/v1/chat/completions", {"messages": HI, "tools": [WEATHER]})
        assert error["param"] == "tools" and "--enable-auto-tool-choice" in error["message"]
        allowed = {"messages": HI, "tools": [WEATHER], "tool_choice": "none"}
        assert http.post("/v1/chat/completions", json=allowed).status_code == 200
