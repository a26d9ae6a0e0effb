"""The bench against a server whose speed is known."""

import io
import json
import sys
import tempfile
from pathlib import Path

import pytest
from rich.console import Console

from isotherm.bench.client import BenchError
from isotherm.bench.report import BenchReport, tables
from isotherm.bench.run import BenchConfig, run_bench
from isotherm.bench.workload import TAIL, Prompts, Workload

SERVER = Path(__file__).with_name("completions_server.py")
WORK = Workload(
    (128, 512), decode_prompt=64, decode_new=20, concurrency=(1, 4), batch_prompt=64, batch_new=5, repeats=2
)


@pytest.fixture(autouse=True)
def logs_go_to_the_test_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def bench(*args: str) -> BenchReport:
    return run_bench(BenchConfig(serve_command=(sys.executable, str(SERVER)), serve_args=args, workload=WORK))


@pytest.fixture(scope="module")
def report() -> BenchReport:
    return bench()


def test_the_figures_are_those_of_the_server(report: BenchReport) -> None:
    assert report.model == "clock" and report.build == {"clock": "1"} and report.ignored_eos
    assert 100 < report.decode.median < 550, "2 ms a token, and the bench's own overhead"
    longest = report.lengths[-1]
    assert longest.prompt == 512 and longest.cached == (448, 448, 448, 448)
    assert 0.051 <= longest.cold_s.median < 0.5
    assert longest.warm_s.median < longest.cold_s.median
    assert longest.times_faster > 1.5
    assert len(report.decode.runs) == 2 and len(longest.warm_s.runs) == 4
    assert report.batches[4].median > report.batches[1].median, "the server waits for each apart from the others"


def test_the_json_has_medians_with_all_runs_and_the_table_shows_them(report: BenchReport) -> None:
    figures = json.loads(json.dumps(report.to_record()))["figures"]
    assert len(figures["decode"]["runs"]) == 2 and figures["decode"]["tokens_per_s"] > 0
    assert set(figures["prefill"]) == {"128", "512"} and figures["warm"][1]["cached_tokens"][0] == 448
    console = Console(file=io.StringIO(), width=100)
    console.print(*tables(report))
    assert set(figures["batch"]) == {"1", "4"} and len(figures["batch"]["4"]["runs"]) == 2
    assert "448" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "decode, 20 after 64" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_server_that_knows_neither_version_nor_ignore_eos_is_measured_without_them() -> None:
    report = bench("--no-version", "--strict")
    assert report.build == {} and not report.ignored_eos and report.decode.median > 0


def test_a_server_that_fails_is_an_error_that_says_what_it_said() -> None:
    with pytest.raises(BenchError, match=r"HTTP 503.*out of order"):
        bench("--broken")
    with pytest.raises(BenchError, match="ended with exit code"):
        bench("--no-such-option")
    with pytest.raises(BenchError, match="/v1/models"):
        run_bench(BenchConfig(base_url="http://127.0.0.1:9", workload=WORK))


def test_prompts_are_the_same_for_the_same_seed_and_share_nothing_within_a_run() -> None:
    one, other = Prompts(5000, 3), Prompts(5000, 3)
    first = one.next(100)
    assert first == other.next(100) and first[:1] != one.next(100)[:1]
    assert all(256 <= token < 5000 - 64 for token in first)
    warm = one.with_new_tail(first)
    assert warm[:-TAIL] == first[:-TAIL] and warm[-TAIL:] != first[-TAIL:]


def test_the_prompts_are_drawn_as_the_other_engines_were_measured_with() -> None:
    """A change here makes every comparison with recorded figures void."""
    assert Prompts(32768, 0).next(4) == [27926, 12879, 25092, 29427]
