"""A soak says whether memory is flat, and what it is judged by."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from isotherm.bench import soak as soak_room
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


def event(**record: object) -> bytes:
    return b"data: " + json.dumps(record).encode() + b"\n\n"


TOKEN = event(choices=[{"text": "x", "finish_reason": None}])
END = event(choices=[{"text": "", "finish_reason": "length"}])
DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("content", "ok"),
    [
        (TOKEN + END + DONE, True),
        (TOKEN + event(error={"message": "the engine is not running"}) + DONE, False),
        (TOKEN + DONE, False),
        (TOKEN + END, False),
        (TOKEN + event(choices=[{"text": "", "finish_reason": "error"}]) + DONE, False),
    ],
    ids=["whole", "an error", "no reason", "cut off", "failed"],
)
def test_a_stream_counts_as_answered_only_when_it_comes_to_its_end(content: bytes, ok: bool) -> None:
    async def answered() -> bool:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, content=content))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await soak_room._answered(http, {"stream": True}, leaves=False)

    assert asyncio.run(answered()) is ok
