"""Servers are waited for, and none is left behind."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import httpx
import pytest

from isotherm.gate.process import StartError, free_port, running_server

FAKE = Path(__file__).with_name("fake_server.py")


def alive(url: str) -> bool:
    try:
        return httpx.get(url + "/health", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def runs(process: int) -> bool:
    """Whether the process is there and not merely unburied, as an orphan is where nobody adopts it."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def command(port: int) -> list[str]:
    return [sys.executable, str(FAKE), "--port", str(port)]


def test_a_server_is_up_inside_and_gone_after_also_when_an_error_ends_it(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(RuntimeError), running_server(command(port), port, tmp_path / "log", 20.0) as url:
        assert alive(url)
        raise RuntimeError
    assert not alive(url)


def test_what_the_server_started_ends_with_it(tmp_path: Path) -> None:
    port = free_port()
    shell = ["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/child; exec {' '.join(command(port))}"]
    with running_server(shell, port, tmp_path / "log", 20.0):
        child = int((tmp_path / "child").read_text())
        assert runs(child)
    deadline = time.monotonic() + 5
    while runs(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not runs(child)


def test_a_gate_that_is_told_to_terminate_leaves_no_server(tmp_path: Path) -> None:
    port = free_port()
    script = f"""
        import sys, time
        from pathlib import Path
        from isotherm.gate.process import running_server
        with running_server({command(port)!r}, {port}, Path({str(tmp_path / "log")!r}), 20.0):
            print("up", flush=True)
            time.sleep(60)
    """
    gate = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert gate.stdout is not None and gate.stdout.readline() == "up\n"
    gate.send_signal(signal.SIGTERM)
    assert gate.wait(20) == 128 + signal.SIGTERM
    assert not alive(f"http://127.0.0.1:{port}")


def test_a_server_that_is_never_healthy_is_told_with_its_command_and_log(tmp_path: Path) -> None:
    port = free_port()
    with (
        pytest.raises(StartError, match=r"not healthy after 0.3 s(?s:.*)sleep 60(?s:.*)log: "),
        running_server(["sleep", "60"], port, tmp_path / "log", 0.3),
    ):
        pass
