"""`--numerics` and its switches, as typed."""

from typing import Any

import pytest
from typer.testing import CliRunner

from isotherm.cli import launch
from isotherm.cli.main import app
from isotherm.core.config import EngineConfig
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig

SWITCHES = [
    ("--native-tail-split",),
    ("--native-restore", "deepest"),
    ("--native-kv", "recompute"),
    ("--native-match-unit", "64"),
    ("--native-replay", "chunked"),
    ("--native-grid", "0"),
    ("--native-fine-grid", "0"),
    ("--native-drafter-anchor",),
    ("--native-drafter-anchor-bytes", "1000"),
]


def serve(monkeypatch: pytest.MonkeyPatch, *args: str) -> EngineConfig:
    launched: list[Any] = []
    monkeypatch.setattr(launch, "launch", lambda *settings: launched.append(settings))
    result = CliRunner().invoke(app, ["serve", *args])
    if result.exception is not None:
        raise result.exception
    return launched[0][0]  # type: ignore[no-any-return]


def test_exact_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    config = serve(monkeypatch)
    assert (config.numerics, config.native) == ("exact", NativeConfig())


def test_every_switch_reaches_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "--numerics native --native-tail-split --native-restore below --native-kv reuse --native-match-unit 1"
    config = serve(monkeypatch, *flags.split(), "--native-replay", "sequential")
    expected = NativeConfig(tail_split=True, restore="below", kv="reuse", match_unit=1, replay="sequential")
    assert (config.numerics, config.native) == ("native", expected)
    grid = serve(monkeypatch, "--numerics", "native", "--native-grid", "512", "--native-fine-grid", "128")
    assert grid.native == NativeConfig(grid=512, fine_grid=128)
    drafts = ("--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}')
    flags = ("--native-drafter-anchor", "--native-drafter-anchor-bytes", "5000")
    anchored = serve(monkeypatch, "--numerics", "native", *drafts, *flags)
    assert anchored.native == NativeConfig(drafter_anchor=True, drafter_anchor_bytes=5000)
    assert anchored.has_drafter and anchored.most_drafts == 2


@pytest.mark.parametrize("command", ["serve", "generate", "chat"])
@pytest.mark.parametrize("flag", SWITCHES, ids=" ".join)
def test_a_switch_typed_in_exact_mode_is_refused_by_its_flag(command: str, flag: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [command, *flag])
    assert isinstance(result.exception, ConfigError)
    assert result.exception.field == flag[0] and "--numerics native" in result.exception.message


def test_unknown_numerics_are_refused() -> None:
    result = CliRunner().invoke(app, ["serve", "--numerics", "fast"])
    assert isinstance(result.exception, ConfigError) and result.exception.field == "--numerics"


@pytest.mark.parametrize("command", ["serve", "generate", "chat"])
def test_the_help_shows_the_switches_as_a_group(command: str) -> None:
    text = CliRunner().invoke(app, [command, "--help"]).output
    options, native = text.split("Native numerics")
    assert "--threads" in options and "--native" not in options and "--numerics" not in options
    assert all(flag[0] in native for flag in SWITCHES)
