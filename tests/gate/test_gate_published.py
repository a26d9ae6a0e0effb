"""The published arms are data: what each must show, and that our server takes its flags."""

from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from isotherm.cli import launch
from isotherm.cli.main import app
from isotherm.core.config import EngineConfig
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.client import restored_states
from isotherm.gate.compare import Comparison
from isotherm.gate.plan import ArmOptions, plan
from isotherm.gate.published import FINE, GRID, PUBLISHED
from isotherm.gate.result import ArmResult, Response
from isotherm.server.metrics import Metrics

ARMS = {arm.name: arm for arm in PUBLISHED}
PLAIN = NativeConfig()
A4 = NativeConfig(tail_split=True, restore="below", kv="reuse", replay="sequential")
ON_GRID = NativeConfig(restore="below", replay="sequential", grid=GRID, fine_grid=FINE)
EXPECTED = {
    "native-off": NativeConfig(),
    "A0": PLAIN,
    "A1": NativeConfig(restore="never"),
    "A2": NativeConfig(restore="never", tail_split=True),
    "A3": replace(A4, match_unit=1),
    "A4": A4,
    "kv-rewritten": replace(A4, kv="recompute"),
    "grid-off": NativeConfig(grid=GRID, fine_grid=FINE),
    "grid": ON_GRID,
    "grid-chunked": replace(ON_GRID, replay="chunked"),
    "grid-4": replace(ON_GRID, replay="chunked"),
    "mtp-off": NativeConfig(grid=GRID, fine_grid=FINE),
    "mtp": replace(ON_GRID, replay="chunked"),
    "mtp-anchored": replace(ON_GRID, replay="chunked", drafter_anchor=True),
    "exact-off": PLAIN,
    "exact-on": PLAIN,
}


def served(arm: Arm, monkeypatch: pytest.MonkeyPatch) -> EngineConfig:
    """What `isotherm serve` with the gate's own options and the arm's flags would launch."""
    launched: list[Any] = []
    monkeypatch.setattr(launch, "launch", lambda *settings: launched.append(settings))
    result = CliRunner().invoke(app, ["serve", "--kernels", "c", "--dtype", "float32", "--threads", "2", *arm.flags])
    if result.exception is not None:
        raise result.exception
    return launched[0][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ARMS)
def test_our_server_takes_every_arms_flags(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arm, config = ARMS[name], served(ARMS[name], monkeypatch)
    assert config.native == EXPECTED[name]
    assert config.numerics == ("exact" if name.startswith("exact") else "native")
    assert config.cache.enable_prefix_caching == arm.caching == (not name.endswith("off") and name != "A0")
    assert config.has_drafter == name.startswith("mtp")
    if config.numerics == "native":
        assert (config.scheduler.max_num_batched_tokens, config.model.threads) == (32768, 1)


def test_arms_published_is_planned_as_it_is_and_takes_no_other_options() -> None:
    assert plan(ArmOptions(arms="published")) == PUBLISHED
    with pytest.raises(ConfigError):
        plan(ArmOptions(arms="published", repeat=2))


def test_what_is_asserted_and_what_is_only_shown() -> None:
    free = {"A4", "kv-rewritten", "grid-off", "grid", "grid-4", "mtp-off", "mtp", "exact-off"}
    assert {name for name, arm in ARMS.items() if arm.may_differ} == free
    assert {name for name, arm in ARMS.items() if arm.must_differ_bits} == {"A2", "A3"}
    assert [name for name, arm in ARMS.items() if arm.control] == ["A0"]
    against = {name: arm.against for name, arm in ARMS.items() if arm.against}
    assert against == {
        "grid-off": "grid-off",
        "grid": "grid-off",
        "grid-chunked": "grid-off",
        "grid-4": "grid-off",
        "mtp-off": "mtp-off",
        "mtp": "mtp-off",
        "mtp-anchored": "mtp-off",
        "exact-off": "exact-off",
        "exact-on": "exact-off",
    }


def test_an_arm_that_never_restores_need_not_hit() -> None:
    response = Response("case", 0, Answer(cached_tokens=0), Comparison(()), None)
    assert ArmResult(ARMS["A1"], (response,)).verdict == "pass"
    assert ArmResult(ARMS["A4"], (response,)).verdict == "no hits"


def test_restored_states_are_read_from_our_own_metrics() -> None:
    metrics = Metrics("m", EngineInfo(100, 100, 1, 1, 0, True))
    assert restored_states(metrics.render(EngineStats()).decode()) is None
    text = metrics.render(EngineStats(states_restored=7, states_restored_equal=6)).decode()
    assert restored_states(text) == (6, 7)
    assert restored_states("") is None
