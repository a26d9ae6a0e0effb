"""Quality does not depend on the mode: the same cases, the same answers, the same bits."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.evaluate.modes import MODES, run_modes
from isotherm.evaluate.run import EvalConfig

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

SYSTEM = {
    "role": "system",
    "content": "You are a calm assistant. You answer in whole sentences, and you never guess. " * 3,
}
QUESTIONS = (
    *(f"What is the weather in {city}?" for city in ("Oslo", "Lima", "Cairo", "Pune", "Quito", "Accra")),
    *(f"Tell me what you know about the number {number}. " * (1 + number % 5) for number in range(1, 19)),
)


def cases() -> list[dict[str, object]]:
    """Two dozen conversations of several lengths, six with a tool."""
    found = []
    for number, question in enumerate(QUESTIONS):
        case = {"id": f"c{number}", "group": "mine", "messages": [SYSTEM, {"role": "user", "content": question}]}
        found.append(case | {"tools": [TOOL] if number < 6 else [], "expect": {}})
    return found


def test_every_mode_gives_every_case_the_same_answer_and_makes_use_of_what_it_is_named_for(tmp_path: Path) -> None:
    file, told = tmp_path / "cases.jsonl", tmp_path / "modes.json"
    file.write_text("\n".join(map(json.dumps, cases())), encoding="utf-8")
    command = ["eval", "--modes", "--cases", str(file), "--max-tokens", "32", "--threads", "1", "--json", str(told)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    record = json.loads(told.read_text())
    alone, *others = record["modes"]
    assert [mode["mode"] for mode in others] == [mode.name for mode in MODES]
    assert record["same"] and not any(mode["differ"] for mode in others) and alone["cached"] == 0
    by_name = {mode["mode"]: mode for mode in others}
    assert by_name["the same once more, warm"]["cached"] >= 24 * 64
    assert by_name["a pool that is too small"]["preemptions"] > 0
    assert all(by_name[name]["accepted"] > 0 for name in ("3 drafts by the drafter", "3 drafts by n-gram"))
    assert "every token and log-probability is the same" in result.output


def test_a_mode_that_answers_otherwise_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from isotherm.kernels.c_provider import CKernels

    file, true = tmp_path / "cases.jsonl", CKernels.logits
    file.write_text("\n".join(map(json.dumps, cases()[6:10])), encoding="utf-8")
    monkeypatch.setattr("isotherm.runner.runner.MOST_ROWS", 0)  # a recorded pass would not meet a broken method
    monkeypatch.setattr(CKernels, "logits", lambda self, x, w: true(self, x, w) * (1 if x.shape[0] == 1 else 1.01))
    report = run_modes(EvalConfig(cases=file, max_tokens=4, threads=1), modes=MODES[:2])
    assert not report.same and all(result.differ for result in report.results[1:])
    assert report.results[0].differ == () and "differs in c6" in report.line()
