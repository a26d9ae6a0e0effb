"""`isotherm eval` from a file of cases to its table, its JSON and its exit code."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.evaluate.result import BARS, EvalReport, Row
from isotherm.evaluate.run import EvalConfig, run_eval
from isotherm.evaluate.terminal import print_report
from isotherm.gate.answer import Answer
from isotherm.model.tiny import write_tiny


def row(case: str, group: str, reason: str | None = None, accepted: int = 0, drafted: int = 0) -> Row:
    return Row(case, group, reason, Answer(text=f"answer of {case}"), accepted, drafted)


def full(share: float) -> EvalReport:
    """A report in which `share` of a hundred cases of every group, and of the drafts, is right."""
    right = round(100 * share)
    groups = [name for name in BARS if name != "mtp_first_accept"]
    rows = [row(f"{g}-{i}", g, None if i < right else "wrong", i < right, 1) for g in groups for i in range(100)]
    return EvalReport("", tuple(rows), {"id": "abc"})


def test_fractions_stand_under_the_promised_keys() -> None:
    record = full(0.97).to_record()
    assert record["cases"] == 500
    assert {key: record[key] for key in BARS} == dict.fromkeys(BARS, 0.97)
    assert record["pass"] is True and record["build"] == {"id": "abc"} and len(record["rows"]) == 500
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("name", BARS)
def test_each_bar_fails_the_run_alone(name: str) -> None:
    report = full(1.0)
    if name == "mtp_first_accept":
        rows = tuple(replace(item, accepted=0) for item in report.rows)
    else:
        rows = tuple(replace(item, reason="wrong") if item.group == name else item for item in report.rows)
    spoilt = replace(report, rows=rows)
    assert report.passed and not spoilt.passed
    assert [figure.name for figure in spoilt.figures() if not figure.met] == [name]


def test_a_figure_just_at_its_bar_meets_it() -> None:
    rows = tuple(row(str(i), "no_call", None if i < 95 else "wrong") for i in range(100))
    assert EvalReport("", rows).passed
    assert not EvalReport("", (*rows, row("more", "no_call", "wrong"))).passed


def test_what_was_not_counted_is_null_and_fails_nothing() -> None:
    report = EvalReport("", (row("one", "mine"),))
    record = report.to_record()
    assert report.passed and record["mtp_first_accept"] is None and record["mine"] == 1.0


def test_the_table_shows_figures_bars_and_wrong_answers() -> None:
    rows = (row("x-1", "parallel", "expected \x1b[31m f"), row("x-2", "parallel", "other"), row("x-3", "mine"))
    console = Console(width=80, record=True, file=io.StringIO())
    print_report(EvalReport("", rows, {"id": "abc"}), console, show=1)
    text = console.export_text()
    assert "0/2" in text and "missed" in text and "below the bar: parallel" in text
    assert "x-1 expected \\u001b[31m f" in text and "answer of x-1" in text and "x-2" not in text
    assert max(len(line) for line in text.splitlines()[:8]) <= 80


def test_cases_are_answered_judged_and_drafted_by_the_embedded_model() -> None:
    report = run_eval(EvalConfig(limit=12, threads=1))
    assert [row.group for row in report.rows] == sorted((row.group for row in report.rows), key=list(BARS).index)
    assert all(row.answer.token_ids and row.answer.prompt_ids for row in report.rows)
    assert any(row.answer.tool_calls for row in report.rows)
    right = sum(row.reason is None for row in report.rows)
    assert right >= 7
    drafted = next(figure for figure in report.figures() if figure.name == "mtp_first_accept")
    assert drafted.total > 50 and (drafted.fraction or 0) > 0.6


def test_a_checkpoint_without_a_drafter_is_evaluated_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    case = {"id": "one", "group": "no_call", "messages": [{"role": "user", "content": "Hi"}], "expect": {}}
    file.write_text(json.dumps(case), encoding="utf-8")
    folder = write_tiny("qwen3_5", tmp_path / "model").folder
    report = run_eval(EvalConfig(str(folder), cases=file, max_tokens=4, threads=1))
    assert report.drafter == "the checkpoint has none" and report.to_record()["mtp_first_accept"] is None
    assert len(report.rows) == 1 and len(report.rows[0].answer.token_ids) <= 4


def test_the_command_writes_json_and_exits_by_the_bars(tmp_path: Path) -> None:
    weather = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {
        "city": {"type": "string"}}, "required": ["city"]}}}  # fmt: skip
    case = {
        "id": "one",
        "group": "single_known",
        "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
        "tools": [weather],
        "expect": {"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
    }
    wrong = case | {"id": "two", "expect": {"calls": [{"name": "get_weather", "arguments": {"city": "Bergen"}}]}}
    for name, cases, code in (("good", [case], 0), ("bad", [case, wrong], 1)):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(json.dumps(item) for item in cases), encoding="utf-8")
        out = tmp_path / f"{name}.json"
        result = CliRunner().invoke(app, ["eval", "--cases", str(file), "--json", str(out), "--threads", "1"])
        assert result.exit_code == code, result.output
        record = json.loads(out.read_text(encoding="utf-8"))
        assert record["cases"] == len(cases) and record["single_known"] == 1 / len(cases)
        assert record["rows"][0]["tool_calls"] == [{"name": "get_weather", "arguments": '{"city": "Oslo"}'}]
