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
from training.tool import Param, Tool
from training.values import KINDS

PREFIXES = (
    "Hi! ", "Hello, ", "Hey, ", "Quick question: ", "One more thing: ", "Please: ", "I have a request. ", "Good morning. ", "Next: ",
    "Okay, ", "Thanks. ", "So, ", "Now, ", "Hi there. ", "When you have a moment: ", "Great. ", "And now: ",
)  # fmt: skip
HELD_PREFIXES = ("Right, ", "Good evening! ", "Another one: ", "Hello there, ")
SUFFIXES = (
    " Thanks!",
    " Thank you.",
    " It's urgent.",
    " Please.",
    " Thanks in advance.",
    " I'm in a hurry.",
    " Much appreciated.",
)
HELD_SUFFIXES = (" Cheers!", " Many thanks.", " No rush.")
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


def dress(rng: random.Random, text: str, held: bool, values: tuple[str, ...] = ()) -> str:
    """Greetings, thanks and casual spelling around a request; a value at its start keeps its spelling."""
    fixed = text.startswith("I") or any(text.startswith(value) for value in values if value)
    if rng.random() < 0.15:
        text = text.rstrip(".?") or text
    if rng.random() < 0.2:
        prefix = rng.choice(HELD_PREFIXES if held else PREFIXES)
        text = prefix + (text[0].lower() + text[1:] if prefix.endswith((", ", ": ")) and not fixed else text)
    elif rng.random() < 0.1 and not fixed:
        text = text[0].lower() + text[1:]
    if rng.random() < 0.1:
        text = text + ("" if text[-1] in ".?!" else ".") + rng.choice(HELD_SUFFIXES if held else SUFFIXES)
    if not held and rng.random() < 0.1:
        text = aside(rng) + " " + text
    if not held and rng.random() < 0.2:
        text = text + ("" if text[-1] in ".?!" else ".") + " " + closing(rng)
    return text


PLAIN = frozenset(("word", "product", "topic", "genre", "dish", "exercise"))
"""Kinds whose values are ordinary words, said without quotes: a stray word beside them could be the value."""


def choose_ask(rng: random.Random, tool: Tool, held: bool, noise: float = 0.3) -> str:
    """A phrasing: one of the tool's own, or one composed from its action; in training often reworded or disturbed."""
    if held:
        return rng.choice(tool.held_asks)
    own = tool.asks and rng.random() >= 0.2
    template = (
        rng.choice(tool.asks) if own else generic_ask(rng, tool.action, tuple(p for p in tool.params if p.required))
    )
    if rng.random() < 2 * noise:
        template = reword(rng, template, 0.4)
    if rng.random() < noise and not any(p.kind in PLAIN for p in tool.params):
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
ASIDES = (
    "We are {a}.", "I'm {a} today.", "My {n} is {a}.", "The {n} was {a} again.", "I was at the {n} all day.", "Work was {a}.", "I can't wait.",
    "My colleague wants to know.", "It's for a friend.", "I forgot the {n}.", "We're short of time.", "I'm curious.", "There is a {n} in the way.",
    "I'd rather not do it myself.", "Here is what I need.", "I am writing from a {a} {n}.", "You helped me before.", "This one is easy.",
)  # fmt: skip
AFTER = (
    "Do it now.", "Go ahead.", "Make it quick.", "That's it.", "I'd be glad.", "Can you?", "Show me.", "Tell me.", "I need it soon.",
    "Book it.", "OK?", "Do that for me.", "I'm waiting.", "Take your time.", "Thanks a million.", "Appreciate it!", "Sorry for the trouble.",
    "That would be great.", "I owe you one.", "You're a star.", "No hurry.", "Whenever you can.", "It can wait a little.", "I trust you.",
    "Nothing else.", "Just that.", "That is all I need.", "Then I'm done.", "Good luck!", "Have a nice day.", "Best wishes.", "Kind regards.",
    "Greetings.", "Till later.", "Love it.", "Hope that's clear.", "Is that possible?", "Would that work?", "Could you do that?", "Will you?",
    "If you can.", "If possible.", "Let me know.", "Keep me posted.", "I'm listening.", "Ready?", "Come on!", "Hurry up.", "Quickly!", "Now!",
    "Show it.", "Log it.", "Check it.", "Do it please.", "Record that.", "Look it up.", "Run it.", "Find it.", "List it.", "Open it.",
    "Sounds good?", "You know the rest.", "As always.", "Like last time.", "For me.", "I insist.", "Why not.", "Let's go.", "So be it.",
)  # fmt: skip


def closing(rng: random.Random) -> str:
    """A last remark that asks for nothing more: one of the above, or a short exclamation of any word."""
    roll = rng.random()
    if roll < 0.6:
        return rng.choice(AFTER)
    word = rng.choice((rng.choice(w.ADJECTIVES), rng.choice(w.NOUNS), rng.choice(w.VERBS), invented(rng)))
    other = rng.choice((rng.choice(w.NOUNS), rng.choice(w.ADJECTIVES), "thanks", "work", "regards"))
    text = rng.choice(
        (
            "{w}!",
            "{w}.",
            "{w} {o}!",
            "{w} {o}.",
            "So {w}!",
            "Very {w}.",
            "How {w}!",
            "No {o}.",
            "All {o}.",
            "My {o} is {w}.",
            "Much {o}.",
            "Be {w}.",
        )
    )
    text = text.replace("{w}", word).replace("{o}", other)
    return text[0].upper() + text[1:]


def aside(rng: random.Random) -> str:
    """A remark that asks for nothing."""
    return rng.choice(ASIDES).replace("{a}", rng.choice(w.ADJECTIVES)).replace("{n}", rng.choice(w.NOUNS))


def make_request(rng: random.Random, tool: Tool, held: bool = False, bare: bool = False, noise: float = 0.3) -> Request:
    """A complete request; `bare` leaves out greetings."""
    arguments, said, clauses = draw_values(rng, tool)
    text = with_clauses(fill(choose_ask(rng, tool, held, noise), said), clauses)
    return Request(tool, text if bare else dress(rng, text, held, tuple(said.values())), arguments, said)


def incomplete(rng: random.Random, tool: Tool, held: bool = False) -> tuple[Request, tuple[Param, ...]] | None:
    """A request that lacks required parameters, and those; None when the tool requires nothing."""
    required = [p for p in tool.params if p.required and p.kind != "boolean"]
    if not required:
        return None
    arguments, said, _ = draw_values(rng, tool)
    arguments = {p.name: arguments[p.name] for p in tool.params if p.required}
    dropped = [rng.choice(required)]
    pattern = rf",? (?:{PREPOSITIONS})(?: the)? \{{{dropped[0].name}\}}"
    asks = [a for a in (tool.held_asks if held else tool.asks) if re.search(pattern, a)]
    if asks and rng.random() < 0.5:
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
