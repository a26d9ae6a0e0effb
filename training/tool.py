"""Tools as the generator sees them: a schema, how people ask for it, what it returns and how the answer is told."""

import random
from dataclasses import dataclass, replace
from typing import Any

from training.values import KINDS


@dataclass(frozen=True, slots=True)
class Param:
    """kind: a name of KINDS. clause: how an optional one is added to a request, `{v}` its value."""

    name: str
    kind: str
    required: bool = True
    clause: str = ""

    @property
    def label(self) -> str:
        """The name as words."""
        return humanise(self.name)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a result: a copy of an argument, a constant, or drawn from a kind."""

    name: str
    kind: str = ""
    copies: str = ""
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """asks: requests with `{param}` slots. held_asks: phrasings kept for evaluation. answers: replies with result fields."""

    name: str
    description: str
    params: tuple[Param, ...]
    action: str
    asks: tuple[str, ...]
    held_asks: tuple[str, ...]
    fields: tuple[Field, ...]
    answers: tuple[str, ...]
    domain: str = ""

    def schema(self, rng: random.Random) -> dict[str, Any]:
        """The tool as a request carries it; parameter descriptions vary."""
        properties = {p.name: KINDS[p.kind].draw_schema(rng) for p in self.params}
        if rng.random() < 0.1:
            properties = {name: {key: s[key] for key in s if key != "description"} for name, s in properties.items()}
        required = [p.name for p in self.params if p.required]
        parameters: dict[str, Any] = {"type": "object", "properties": properties}
        if required or rng.random() < 0.3:
            parameters["required"] = required
        if rng.random() < 0.1:
            parameters["additionalProperties"] = False
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        if rng.random() < 0.05:
            function["strict"] = True
        return {"type": "function", "function": function}

    def in_domain(self, domain: str) -> "Tool":
        return replace(self, domain=domain)


def humanise(name: str) -> str:
    """`start_time` and `startTime` as `start time`."""
    spaced = "".join(" " + c.lower() if c.isupper() else c for c in name)
    return " ".join(spaced.replace("_", " ").replace(".", " ").replace("-", " ").split())


def _parts(text: str, mark: str = "|") -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(mark) if part.strip())


def _param(text: str) -> Param:
    """`name:kind`, optional with `?`, and its clause in brackets after that."""
    head, _, clause = text.partition("(")
    name, _, kind = head.strip().partition(":")
    kind = kind.strip()
    return Param(name.strip(), kind.rstrip("?").strip(), not kind.endswith("?"), clause.rstrip(") "))


def _field(text: str) -> Field:
    """`name:kind`, `name=param` or `name:'constant'`."""
    if "=" in text and ":" not in text:
        name, _, copies = text.partition("=")
        return Field(name.strip(), copies=copies.strip())
    name, _, kind = text.partition(":")
    kind = kind.strip()
    return Field(name.strip(), constant=kind[1:-1]) if kind.startswith("'") else Field(name.strip(), kind=kind)


def tool(
    name: str, description: str, params: str, action: str, asks: str, held: str, result: str, answers: str
) -> Tool:
    """A tool from its compact notation; see `_param` and `_field`, alternatives parted by `|`."""
    made = Tool(
        name,
        description,
        tuple(_param(part) for part in _parts(params, ";")),
        action,
        _parts(asks),
        _parts(held),
        tuple(_field(part) for part in _parts(result, ";")),
        _parts(answers),
    )
    names = {p.name for p in made.params}
    unknown = [p.kind for p in made.params if p.kind not in KINDS] + [
        f.kind for f in made.fields if f.kind and f.kind not in KINDS
    ]
    if unknown or any(f.copies and f.copies not in names for f in made.fields):
        raise ValueError(f"{name}: unknown kinds {unknown} or a field that copies no parameter")
    return made


def with_phrasings(made: Tool, asks: str) -> Tool:
    """The tool with more requests, alternatives parted by `|`."""
    return replace(made, asks=(*made.asks, *_parts(asks)))
