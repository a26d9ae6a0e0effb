"""The evaluation's cases: the shipped file is large and varied enough, and a bad file is named."""

import json
from collections import Counter
from pathlib import Path

import pytest

from isotherm.core.errors import ConfigError
from isotherm.evaluate.case import load_cases
from isotherm.evaluate.result import BARS


def write(path: Path, *records: object) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


CASE = {"id": "one", "group": "g", "messages": [{"role": "user", "content": "Hi"}], "expect": {"contains": []}}


def test_the_shipped_file_has_500_cases_or_more_and_every_group_that_has_a_bar() -> None:
    cases = load_cases()
    groups = Counter(case.group for case in cases)
    assert len(cases) >= 500
    assert set(groups) == set(BARS) - {"mtp_first_accept"} and min(groups.values()) >= 100


def test_the_shipped_cases_cover_the_kinds_of_value_and_turn() -> None:
    cases = load_cases()
    values = [v for case in cases for call in case.expect.calls or () for v in call.arguments.values()]
    assert {type(value) for value in values} >= {str, int, float, bool, list, dict}
    assert all(case.expect.calls is None for case in cases if case.group in ("round_trip", "no_call"))
    assert all(len(case.expect.calls or ()) > 1 for case in cases if case.group == "parallel")
    assert all(case.messages[-1]["role"] == "tool" for case in cases if case.group == "round_trip")


def test_a_limit_takes_cases_from_the_whole_file() -> None:
    few = load_cases(limit=50)
    assert len(few) == 50 and {case.group for case in few} == {case.group for case in load_cases()}
    assert load_cases(limit=10**6) == load_cases()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([CASE, {"id": "two"}], "line 2: KeyError: 'group'"),
        ([CASE, CASE], "two cases have the same id"),
        ([CASE | {"expect": {"says": "x"}}], "unknown"),
        ([CASE | {"messages": "hello"}], "line 1"),
        ([], "no cases"),
    ],
)
def test_a_bad_file_is_an_error_with_its_line(records: list[object], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_cases(write(tmp_path / "cases.jsonl", *records))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.jsonl"):
        load_cases(tmp_path / "missing.jsonl")
