"""Clients that vanish, and what is said of the server afterwards."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isotherm.bench.vanish import SPARE_FILES, VanishReport
from isotherm.cli.main import app

SOUND = VanishReport(10, {"connected": 10}, 0, 0, True, 0.0)


@pytest.mark.parametrize(
    "harm", [{"running": 1}, {"open_files": SPARE_FILES + 1}, {"same_answer": False}, {"growth": 0.021}]
)
def test_each_harm_alone_is_told(harm: dict[str, object]) -> None:
    harmed = replace(SOUND, **harm)  # type: ignore[arg-type]
    assert SOUND.unharmed and "unharmed" in SOUND.line()
    assert not harmed.unharmed and "HARMED" in harmed.line() and harmed.to_record()["unharmed"] is False


def test_a_server_is_unharmed_by_clients_that_vanish_at_every_stage(
    checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    told = tmp_path / "vanish.json"
    command = ["bench", str(checkpoints["qwen3_5"]), "--vanish", "60", "--threads", "1", "--json", str(told)]
    result = CliRunner().invoke(app, command)
    record = json.loads(told.read_text())
    assert sum(record["stages"].values()) == 60 and len(record["stages"]) == 6
    assert (record["running"], record["same_answer"]) == (0, True) and record["open_files"] <= SPARE_FILES
    assert result.exit_code == (0 if record["unharmed"] else 1) and "60 clients vanished" in result.output
