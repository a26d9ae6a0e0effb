"""The demo's last act: two servers, one battery, both answers side by side, whatever they are."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from isotherm.gate import last_act
from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.compare import compare
from isotherm.gate.config import GateConfig
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response


def shown(monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...], error: str | None = None) -> tuple[str, GateConfig]:
    """What is printed when the two arms answer with `texts`; the configuration that was run."""
    ran: list[GateConfig] = []

    def run_gate(config: GateConfig) -> GateReport:
        ran.append(config)
        answers = [Answer(text=text, finish_reason="stop", token_ids=(1,)) for text in texts]
        arms = tuple(
            ArmResult(arm, (Response("repro", 0, answer, compare(answers[0], answer), None),))
            for arm, answer in zip(config.arms, answers, strict=False)
        )
        return GateReport(arms, tuple(arm.name for arm in config.arms), config.batteries, error=error)

    monkeypatch.setattr(last_act, "run_gate", run_gate)
    console = Console(file=io.StringIO(), width=140)
    last_act.last_act(GateConfig(model="m", serve_args=("--threads", "1")), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue(), ran[0]


def test_it_runs_exact_mode_and_a3_on_repro_and_asserts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _, config = shown(monkeypatch, ("one", "one"))
    exact, historical = config.arms
    assert (config.batteries, config.model, config.serve_args) == (("repro",), "m", ("--threads", "1"))
    assert isinstance(exact, Arm) and exact.flags == ("--enable-prefix-caching",)
    assert "--native-kv" in historical.flags and historical.against == exact.name
    assert historical.may_differ and not historical.must_differ_bits
    assert replace(historical, against=None) == last_act.HISTORICAL


def test_both_answers_stand_side_by_side_when_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = shown(monkeypatch, ("It is raining.", "Let me ask the tool again."))
    (line,) = [line for line in text.splitlines() if "raining" in line]
    assert "ask the tool again" in line


def test_equal_answers_are_said_to_be_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = shown(monkeypatch, ("It is raining.", "It is raining."))
    assert "the same text in both" in text


def test_a_server_that_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = shown(monkeypatch, ("one",), error="the reference arm could not be run")
    assert "not shown: the reference arm could not be run" in text
