"""Starting a server, waiting until it is healthy, and ending it with everything that it started."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import httpx

_POLL_S = 0.05
_GRACE_S = 10.0


class StartError(Exception):
    """A server that did not become healthy. The message has the command, the log's path and its last lines."""


def free_port() -> int:
    """A loopback port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server(command: Sequence[str], port: int, log: Path, timeout_s: float) -> Iterator[str]:
    """Run `command` in a process group of its own, yield its base URL once /health answers, and end the group.

    log: where its standard output and error go. Raises StartError.
    """
    with _ending_on_signals(), log.open("wb") as sink:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            base_url = f"http://127.0.0.1:{port}"
            _await_health(process, base_url, timeout_s, command, log)
            yield base_url
        finally:
            _end(process)


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """While a server runs, SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that no server outlives us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _exit) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _await_health(
    process: subprocess.Popen[bytes], base_url: str, timeout_s: float, command: Sequence[str], log: Path
) -> None:
    deadline = time.monotonic() + timeout_s
    with httpx.Client(base_url=base_url, timeout=2.0, trust_env=False) as http:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise StartError(
                    _story(f"ended with exit code {process.returncode} before it was healthy", command, log)
                )
            try:
                if http.get("/health").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(_POLL_S)
    raise StartError(_story(f"was not healthy after {timeout_s:g} s", command, log))


def _story(what: str, command: Sequence[str], log: Path) -> str:
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
    return "\n".join([f"the server {what}", f"command: {' '.join(command)}", f"log: {log}", *tail])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end, then make it. Its children may outlive the leader, so the group is killed in any case."""
    _signal(process, signal.SIGTERM)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
