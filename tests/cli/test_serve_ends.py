"""`isotherm serve` ends when it is told to: quickly, without a trace, with exit code 0 and no process left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest


@contextmanager
def serving(folder: Path, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "isotherm", "serve", str(folder), "--port", str(port), "--threads", "1"]
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--kv-cache-memory-bytes", "64M"], stdout=output, stderr=output)
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()
            try:
                httpx.get(f"{url}/health")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield process, url
    finally:
        process.kill()
        process.wait()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid: int) -> bool:
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.1)
    return False


BODY = {"prompt": [1, 2], "max_tokens": 400, "ignore_eos": True, "stream": True, "return_token_ids": True}
proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")


def end(events: Iterator[str]) -> dict[str, object]:
    """The last event before the stream's end."""
    *_, last, done = events
    assert done == "data: [DONE]"
    return json.loads(last.removeprefix("data: "))


@proc
@pytest.mark.parametrize("numbers", [(signal.SIGINT,), (signal.SIGTERM, signal.SIGTERM)], ids=["int", "term-twice"])
def test_an_interrupt_or_a_second_signal_ends_a_streaming_server_at_once(
    numbers: tuple[int, ...], checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with serving(checkpoints["qwen3_5"], log) as (process, url):
        started = children(process.pid)
        with httpx.stream("POST", f"{url}/v1/completions", json=BODY | {"max_tokens": 4000}, timeout=30) as answer:
            events = (line for line in answer.iter_lines() if line)
            assert "token_ids" in next(events)
            for number in numbers:
                os.kill(process.pid, number)
                time.sleep(0.2)
            assert end(events)["error"]["code"] == "engine_dead"
        assert process.wait(timeout=15) == 0
        assert started and all(gone(child) for child in started)
    assert "Traceback" not in log.read_text()


def ask(url: str) -> int:
    """The status of a short request."""
    time.sleep(0.02)
    return httpx.post(f"{url}/v1/completions", json={"prompt": [1], "max_tokens": 1}, timeout=30).status_code


@proc
def test_sigterm_lets_running_answers_end_and_refuses_new_ones(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(checkpoints["qwen3_5"], log) as (process, url):
        started = children(process.pid)
        with httpx.stream("POST", f"{url}/v1/completions", json=BODY | {"max_tokens": 2000}, timeout=60) as answer:
            events = (line for line in answer.iter_lines() if line)
            assert "token_ids" in next(events)
            os.kill(process.pid, signal.SIGTERM)
            assert any(ask(url) == 503 for _ in range(20))  # asked until it is refused: then the server may end
            last = end(events)
        assert last["choices"][0]["finish_reason"] == "length"
        assert process.wait(timeout=15) == 0
        assert started and all(gone(child) for child in started)
    assert "draining" in log.read_text() and "Traceback" not in log.read_text()


@proc
def test_an_engine_that_is_killed_is_started_again_and_the_stream_goes_on(
    checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with serving(checkpoints["qwen3_5"], log) as (process, url):
        whole = httpx.post(f"{url}/v1/completions", json=BODY | {"stream": False}, timeout=30).json()
        with httpx.stream("POST", f"{url}/v1/completions", json=BODY, timeout=60) as answer:
            events = (line for line in answer.iter_lines() if line)
            said = [next(events)]
            engine = max(children(process.pid), key=lambda pid: int(Path(f"/proc/{pid}/statm").read_text().split()[1]))
            os.kill(engine, signal.SIGKILL)
            said += list(events)
        chunks = [json.loads(line.removeprefix("data: ")) for line in said[:-1]]
        ids = [token for chunk in chunks for choice in chunk["choices"] for token in choice.get("token_ids") or ()]
        assert ids == whole["choices"][0]["token_ids"] and len(ids) == 400
        assert "isotherm:engine_restarts_total{" in (text := httpx.get(f"{url}/metrics").text)
        assert (
            next(line for line in text.splitlines() if line.startswith("isotherm:engine_restarts_total{"))[-3:] == "1.0"
        )
    assert "starting it again for 1 request" in log.read_text()
