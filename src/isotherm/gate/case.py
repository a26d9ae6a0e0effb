"""The battery: chat requests with tools, and what the tools answer. Read from JSONL, one case a line."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from isotherm.core.errors import ConfigError
from isotherm.gate.expect import Expectation, read_expectation

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers: `content` is the text of the tool message, `name` the tool whose call it answers."""

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolResults:
    """What the tools answer to the calls of the turn before."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user says next."""

    content: str


FollowUp = ToolResults | UserTurn


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation: `messages` are sent first; after each answer comes the next follow-up, and it is sent again.

    params: the request's other fields, max_tokens among them. A case of n follow-ups gives n + 1 responses.
    expect: what each of them must be, turn by turn; None, or nothing at the end, where it is not checked.
    """

    id: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    follow_ups: tuple[FollowUp, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()
    expect: tuple[Expectation | None, ...] = ()

    def expectation(self, turn: int) -> Expectation | None:
        """What the answer of a turn (from 0) must be, if that is checked."""
        return self.expect[turn] if turn < len(self.expect) else None

    @property
    def turns(self) -> int:
        """Responses that the case gives."""
        return 1 + len(self.follow_ups)


def load_battery(name: str) -> tuple[Case, ...]:
    """The cases of one of our batteries, by name, or of a JSONL file, by path.

    A line has `id`, `messages`, `tools` (schemas, or names of tools in cases/tools.json), and optionally `system` (a text
    file beside the JSONL whose contents become the system message), `follow_ups` (each a list of {name, content}, or
    {"user": text}), `params`, and `expect` (one a turn, null where it is not checked; see `expect.read_expectation`).

    Raises ConfigError naming the file and line of a case that cannot be read.
    """
    path = CASES / f"{name}.jsonl" if "/" not in name and not name.endswith(".jsonl") else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in CASES.glob("*.jsonl")))
        raise ConfigError("battery", f"{name!r} is neither ours ({known}) nor a file")
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                cases.append(_case(json.loads(line), path.parent))
            except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
                why = f"{path}, line {number}: {type(error).__name__}: {error}"
                raise ConfigError("battery", why) from error
    if len({case.id for case in cases}) != len(cases):
        raise ConfigError("battery", f"{path}: two cases have the same id")
    return tuple(cases)


def _case(record: dict[str, Any], folder: Path) -> Case:
    messages = list(record["messages"])
    if "system" in record:
        messages.insert(
            0, {"role": "system", "content": (folder / record["system"]).read_text(encoding="utf-8").strip()}
        )
    return Case(
        id=record["id"],
        messages=tuple(messages),
        tools=tuple(_catalogue()[tool] if isinstance(tool, str) else tool for tool in record.get("tools", ())),
        follow_ups=tuple(_follow_up(item) for item in record.get("follow_ups", ())),
        params=tuple(record.get("params", {}).items()),
        expect=tuple(None if item is None else read_expectation(item) for item in record.get("expect", ())),
    )


def _follow_up(record: Any) -> FollowUp:
    if isinstance(record, dict):
        return UserTurn(record["user"])
    return ToolResults(tuple(ToolResult(result["name"], result["content"]) for result in record))


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    """Our tools' schemas by name."""
    tools = json.loads((CASES / "tools.json").read_text(encoding="utf-8"))
    return {tool["function"]["name"]: tool for tool in tools}
