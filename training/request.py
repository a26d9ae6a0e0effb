"""One request for one tool: what the user says and the arguments that follow from it."""

# ruff: noqa: E501

import random
import re
from dataclasses import dataclass
from typing import Any

from training import words as w
from training.draws import invented
from training.lexicon import disturb, reword
from training.naming import generic_ask
from training.remarks import dress
from training.tool import Param, Tool
from training.values import KINDS

ASK_FOR = (
    "Which {l} should I use?", "What is the {l}?", "Please tell me the {l}.", "I need the {l} for that.", "Could you give me the {l}?",
    "Sure. What is the {l}?", "I can do that. Which {l}?",
)  # fmt: skip
PREPOSITIONS = "in|for|on|at|to|from|of|near|as|into|over|about|around|under|with|saying|called|titled|named"


@dataclass(frozen=True, slots=True)
class Request:
    """text: what the user says. arguments: in the schema's order. said: how each given value was said."""

    tool: Tool
    text: str
    arguments: dict[str, Any]
    said: dict[str, str]


def draw_values(rng: random.Random, tool: Tool) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """Arguments, how they are said, and the clauses of the optional ones that were chosen."""
    arguments: dict[str, Any] = {}
    said: dict[str, str] = {}
    clauses: list[str] = []
    drawn: set[str] = set()
    for param in tool.params:
        if not param.required and rng.random() > 0.3:
            continue
        for _ in range(5):
            text, value = KINDS[param.kind].sample(rng)
            if text not in drawn:
                break
        drawn.add(text)
        if param.kind == "boolean" and not param.required:
            value, text = True, "true"
            clauses.append(param.clause)
        elif not param.required:
            clauses.append(_clause(rng, param, text))
        arguments[param.name], said[param.name] = value, text
    return arguments, said, clauses


def _clause(rng: random.Random, param: Param, text: str) -> str:
    links = KINDS[param.kind].links
    pattern = param.clause if param.clause and rng.random() < 0.6 else rng.choice((*links, "with {n} {v}", "{n} {v}"))
    return pattern.replace("{n}", param.label).replace("{v}", text)


def fill(template: str, said: dict[str, str]) -> str:
    """The template with each `{slot}` replaced, once."""
    return re.sub(r"\{(\w+)\}", lambda m: said.get(m[1], m[0]), template)


def with_clauses(text: str, clauses: list[str]) -> str:
    """The clauses before the final mark."""
    if not clauses:
        return text
    mark = text[-1] if text and text[-1] in ".?!" else ""
    return text[: len(text) - len(mark)] + " " + " ".join(clauses) + mark


PLAIN = frozenset(("word", "product", "topic", "genre", "dish", "exercise"))
"""Kinds whose values are ordinary words, said without quotes: a stray word beside them could be the value."""


def choose_ask(rng: random.Random, tool: Tool, held: bool, noise: float = 0.3) -> str:
    """A phrasing: one of the tool's own, or one composed from its action; in training often reworded or disturbed."""
    if held:
        return rng.choice(tool.held_asks)
    while True:
        template = _choose(rng, tool, noise)
        if not is_held(tool, template):
            return template


def is_held(tool: Tool, template: str) -> bool:
    """Whether a phrasing is a held-out one, whatever its capitals and marks."""
    return _letters(template) in {_letters(held) for held in tool.held_asks} and tool.domain != "synthetic"


def _letters(text: str) -> str:
    return re.sub(r"[^\w{} ]", "", text.lower()).strip()


def _choose(rng: random.Random, tool: Tool, noise: float) -> str:
    own = tool.asks and rng.random() >= 0.15
    template = (
        rng.choice(tool.asks) if own else generic_ask(rng, tool.action, tuple(p for p in tool.params if p.required))
    )
    if rng.random() < 2 * noise:
        template = reword(rng, template, 0.4)
    if rng.random() < noise and len(template.split()) > 4 and not any(p.kind in PLAIN for p in tool.params):
        template = disturb(rng, template, _stray(rng))
    return template


