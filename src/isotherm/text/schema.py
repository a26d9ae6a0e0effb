"""A tool parameter's type after its JSON schema, and its text as JSON of that type."""

import json
from typing import Any

_KINDS = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}
_SPELLINGS = {"True": "true", "False": "false", "None": "null"}


class ParameterTypes:
    """The JSON types that each parameter of each tool may have; empty when the schema does not say."""

    def __init__(self, tools: list[dict[str, Any]] | None):
        self._schemas = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in tools or []}

    def of(self, tool: str, parameter: str) -> frozenset[str]:
        """The types of one parameter."""
        root = self._schemas.get(tool, {})
        properties = root.get("properties")
        schema = properties.get(parameter) if isinstance(properties, dict) else None
        return frozenset(_types(schema, root, 0))


def is_verbatim(types: frozenset[str]) -> bool:
    """Whether a value is its text: a string, or of a type that nobody stated."""
    return types <= {"string"}


def to_json(text: str, types: frozenset[str]) -> str:
    """JSON of one of `types`: the text itself where it is that, else the text as a string.

    true, false and null are also read as Python writes them. A parameter that may be a string or something else is something
    else where its text is.
    """
    stripped = text.strip()
    written = _SPELLINGS.get(stripped, stripped)
    try:
        value = json.loads(written, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return json.dumps(text, ensure_ascii=False)
    kind = _KINDS[type(value)]
    if kind != "string" and (kind in types or (kind in ("integer", "number") and types & {"integer", "number"})):
        return written
    return json.dumps(text, ensure_ascii=False)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _types(schema: Any, root: dict[str, Any], depth: int) -> set[str]:
    """The union over alternatives and references; depth bounds references that lead to themselves."""
    if not isinstance(schema, dict) or depth > 8:
        return set()
    stated = schema.get("type")
    if isinstance(stated, str):
        return {stated}
    if isinstance(stated, list):
        return {kind for kind in stated if isinstance(kind, str)}
    if isinstance(schema.get("enum"), list):
        return {_KINDS[type(value)] for value in schema["enum"]}
    if "const" in schema:
        return {_KINDS[type(schema["const"])]}
    if isinstance(schema.get("$ref"), str):
        return _types(_resolve(schema["$ref"], root), root, depth + 1)
    lists = [schema[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)]
    return set().union(*(_types(option, root, depth + 1) for options in lists for option in options))


def _resolve(reference: str, root: dict[str, Any]) -> Any:
    """A reference within the tool's own schema ("#/$defs/Name"); None for any other."""
    if not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference[2:].split("/"):
        found = found.get(step) if isinstance(found, dict) else None
    return found
