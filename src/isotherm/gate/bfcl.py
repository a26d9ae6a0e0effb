"""The Berkeley Function-Calling Leaderboard's cases, from the `bfcl-eval` package when it is installed: its data only.

Parallel categories give one response a case. In a multi-turn case each question is followed by an answer, what the tools say, and
an answer to that. What a tool says is made from the response that its document declares, one result a call of the reference
solution: the gate compares servers with each other, so it needs the same results for all, not the right ones.
"""

import ast
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isotherm.core.errors import ConfigError
from isotherm.gate.case import Case, FollowUp, ToolResult, ToolResults, UserTurn

PACKAGE = "bfcl-eval"
PARALLEL = ("parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple")
MULTI_TURN = ("multi_turn_base",)
DOCUMENTS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""The file in data/multi_turn_func_doc that documents a class's functions."""

TYPES = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "bool": "boolean",
    "str": "string",
    "int": "integer",
}
"""The package's names of types that JSON Schema calls otherwise."""

_JSON_TYPES = {"object", "number", "array", "boolean", "string", "integer", "null"}
_MAX_TOKENS = 512


def load_bfcl(limit: int = 0, data: Path | None = None) -> tuple[Case, ...]:
    """The cases of every category; with a limit, at most so many of each. data: the package's data folder, found if not given.

    Raises ConfigError when the package is not installed or its files are not as expected.
    """
    data = data or _data_folder()
    try:
        cases = [case for name in PARALLEL for case in _some(_parallel(data, name), limit)]
        return tuple(cases + [case for name in MULTI_TURN for case in _some(_multi_turn(data, name), limit)])
    except (KeyError, TypeError, AttributeError, ValueError, OSError, SyntaxError) as error:
        raise ConfigError("battery", f"bfcl: {data}: {type(error).__name__}: {error}") from error


def _data_folder() -> Path:
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            "battery", f"bfcl comes from the package {PACKAGE}, which is not installed: pip install {PACKAGE}"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def _some(cases: Iterator[Case], limit: int) -> list[Case]:
    every = list(cases)
    if not 0 < limit < len(every):
        return every
    return [every[index * len(every) // limit] for index in range(limit)]


def _records(folder: Path, category: str) -> list[dict[str, Any]]:
    """The lines of a category's file, whatever the version in its name."""
    files = sorted(folder.glob(f"BFCL_v*_{category}.json"))
    named = [file for file in files if re.fullmatch(rf"BFCL_v\d+_{category}", file.stem)]
    if not named:
        raise OSError(f"no file named BFCL_v*_{category}.json in {folder}")
    return _lines(named[-1])


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def _parallel(data: Path, category: str) -> Iterator[Case]:
    for record in _records(data, category):
        tools = tuple(_tool(function) for function in record["function"])
        yield Case(f"bfcl-{record['id']}", tuple(record["question"][0]), tools, params=(("max_tokens", _MAX_TOKENS),))


def _multi_turn(data: Path, category: str) -> Iterator[Case]:
    solutions = {record["id"]: record["ground_truth"] for record in _records(data / "possible_answer", category)}
    documents = {name: _lines(data / "multi_turn_func_doc" / f"{file}.json") for name, file in DOCUMENTS.items()}
    for record in _records(data, category):
        left_out = set(record.get("excluded_function", ()))
        functions = [f for name in record["involved_classes"] for f in documents[name] if f["name"] not in left_out]
        responses = {_name(function["name"]): function.get("response", {}) for function in functions}
        turns = [
            (questions, _results(calls, responses))
            for questions, calls in zip(record["question"], solutions[record["id"]], strict=True)
        ]
        yield Case(
            id=f"bfcl-{record['id']}",
            messages=tuple(turns[0][0]),
            tools=tuple(_tool(function) for function in functions),
            follow_ups=tuple(_follow_ups(turns)),
            params=(("max_tokens", _MAX_TOKENS),),
        )


def _follow_ups(turns: list[tuple[list[dict[str, Any]], tuple[ToolResult, ...]]]) -> Iterator[FollowUp]:
    for number, (questions, results) in enumerate(turns):
        if number:
            yield UserTurn("\n\n".join(str(question["content"]) for question in questions))
        if results:
            yield ToolResults(results)


def _results(calls: list[str], responses: dict[str, Any]) -> tuple[ToolResult, ...]:
    """calls: Python call expressions, of which only the names are read."""
    names = []
    for call in calls:
        expression = ast.parse(call, mode="eval").body
        if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Name):
            raise ValueError(f"expected a call, got {call!r}")
        names.append(_name(expression.func.id))
    return tuple(ToolResult(name, json.dumps(_made_up(responses.get(name, {}), name))) for name in names)


def _made_up(schema: dict[str, Any], name: str) -> Any:
    """A value of a declared type, the same every time."""
    kind = TYPES.get(schema.get("type", "dict"), schema.get("type"))
    if kind == "object":
        return {key: _made_up(value, key) for key, value in schema.get("properties", {}).items()} or {"status": "done"}
    if kind == "array":
        return [_made_up(schema.get("items", {"type": "string"}), name)]
    return {"boolean": True, "integer": 1 + sum(name.encode()) % 97, "number": sum(name.encode()) % 970 / 10}.get(
        str(kind), f"{name} of record {1 + sum(name.encode()) % 9}"
    )


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    described = {"name": _name(function["name"]), "description": function.get("description", "")}
    return {"type": "function", "function": described | {"parameters": json_schema(function["parameters"])}}


def _name(name: str) -> str:
    """A name that the OpenAI API allows."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the package as JSON Schema: types by their JSON names, "any" without one, and `optional` left out."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            kind = TYPES.get(value, value)
            made |= {"type": kind} if kind in _JSON_TYPES else {}
        elif key == "properties":
            made[key] = {name: json_schema(part) for name, part in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            made[key] = json_schema(value)
        elif key != "optional":
            made[key] = value
    return made
