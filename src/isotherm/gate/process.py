"""Starting a server, waiting until it is healthy, and ending it with everything that it started."""

import os
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import httpx

from isotherm.gate.redact import without_secrets

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
def running_server(
    command: Sequence[str],
    port: int,
    log: Path,
    timeout_s: float,
    url: str = "",
    env: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Run `command` in a process group of its own, yield its base URL once it is healthy, and end the group.

    log: where its standard output and error go. url: where it will answer, when not at `port` here. env: added to ours.
    Raises StartError, also when something answers there already: it would be taken for the server.
    """
    base_url = url or f"http://127.0.0.1:{port}"
    if url and _healthy(base_url):
        raise StartError(f"something answers at {base_url} already: end it, or give it as a URL instead of a command")
    with _ending_on_signals(), log.open("wb") as sink:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | dict(env or {}),
            )
        except OSError as error:
            raise StartError(f"{command[0]}: {error.strerror or error}") from error
        try:
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
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise StartError(_story(f"ended with exit code {process.returncode} before it was healthy", command, log))
        if _healthy(base_url):
            return
        time.sleep(_POLL_S)
    raise StartError(_story(f"was not healthy after {timeout_s:g} s", command, log))


def _healthy(base_url: str) -> bool:
    """Whether /health says so, or /v1/models where there is no /health. One that asks for a key is up."""
    try:
        with httpx.Client(base_url=base_url, timeout=2.0, trust_env=False) as http:
            status = http.get("/health").status_code
            if status in (404, 405, 501):
                status = http.get("/v1/models").status_code
            return status in (200, 401, 403)
    except httpx.HTTPError:
        return False


def _story(what: str, command: Sequence[str], log: Path) -> str:
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
    return "\n".join([f"the server {what}", f"command: {shlex.join(without_secrets(command))}", f"log: {log}", *tail])


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
