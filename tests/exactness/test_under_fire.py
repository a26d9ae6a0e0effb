"""Faults of the world, on one real server with a small pool: crowds, slow readers, huge prompts, logits that are not finite."""

import json
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness import tokens
from safetensors.torch import load_file, save_file

from isotherm.gate.process import free_port, running_server

POISON = 7
"""The token whose embedding is NaN."""

LENGTH = 1024
SHORT = {"max_tokens": 12, "temperature": 0, "logprobs": 5, "ignore_eos": True, "logit_bias": {str(POISON): -100}}


@pytest.fixture(scope="module")
def url(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("fire") / "model"
    shutil.copytree(checkpoints["qwen3_5"], folder)
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][POISON] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    port = free_port()
    command = [sys.executable, "-m", "isotherm", "serve", str(folder), "--port", str(port), "--threads", "1"]
    small = ["--max-model-len", str(LENGTH), "--kv-cache-memory-bytes", "1200K", "--max-num-seqs", "8"]
    with running_server([*command, *small], port, folder.parent / "log", 120.0) as base:
        yield base
        assert "Traceback" not in (folder.parent / "log").read_text()


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield client


def sound(length: int, seed: int) -> list[int]:
    """A prompt without the poisoned token."""
    return [token if token != POISON else POISON + 1 for token in tokens(length, seed)]


def ask(http: httpx.Client, prompt: list[int], **fields: Any) -> tuple[object, ...]:
    """What must not depend on anything else: text and log-probabilities."""
    response = http.post("/v1/completions", json={"prompt": prompt, **SHORT, **fields})
    assert response.status_code == 200, response.text
    (choice,) = response.json()["choices"]
    return told(choice)


def told(choice: dict[str, Any]) -> tuple[object, ...]:
    return choice["text"], str(choice["logprobs"]), choice["finish_reason"]


def gauges(http: httpx.Client) -> dict[str, float]:
    lines = (line.replace("{", " ").split() for line in http.get("/metrics").text.splitlines() if line[0] != "#")
    return {line[0]: float(line[-1]) for line in lines}


def memory(http: httpx.Client) -> float:
    found = gauges(http)
    return found["process_resident_memory_bytes"] + found["isotherm:engine_resident_memory_bytes"]


def until_idle(http: httpx.Client, seconds: float = 30.0) -> dict[str, float]:
    deadline = time.monotonic() + seconds
    while (found := gauges(http))["isotherm:num_requests_running"] or found["isotherm:num_requests_waiting"]:
        assert time.monotonic() < deadline, "requests are still running"
        time.sleep(0.05)
    return found


def test_a_crowd_that_the_pool_cannot_hold_queues_and_every_answer_is_the_one_it_gets_alone(http: httpx.Client) -> None:
    prompts = [sound(300 + 40 * i, i) for i in range(12)]
    apart = [ask(http, prompt, max_tokens=150, cache_salt="apart") for prompt in prompts]
    crowd = {"prompt": prompts, **SHORT, "max_tokens": 150, "cache_salt": "together"}
    response = http.post("/v1/completions", json=crowd)
    assert response.status_code == 200, response.text
    assert [told(choice) for choice in response.json()["choices"]] == apart
    assert gauges(http)["isotherm:num_preemptions_total"] > 0


def test_more_requests_than_may_wait_are_a_429_and_the_server_goes_on(http: httpx.Client) -> None:
    expected = ask(http, sound(70, 1))
    body = {"prompt": [sound(3, i) for i in range(1024)], **SHORT, "n": 2, "max_tokens": 4}
    response = http.post("/v1/completions", json=body)
    assert response.status_code == 429 and response.json()["error"]["code"] == "queue_full"
    until_idle(http)
    assert ask(http, sound(70, 1)) == expected


