"""The shape of the code: rooms, file lengths, and no torch where there must be none."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "isotherm"
FILES = sorted(ROOT.rglob("*.py"))
ROOMS = {
    "bench",
    "cache",
    "cli",
    "core",
    "engine",
    "evaluate",
    "fuzz",
    "gate",
    "kernels",
    "model",
    "native",
    "runner",
    "scheduler",
    "server",
    "text",
    "trace",
}


def test_the_rooms_are_those_of_the_design() -> None:
    assert {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"} == ROOMS


def test_no_file_is_longer_than_250_lines() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in FILES if (lines := len(path.read_text().splitlines())) > 250}
    assert not long


def test_every_module_says_what_it_is() -> None:
    silent = [str(path.relative_to(ROOT)) for path in FILES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert not silent


@pytest.mark.parametrize("room", ["core", "cache", "scheduler", "text", "server", "gate", "bench", "trace"])
def test_importing_a_torch_free_room_does_not_import_torch(room: str) -> None:
    modules = [
        ".".join(("isotherm", *path.relative_to(ROOT).with_suffix("").parts))
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    code = f"import sys\nfor name in {modules!r}: __import__(name)\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
