"""What the gate's tests share."""

import tempfile
from pathlib import Path

import pytest
from foreign import write_battery


@pytest.fixture(autouse=True)
def logs_go_to_the_test_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(scope="module")
def battery(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four cases, six responses; files with a battery of their own override it."""
    return write_battery(tmp_path_factory.mktemp("battery"))
