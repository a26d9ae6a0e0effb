"""docs/mutations.md names a test for each kind of fault in the catalogue, and none that is not there."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import isotherm
from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "mutations.md"
KINDS = range(1, 32)
MEASURES = {"tune", "bench", "roof"}
"""Modules of the kernels' room that measure. Nothing on the way from a request to its tokens imports them."""


def rows() -> dict[int, list[str]]:
    """By kind, the tests that the page names, as path::name."""
    found = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {int(kind): re.findall(r"`([^`]+)`", named) for kind, named in found}


def names_by_file() -> dict[str, set[str]]:
    return {
        str(path.relative_to(TESTS)): {
            node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)
        }
        for path in TESTS.rglob("test_*.py")
    }


def test_every_kind_of_fault_has_a_test_that_bears_its_number() -> None:
    named, there = rows(), names_by_file()
    assert list(named) == list(KINDS)
    for kind, tests in named.items():
        for test in tests:
            path, _, name = test.partition("::")
            assert name in there.get(path, ()), f"kind {kind}: {test} is not there"
        assert any(f"::test_fault_{kind}_" in test for test in tests), f"kind {kind} has no test named for it"


def test_every_test_named_for_a_kind_is_in_the_table() -> None:
    listed = {test for tests in rows().values() for test in tests}
    for path, names in names_by_file().items():
        for name in names:
            if name.startswith("test_fault_"):
                assert f"{path}::{name}" in listed


def test_fault_15_disks_and_adapters_need_tests_once_they_exist() -> None:
    """Neither exists, so a file of kind 15 and the adapters of 17 and 18 have nothing to break; this fails when one is added.

    What moves to the host's memory is tested in test_host_tier.py.
    """
    settings = {field.name for config in (CacheConfig, EngineConfig, ModelConfig) for field in fields(config)}
    assert [name for name in settings if re.search("offload|disk|host|adapter|lora", name)] == ["offload_bytes"]


def test_fault_31_no_clock_is_read_between_a_request_and_its_tokens() -> None:
    """Nor does a file remember what was fast: what is measured at all is not imported where tokens are computed."""
    root = Path(isotherm.__file__).parent
    for room in ("core", "cache", "kernels", "model", "runner", "scheduler"):
        for path in (root / room).rglob("*.py"):
            if path.stem in MEASURES:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                parts = {part for name in (*names, module) for part in name.split(".")}
                assert not parts & {"time", "datetime"}, f"{path} reads a clock"
                assert not (room != "kernels" and parts & MEASURES), f"{path} imports what measures"
    clocks = [path.name for path in root.rglob("*.[ch]") if "clock" in path.read_text("utf-8")]
    assert clocks == ["pool.c"], "only how long an idle worker stays awake is timed"
