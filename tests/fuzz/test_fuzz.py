"""The fuzzer finds what is broken, makes it small, and finds nothing in what is not."""

import json
from dataclasses import replace
from pathlib import Path

import mutations
import pytest
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.fuzz.compare import Verdict, judge
from isotherm.fuzz.draw import draw
from isotherm.fuzz.models import EVERY_KIND, open_kind
from isotherm.fuzz.run import Tally, fuzz, resumed, write_failures
from isotherm.fuzz.script import Script, script_from
from isotherm.fuzz.shrink import shrink

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.fixture(scope="module")
def model():
    return open_kind("qwen3_5", "c", "float32")


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_short_campaign_finds_nothing(kind: str) -> None:
    opened = open_kind(kind, "auto", "auto")
    verdicts = [judge(opened, draw(number, opened.longest, opened.decoder.spec.vocab_size)) for number in range(3)]
    assert [verdict.failures for verdict in verdicts] == [()] * 3
    assert sum(verdict.comparisons for verdict in verdicts) > 300


def test_hits_preemptions_and_cancellations_are_among_what_is_drawn(model) -> None:
    scripts = [draw(number, model.longest, 6144) for number in range(40)]
    asks = [ask for script in scripts for ask in script.asks]
    assert any(ask.cancel_after for ask in asks) and any(ask.sampling.prompt_logprobs for ask in asks)
    assert any(script.setting.spare_blocks == 0 and script.setting.slots == 2 for script in scripts)
    assert sum(judge(model, script).cached_tokens for script in scripts[:4]) > 0


def test_a_script_survives_being_written_down() -> None:
    script = draw(11, 704, 512)
    assert script_from(script.to_json()) == script


def test_the_same_seed_gives_the_same_tally(model) -> None:
    def first(scripts: int) -> tuple[int, int]:
        verdicts = [judge(model, draw(number, model.longest, 6144)) for number in range(scripts)]
        return sum(v.requests for v in verdicts), sum(v.comparisons for v in verdicts)

    assert first(2) == first(2)


def test_a_broken_kernel_is_found_and_its_script_made_small(model, monkeypatch, tmp_path) -> None:
    mutations.linear_sums_in_another_order_for_one_row(monkeypatch)
    monkeypatch.setattr("isotherm.runner.runner.MOST_ROWS", 0)  # a recorded pass would not meet a broken method
    number, script = next(
        (number, script) for number in range(20) if judge(model, script := draw(number, model.longest, 6144)).failures
    )
    small = shrink(script, lambda smaller: bool(judge(model, smaller).failures), tries=60)
    assert len(small.asks) < len(script.asks) and judge(model, small).failures
    tally = Tally(number, failures=[{"model": "qwen3_5", "script": json.loads(small.to_json()), "seed": 1, "what": []}])
    (path,) = write_failures(tally, tmp_path)
    assert script_from(json.dumps(json.loads(path.read_text())["script"])) == small


def test_a_campaign_stops_at_its_time_and_can_be_taken_up_again(model) -> None:
    tally = Tally(3)
    fuzz([model], tally, 0.02)
    done = tally.next
    again = resumed(json.loads(json.dumps(tally.to_record())))
    fuzz([model], again, 0.02)
    assert done >= 1 and again.next > done and again.requests > tally.requests and not again.failures


def test_a_lost_request_is_a_failure(model, monkeypatch) -> None:
    from isotherm.scheduler.scheduler import Scheduler

    true = Scheduler.complete
    monkeypatch.setattr(Scheduler, "complete", lambda self, plan, result: true(self, plan, result)[:-1])
    script = replace(draw(1, model.longest, 6144))
    assert judge(model, Script(1, script.setting, script.asks[:2])).failures


def test_the_command_counts_what_it_did(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = ["fuzz", "--minutes", "0.02", "--kinds", "qwen3_5_moe", "--json", str(told)]
    command += ["--failures", str(tmp_path / "failures")]
    assert CliRunner().invoke(app, command).exit_code == 0
    record = json.loads(told.read_text())
    assert record["requests"] > 0 and record["comparisons"] > 0 and record["failures"] == 0
    assert sum(model["requests"] for model in record["models"].values()) == record["requests"]
    assert CliRunner().invoke(app, [*command, "--resume"]).exit_code == 0
    assert json.loads(told.read_text())["requests"] > record["requests"]


def test_a_failing_script_is_told_before_it_is_made_smaller(model, monkeypatch) -> None:
    """Making it smaller takes minutes, in which a campaign may be ended."""
    monkeypatch.setattr("isotherm.fuzz.run.judge", lambda model, script: Verdict(3, 5, ("wrong",)))
    told: list[list[dict[str, object]]] = []
    fuzz([model], tally := Tally(1), 1.0, lambda so_far: told.append([dict(failed) for failed in so_far.failures]))
    first, second = told[0][0], told[1][0]
    assert (first["what"], second["what"]) == (["wrong"], ["wrong"]) and first[
        "kernels"
    ] == model.decoder.kernels.fingerprint()
    assert len(second["script"]["asks"]) < len(first["script"]["asks"])
    assert len(tally.failures) == 5 and tally.next == 5


def test_a_kind_that_there_is_not_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["fuzz", "--kinds", "gpt", "--minutes", "0"])
    assert result.exit_code != 0 and "kinds" in str(result.exception or result.output)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_once_failed_is_mended(path: Path) -> None:
    record = json.loads(path.read_text())
    opened = open_kind(record["model"], "auto", "auto")
    assert judge(opened, script_from(json.dumps(record["script"]))).failures == ()
