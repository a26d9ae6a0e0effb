"""`isotherm trace`: exit codes, what is printed, and the page."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from traced import ask, break_engine, drive, open_engine, tokens
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.core.errors import IsothermError
from isotherm.trace.comparison import ABSENT, DIFFERENT, EQUAL, ONLY_A
from isotherm.trace.folder import trace_files
from isotherm.trace.map import runs, squeeze
from isotherm.trace.reader import read_trace
from isotherm.trace.record import Ended
from isotherm.trace.writer import TraceWriter

PROMPT, OTHER = tokens(140, 3), tokens(70, 4)


@pytest.fixture(scope="module")
def folders(checkpoints, tmp_path_factory) -> dict[str, Path]:
    """Two equal runs, one in which position 130 is wrong after layer 2, and one of another prompt; ids differ between them."""
    made = {}
    for name in ("right", "same", "wrong", "other"):
        made[name] = tmp_path_factory.mktemp("traces") / name
        engine = open_engine(checkpoints["qwen3_5"], made[name], caching=False)
        if name == "wrong":
            break_engine(engine, "linear", 2, 130)
        drive(engine, ask(OTHER if name == "other" else PROMPT, f"{name}-1"), ask(OTHER, f"{name}-2"))
    return made


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and output; a deliberate error is exit code 2, as in `main`."""
    result = CliRunner().invoke(app, ["trace", *map(str, arguments)])
    if isinstance(result.exception, IsothermError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def only(folder: Path, number: int = 0) -> Path:
    return trace_files(folder)[number]


def test_equal_traces_exit_with_0(folders) -> None:
    code, text = run("diff", only(folders["right"]), only(folders["same"]))
    assert code == 0 and text.startswith("equal\n")
    code, text = run("diff", folders["right"], folders["same"])
    assert code == 0 and text.count("equal") == 2


def test_different_traces_exit_with_1_and_name_the_place(folders) -> None:
    code, text = run("diff", only(folders["right"]), only(folders["wrong"]))
    assert code == 1
    assert text.startswith("different, first at position 130, layer 2 (linear_attention): hidden row\n")
    assert "  A  pass 1, prefill of positions 0..139 (140 tokens, one of 2 segments, 210 rows)\n" in text
    assert "X" in text.split("around it")[1]


def test_folders_are_matched_by_prompt_when_ids_differ(folders) -> None:
    code, text = run("diff", folders["right"], folders["wrong"])
    assert code == 1
    first, second = text.splitlines()[:2]
    assert "right-1" in first and "wrong-1" in first and "position 130" in first
    assert "right-2" in second and "wrong-2" in second and second.endswith("equal")


@pytest.mark.parametrize("case", ["prompt", "build", "file and folder", "nowhere", "empty", "unmatched"])
def test_what_cannot_be_compared_exits_with_2(folders, tmp_path, case: str) -> None:
    right = only(folders["right"])
    other = {
        "prompt": only(folders["right"], 1),
        "build": rewritten(right, tmp_path / "x.trace", build={"id": "else", "isa": "other"}),
        "file and folder": folders["right"],
        "nowhere": tmp_path / "nowhere",
        "empty": tmp_path,
        "unmatched": folders["other"],
    }[case]
    if case == "empty":
        (tmp_path / "x.trace").unlink()
    code, text = run("diff", folders["right"] if case in ("empty", "unmatched") else right, other)
    assert code == 2, text
    assert case != "unmatched" or "only in A" in text


def rewritten(source: Path, path: Path, **header: object) -> Path:
    """The same records under another header."""
    trace = read_trace(source)
    writer = TraceWriter(path, replace(trace.header, **header))
    writer.write(*trace.records)
    writer.finish(trace.ended or Ended("stop", ()))
    return path


def test_builds_and_prompts_that_differ_are_compared_when_asked(folders, tmp_path) -> None:
    right = only(folders["right"])
    built = rewritten(right, tmp_path / "b.trace", build={"id": "else"})
    assert run("diff", right, built)[0] == 2
    assert run("diff", right, built, "--any-build")[0] == 0
    longer = rewritten(right, tmp_path / "p.trace", prompt=(*PROMPT, *read_trace(right).ended.generated))
    assert run("diff", right, longer)[0] == 2
    assert run("diff", right, longer, "--prefix")[0] == 0
    assert run("diff", right, only(folders["right"], 1), "--prefix")[0] == 2


def test_json_says_the_same(folders, tmp_path) -> None:
    run("diff", only(folders["right"]), only(folders["wrong"]), "--json", tmp_path / "d.json")
    record = json.loads((tmp_path / "d.json").read_text())
    (comparison,) = record["comparisons"]
    assert comparison["schema"] == "isotherm.trace.diff/1" and not comparison["equal"]
    assert (comparison["first"]["position"], comparison["first"]["layer"]) == (130, 2)
    assert comparison["first"]["b"]["how"] == "prefill"


class Page(HTMLParser):
    """Tags, and text in titles."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def test_the_page_needs_nothing_else_and_escapes_what_files_say(folders, tmp_path) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[2J"
    sides = []
    for name in ("right", "wrong"):
        source = only(folders[name])
        layers = (evil, *read_trace(source).header.layers[1:])
        path = tmp_path / f"{name}.trace"
        sides.append(rewritten(source, path, request=evil, layers=layers, build={"id": evil}))
    code, text = run("diff", *sides, "--html", tmp_path / "p.html")
    assert code == 1 and "\x1b" not in text and r"\x1b" in text
    html = (tmp_path / "p.html").read_text()
    page = Page(html)
    assert "img" not in page.tags and "script" not in page.tags
    assert not {"src", "href", "onerror"} & set(page.attributes) and "\x1b" not in html
    assert "&lt;img" in html and page.tags.count("svg") == 1
    assert "position 130" in html and "first difference: 130" in html
    show, shown = run("show", sides[0])
    assert show == 0 and "\x1b" not in shown


def test_show_tells_what_a_file_holds(folders) -> None:
    code, text = run("show", only(folders["right"]))
    assert code == 0
    assert "140 of the prompt, 6 generated, 145 computed" in text
    assert "1 prefill, 5 decode (cut at 0..139)" in text


def test_squeezing_keeps_a_single_difference() -> None:
    status = np.full(2500, EQUAL, np.uint8)
    status[2100:] = ABSENT
    status[77] = DIFFERENT
    status[2101] = ONLY_A
    squeezed = squeeze(status, 3)
    assert len(squeezed) == 834
    assert list(runs(squeezed)) == [
        (0, 25, EQUAL),
        (25, 26, DIFFERENT),
        (26, 700, EQUAL),
        (700, 701, ONLY_A),
        (701, 834, ABSENT),
    ]


def test_a_long_request_is_drawn_in_a_bounded_page(folders, tmp_path) -> None:
    """Several positions to a column: the page grows with the runs that differ, not with the length."""
    source = only(folders["right"])
    trace = read_trace(source)
    first = trace.computed[0]
    times = 30
    long = replace(
        first,
        tokens=np.tile(first.tokens, times),
        rows=np.tile(first.rows, times),
        boundaries=first.boundaries[:0],
        states=first.states[:0],
        blocks=first.blocks[:0],
    )
    path = tmp_path / "long.trace"
    writer = TraceWriter(path, replace(trace.header, prompt=tuple(long.tokens.tolist())))
    writer.write(long)
    writer.finish(Ended("stop", ()))
    assert run("diff", path, path, "--html", tmp_path / "p.html")[0] == 0
    assert len((tmp_path / "p.html").read_text()) < 60_000


def test_generate_writes_the_trace_of_its_request(tmp_path) -> None:
    arguments = ["generate", "--prompt", "Hello", "--max-tokens", "3", "--threads", "1", "--trace", str(tmp_path / "t")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    code, text = run("show", only(tmp_path / "t"))
    assert code == 0 and "3 generated" in text and "dtype" in text
    assert CliRunner().invoke(app, arguments).exit_code != 0, "the folder has a trace"