def test_logits_that_are_not_finite_are_an_error_of_that_request_and_its_neighbours_are_exact(
    http: httpx.Client,
) -> None:
    """The prompts share their first blocks, so that what the broken one has computed must not be found by others."""
    stem = sound(130, 5)
    good, bad = [*stem, *sound(40, 6)], [*stem, *sound(20, 7), POISON, *sound(90, 8)]
    expected = [ask(http, good, cache_salt="alone"), ask(http, sound(50, 9), cache_salt="alone")]
    with ThreadPoolExecutor(4) as crowd:
        failed = crowd.submit(http.post, "/v1/completions", json={"prompt": bad, **SHORT})
        answers = [crowd.submit(ask, http, prompt) for prompt in (good, sound(50, 9))]
    assert failed.result().status_code == 500 and "not finite" in failed.result().json()["error"]["message"]
    assert [answer.result() for answer in answers] == expected
    with http.stream("POST", "/v1/completions", json={"prompt": bad, **SHORT, "stream": True}) as response:
        assert "not finite" in response.read().decode()
    assert ask(http, [*bad[:150], *good[150:]]) == ask(http, [*bad[:150], *good[150:]], cache_salt="alone")


HUGE = {
    "text": ("/v1/completions", "prompt", "word " * 210_000),
    "one word": ("/v1/completions", "prompt", "x" * (1 << 20)),
    "ids": ("/v1/completions", "prompt", [5] * 350_000),
    "chat": ("/v1/chat/completions", "messages", [{"role": "user", "content": "word " * 210_000}]),
}


def refuse(http: httpx.Client, path: str, param: str, value: Any) -> None:
    body = json.dumps({param: value, "max_tokens": 4}).encode()
    assert len(body) > 1 << 20
    start = time.monotonic()
    response = http.post(path, content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400 and response.json()["error"]["param"] == param
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("sort", HUGE)
def test_a_prompt_of_a_megabyte_is_a_400_that_names_the_field(http: httpx.Client, sort: str) -> None:
    refuse(http, *HUGE[sort])


def test_prompts_of_a_megabyte_leave_memory_as_it_was(http: httpx.Client) -> None:
    """Each takes tens of megabytes while it is read, and Python gives memory back when it likes; eight take no more than four."""
    held = []
    for _ in range(2):
        for sort in HUGE.values():
            refuse(http, *sort)
        held.append(memory(http))
    assert held[-1] < held[0] + (64 << 20)


def slow_reader(url: str, body: dict[str, Any]) -> socket.socket:
    """A client with a tiny window that has asked and read one byte."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    host, _, port = url.removeprefix("http://").partition(":")
    reader.connect((host, int(port)))
    data = json.dumps(body).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    reader.sendall(f"{head}\r\n\r\n".encode() + data)
    assert reader.recv(1)
    return reader


def test_readers_of_one_byte_a_second_hold_up_nobody_and_take_no_more_memory_than_their_answers(
    url: str, http: httpx.Client
) -> None:
    expected = ask(http, sound(70, 1))
    body = {"prompt": sound(20, 3), **SHORT, "max_tokens": 600, "stream": True}
    before = gauges(http)
    with ExitStack() as open_readers:
        readers = [open_readers.enter_context(slow_reader(url, body)) for _ in range(6)]
        start = time.monotonic()
        assert ask(http, sound(70, 1)) == expected
        assert time.monotonic() - start < 20
        until_idle(http)  # the engine is done with them, and what they have not read is kept by the server
        held = memory(http)
        for _ in range(3):
            time.sleep(1)
            assert all(reader.recv(1) for reader in readers)
        assert ask(http, sound(70, 1)) == expected
        assert memory(http) < held + (2 << 20)
        assert held < before["process_resident_memory_bytes"] + before["isotherm:engine_resident_memory_bytes"] + (
            96 << 20
        )
    deadline = time.monotonic() + 10
    while gauges(http)["process_open_fds"] > before["process_open_fds"] + 2:
        assert time.monotonic() < deadline, "connections are still open"
        time.sleep(0.1)
