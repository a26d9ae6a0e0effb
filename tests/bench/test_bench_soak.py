"""A soak says whether memory is flat, and what it is judged by."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isotherm.bench.soak import Sample, SoakReport
from isotherm.cli.main import app


def report(*mebibytes: int, failed: int = 0) -> SoakReport:
    samples = tuple(Sample(i, 1 << 20, (m - 1) << 20) for i, m in enumerate(mebibytes))
    return SoakReport(100, failed, 0, samples)


@pytest.mark.parametrize(
    ("samples", "flat"),
    [
        ((50, 80, 100, 100, 100, 101, 101, 101), True),
        ((50, 80, 100, 100, 100, 102, 103, 103), False),
        ((300, 200, 100, 100, 100, 100, 100, 100), True),
    ],
)
def test_growth_is_measured_after_the_first_quarter(samples: tuple[int, ...], flat: bool) -> None:
    assert report(*samples).flat is flat


def test_a_failed_request_is_not_flat() -> None:
    assert not report(*[100] * 8, failed=1).flat


def test_the_command_watches_a_server_of_its_own(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    told = tmp_path / "soak.json"
    command = ["bench", str(checkpoints["qwen3_5"]), "--soak", "40", "--threads", "1", "--json", str(told)]
    result = CliRunner().invoke(app, command)
    record = json.loads(told.read_text())
    assert record["requests"] == 40 and record["failed"] == 0 and record["cancelled"] > 0
    assert len(record["samples"]) == 40 and all(min(sample[1:]) > 1 << 20 for sample in record["samples"])
    assert result.exit_code == (0 if record["flat"] else 1) and "40 requests" in result.output
