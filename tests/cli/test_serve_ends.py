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


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_streaming_server_at_once(number: int, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(checkpoints["qwen3_5"], log) as (process, url):
        started = children(process.pid)
        body = {"prompt": [1, 2], "max_tokens": 900, "ignore_eos": True, "stream": True, "return_token_ids": True}
        with httpx.stream("POST", f"{url}/v1/completions", json=body, timeout=30) as answer:
            events = (line for line in answer.iter_lines() if line)
            assert "token_ids" in next(events)
            os.kill(process.pid, number)
            *_, last, done = events
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "engine_dead"
        assert done == "data: [DONE]"
        assert process.wait(timeout=15) == 0
        assert started and all(gone(child) for child in started)
    assert "Traceback" not in log.read_text()
