"""Where servers are, and how many requests they get at once: URLs, fixed ports, twins."""

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from foreign import FOREIGN, commands, gate, verdicts

from isotherm.gate.plan import ArmOptions
from isotherm.gate.process import free_port, running_server


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[str, str]]:
    off, on = free_port(), free_port()
    flags = ("--no-enable-prefix-caching", "--enable-prefix-caching")
    start = [[*FOREIGN, "--port", str(port), flag] for port, flag in zip((off, on), flags, strict=True)]
    with (
        running_server(start[0], off, tmp_path / "off", 20.0) as off_url,
        running_server(start[1], on, tmp_path / "on", 20.0) as on_url,
    ):
        yield off_url, on_url


def test_two_urls_are_asked_as_they_are_and_said_not_to_be_fresh(battery: str, running: tuple[str, str]) -> None:
    off, on = running
    report = gate(battery, ArmOptions(off=off + "/v1/", on=on, repeat=2))
    assert verdicts(report) == {"off": "pass", "off again": "pass", "on": "pass"}
    assert report.arms[1].arm.setting == "control, asked again"
    assert sum("was up before" in line for line in report.not_compared) == 3
    assert len(report.arms[0].responses) == 6 and len(report.arms[2].responses) == 12


def test_a_command_is_not_started_where_something_answers_already(battery: str, running: tuple[str, str]) -> None:
    _, on = running
    command = shlex.join([*FOREIGN, "--port", on.rpartition(":")[2]])
    report = gate(battery, ArmOptions(off_cmd=command, on_cmd=command + " --enable-prefix-caching"))
    assert report.exit_code == 2 and "something answers at" in str(report.arms[0].error)


def test_a_command_with_a_port_of_its_own_is_found_and_ended_before_the_next_starts(battery: str) -> None:
    port = str(free_port())
    command = shlex.join([*FOREIGN, f"--port={port}"])
    start = time.perf_counter()
    report = gate(battery, ArmOptions(off_cmd=command + " --no-enable-prefix-caching", on_cmd=command))
    assert report.exit_code == 0, [result.error for result in report.arms]
    assert time.perf_counter() - start < 30


def test_a_batching_fault_is_charged_to_the_twin_and_not_to_the_cache(battery: str) -> None:
    arms = commands("--fault", "bit", "--where", "company")
    report = gate(battery, ArmOptions(off_cmd=arms.off_cmd, on_cmd=arms.on_cmd, concurrency=4))
    assert verdicts(report) == {
        "off": "pass",
        "off again": "pass",
        "on": "pass",
        "off-4": "differs",
        "on-4": "twin differs",
    }
    assert report.exit_code == 1 and report.arms[-1].exit_code == 0


def test_a_caching_fault_is_charged_to_the_arm_although_it_runs_beside_a_twin(battery: str) -> None:
    arms = commands("--fault", "bit")
    report = gate(battery, ArmOptions(off_cmd=arms.off_cmd, on_cmd=arms.on_cmd, concurrency=4))
    assert verdicts(report) | {"off": "pass", "off-4": "pass", "on-4": "differs"} == verdicts(report)
