"""The evaluation's cases: conversations whose next answer a machine can check. Read from JSONL, one case a line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotherm.core.errors import ConfigError
from isotherm.gate.expect import Expectation, read_expectation

SHIPPED = Path(__file__).parent / "cases.jsonl"
"""600 cases with tools and phrasings that the embedded model was not trained on, made by `python -m training.cases`."""


@dataclass(frozen=True, slots=True)
class EvalCase:
    """A conversation that ends where the model must speak. group: what the case counts towards."""

    id: str
    group: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    expect: Expectation


def load_cases(path: Path = SHIPPED, limit: int = 0) -> tuple[EvalCase, ...]:
    """The cases of a file; with a limit, about that many of them, evenly spread over the file.

    A line has `id`, `group`, `messages`, `tools` and `expect` (see `gate.expect.read_expectation`).
    Raises ConfigError naming the file and line of a case that cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("cases", f"{path}: {error}") from error
    cases = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                cases.append(_case(json.loads(line)))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                why = f"{path}, line {number}: {type(error).__name__}: {error}"
                raise ConfigError("cases", why) from error
    if not cases:
        raise ConfigError("cases", f"{path}: there are no cases in it")
    if len({case.id for case in cases}) != len(cases):
        raise ConfigError("cases", f"{path}: two cases have the same id")
    if 0 < limit < len(cases):
        return tuple(cases[index * len(cases) // limit] for index in range(limit))
    return tuple(cases)


def _case(record: dict[str, Any]) -> EvalCase:
    return EvalCase(
        id=str(record["id"]),
        group=str(record["group"]),
        messages=tuple(dict(message) for message in record["messages"]),
        tools=tuple(dict(tool) for tool in record.get("tools", ())),
        expect=read_expectation(record["expect"]),
    )