def _stray(rng: random.Random) -> tuple[str, ...]:
    """Words to disturb a phrasing with."""
    return (
        *rng.sample(w.NOUNS, 3),
        *rng.sample(w.VERBS, 3),
        *rng.sample(w.ADJECTIVES, 2),
        *rng.sample(_SMALL, 5),
        invented(rng).lower(),
    )


_SMALL = (
    "just", "really", "now", "then", "again", "there", "here", "maybe", "some", "any", "this", "that", "right", "away", "over", "out",
    "up", "down", "soon", "later", "today", "well", "only", "still", "also", "kindly", "quickly", "once", "own", "whole", "thing",
    "please", "somehow", "actually", "exactly", "anyway", "by", "of", "with", "as", "into", "about", "whether", "which", "need", "want",
    "like", "should", "would", "must", "let", "us", "me", "I", "we", "it", "they", "is", "are", "be", "do", "does", "have", "has", "got",
)  # fmt: skip


def make_request(rng: random.Random, tool: Tool, held: bool = False, bare: bool = False, noise: float = 0.3) -> Request:
    """A complete request; `bare` leaves out greetings."""
    arguments, said, clauses = draw_values(rng, tool)
    text = with_clauses(fill(choose_ask(rng, tool, held, noise), said), clauses)
    return Request(tool, text if bare else dress(rng, text, held, tuple(said.values())), arguments, said)


def incomplete(rng: random.Random, tool: Tool, held: bool = False) -> tuple[Request, tuple[Param, ...]] | None:
    """A request that lacks required parameters, and those; None when the tool requires nothing."""
    required = [p for p in tool.params if p.required and p.kind not in ("boolean", "switch")]
    if not required:
        return None
    arguments, said, _ = draw_values(rng, tool)
    arguments = {p.name: arguments[p.name] for p in tool.params if p.required}
    dropped = [rng.choice(required)]
    pattern = rf",? (?:{PREPOSITIONS})(?: the)? \{{{dropped[0].name}\}}"
    asks = [a for a in (tool.held_asks if held else tool.asks) if re.search(pattern, a)]
    loose = [] if held else [a for a in tool.asks if "{" + dropped[0].name + "}" in a and a.count("{") > 1]
    if loose and rng.random() < 0.3:
        cut = re.sub(
            rf"(?:[,:;]? (?:{PREPOSITIONS})(?: the| a)?|[,:;])? ?\{{{dropped[0].name}\}}", "", rng.choice(loose)
        )
        text = fill(reword(rng, cut, 0.2), said).strip()
    elif asks and rng.random() < 0.5:
        template = re.sub(pattern, "", rng.choice(asks))
        text = fill(template if held else reword(rng, template, 0.2), said)
    else:
        if len(required) > 1 and rng.random() < 0.4:
            dropped = required
        kept = tuple(p for p in tool.params if p.required and p not in dropped)
        template = generic_ask(rng, tool.action, kept)
        text = fill(template if held else reword(rng, template, 0.2), said)
    return Request(tool, dress(rng, text, held, tuple(said.values())), arguments, said), tuple(dropped)


def question(rng: random.Random, missing: tuple[Param, ...]) -> str:
    """The assistant's question for missing values."""
    labels = [p.label for p in missing]
    return rng.choice(ASK_FOR).replace(
        "{l}", ", the ".join(labels[:-1]) + " and the " + labels[-1] if len(labels) > 1 else labels[0]
    )


def supply(rng: random.Random, missing: tuple[Param, ...], said: dict[str, str]) -> str:
    """The user's answer to that question."""
    if len(missing) == 1:
        value = said[missing[0].name]
        return (
            rng.choice(
                ("{v}", "{v}.", "{v}, please.", "The {l} is {v}.", "Use {v}.", "Take {v}", "It's {v}.", "{l}: {v}")
            )
            .replace("{v}", value)
            .replace("{l}", missing[0].label)
        )
    return rng.choice((", ", " and ", "; ")).join(f"{p.label} {said[p.name]}" for p in missing)
