"""Tools nobody wrote: random names, parameters and phrasings, so that the model reads the schema instead of knowing it."""

# ruff: noqa: E501

import random
import re
from dataclasses import dataclass

from training import words as w
from training.draws import invented
from training.lexicon import NOUN_GROUPS, VERB_GROUPS
from training.naming import attach, mention, opaque_name, param_name, style_name
from training.tool import Field, Param, Tool, humanise
from training.values import KINDS

DESCRIBE = (
    "{Verb} the {thing}.", "{Verb} a {thing}.", "{Verb} {thing}s.", "Use this to {verb} a {thing}.", "{Verb} the {thing} of a user.",
    "{Verb} one {thing} and return the result.", "Tool that can {verb} a {thing}.", "{Verb} the given {thing}.",
    "{Verb} the {thing} with the given values.", "{Thing}: {verb} it.",
)  # fmt: skip
LEADS = (
    "{Verb} the {thing}", "Please {verb} the {thing}", "Can you {verb} the {thing}", "I need to {verb} a {thing}", "{Verb} a {thing}",
    "I'd like to {verb} the {thing}", "I want you to {verb} the {thing}", "Could you {verb} a {thing} for me", "{Verb} {thing}",
    "Time to {verb} the {thing}", "Help me {verb} the {thing}", "Let's {verb} the {thing}", "We should {verb} the {thing}",
    "{Thing}: {verb} it", "{Verb} my {thing}", "The {thing}, {verb} it", "Would you {verb} the {thing}", "Go and {verb} the {thing}",
    "What is the {thing}", "{Thing}", "{Thing}, please", "I want the {thing}", "Which {thing} is it", "How about the {thing}",
    "I have to {verb} some {thing}", "Someone should {verb} the {thing}", "What about the {thing}", "Any {thing}", "My {thing}",
    "Which {thing} fits", "{Verb} it, the {thing}", "A {thing} is needed", "Which {thing} goes", "Where is the {thing}", "How is the {thing}",
    "Does anyone {verb} a {thing}", "I'm after a {thing}", "What {thing} do I have", "{Verb} this", "{Verb} that for me", "How much {thing}",
    "Is there a {thing}", "Give me the {thing}", "We want to {verb} a {thing}", "Is it possible to {verb} the {thing}",
)  # fmt: skip
PARAM_KINDS = tuple(name for name in KINDS if name not in ("weather", "reason", "boolean"))
PLAIN = frozenset(("word", "product", "topic", "genre", "dish", "exercise", "room", "count", "small", "year"))
"""Kinds whose values cannot be told without their parameter's name."""
BARE = (
    "{Thing} {first}: {verb} it", "{Thing} {first}", "{Thing} {first}: where is it", "{Verb} {thing} {first}", "{first}: {verb} this {thing}",
    "{Thing} {first}: what now", "{Thing} {first}?", "What about {thing} {first}?", "{first}, {verb} that {thing}", "{Verb} {first}",
    "{Thing} {first}: how is it", "{Thing} of {first}?", "{Thing} with {first}",
)  # fmt: skip
"""Requests that give the values alone."""
FIELD_KINDS = (
    "id", "count", "amount", "decimal", "signed", "date", "time", "city", "person", "email", "phrase", "word", "percent", "status",
    "sentence", "path", "url", "place", "minutes", "year", "product",
)  # fmt: skip
FIELD_NAMES = ("{noun}_{kind}", "{kind}", "{noun}", "{adjective}_{noun}", "total_{noun}s")


PAIRS = (
    ("origin", "destination", "from {a} to {b}"), ("from", "to", "from {a} to {b}"), ("source", "target", "from {a} to {b}"),
    ("start", "end", "from {a} to {b}"), ("old", "new", "from {a} to {b}"), ("sender", "receiver", "from {a} to {b}"),
    ("home", "away", "{a} against {b}"), ("first", "second", "{a} and {b}"), ("base", "other", "{a} with {b}"),
    ("departure", "arrival", "from {a} to {b}"), ("current", "next", "{a} to {b}"), ("left", "right", "{a} versus {b}"),
)  # fmt: skip


def _draw_pair(rng: random.Random) -> tuple[tuple[Param, ...], str]:
    """Two parameters of one kind, told apart by their roles, and how they are said together."""
    kind = rng.choice(
        (
            "city",
            "country",
            "person",
            "date",
            "id",
            "place",
            "currency",
            "language",
            "path",
            "email",
            "decimal",
            "time",
            "team",
        )
    )
    first, second, said = rng.choice(PAIRS)
    base = rng.choice(KINDS[kind].names)
    names = [first, second] if rng.random() < 0.5 and first != "from" else [f"{first}_{base}", f"{second}_{base}"]
    if rng.random() < 0.2:
        names[0] = rng.choice(w.NOUNS)
    params = tuple(Param(name, kind) for name in names)
    if len(set(names)) < 2:
        return (), ""
    return params, said.replace("{a}", "{" + names[0] + "}").replace("{b}", "{" + names[1] + "}")


def _draw_params(rng: random.Random) -> tuple[Param, ...]:
    taken: set[str] = set()
    params = []
    count = rng.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5))
    required = rng.randint(min(1, count), min(3, count)) if count else 0
    for index in range(count):
        kind = rng.choice(PARAM_KINDS)
        params.append(Param(param_name(rng, kind, taken), kind, index < required))
    if rng.random() < 0.1:
        flag = rng.choice(("urgent", "force", "notify", "dry_run", "verbose", "recursive", "silent", "public"))
        if flag not in taken:
            params.append(
                Param(
                    flag,
                    "boolean",
                    False,
                    rng.choice(("and {n}", "{n} please", "make it {n}")).replace("{n}", humanise(flag)),
                )
            )
    if rng.random() < 0.25:
        rng.shuffle(params)
    return tuple(params)


@dataclass(frozen=True, slots=True)
class Theme:
    """The words for what a tool does (verbs) and to what (things); any of each will do."""

    verbs: tuple[str, ...]
    things: tuple[str, ...]


def _draw_theme(rng: random.Random, near: Tool | None) -> Theme:
    """Words of a meaning that several words share, or arbitrary ones; `near` shares the verb or the noun of another tool."""
    verbs = rng.choice(VERB_GROUPS) if rng.random() < 0.75 else (rng.choice(w.VERBS),)
    things: tuple[str, ...] = rng.choice(NOUN_GROUPS)
    if rng.random() < 0.5:
        noun = rng.choice(w.NOUNS) if rng.random() < 0.9 else invented(rng).lower()
        things = (
            f"{rng.choice(w.NOUNS if rng.random() < 0.5 else w.ADJECTIVES)} {noun}" if rng.random() < 0.5 else noun,
        )
    elif rng.random() < 0.15:
        adjective = rng.choice(w.ADJECTIVES)
        things = tuple(f"{adjective} {thing}" for thing in things)
    if near is not None and rng.random() < 0.5:
        verb, _, thing = near.action.partition(" the ")
        if thing and rng.random() < 0.5:
            things = (thing,)
        else:
            verbs = next((group for group in VERB_GROUPS if verb in group), verbs)
    return Theme(verbs, things)


def _stray_noun(rng: random.Random) -> str:
    """Often nothing, else a noun with a space before it: "the visa rules from ..."."""
    return f" {rng.choice(w.NOUNS)}" if rng.random() < 0.35 else ""


def invent_tool(rng: random.Random, near: Tool | None = None) -> Tool:
    """A random tool; `near` makes it resemble another, to be told apart by reading."""
    theme = _draw_theme(rng, near)
    verb, thing = rng.choice(theme.verbs), rng.choice(theme.things)
    params = _draw_params(rng)
    pair, pair_said = _draw_pair(rng) if rng.random() < 0.15 else ((), "")
    if pair:
        params = (*pair, *(p for p in params[:2] if p.name not in {q.name for q in pair}))
    fields = _draw_fields(rng, thing.split()[-1].replace("'", ""), params)

    def fill(text: str, vary: float) -> str:
        v = rng.choice(theme.verbs) if rng.random() < vary else verb
        t = rng.choice(theme.things) if rng.random() < vary else thing
        text = text.replace("{Verb}", v.capitalize()).replace("{verb}", v)
        return text.replace("{thing}", t).replace("{Thing}", t[0].upper() + t[1:])

    asks = []
    for _ in range(3):
        required = tuple(p for p in params if p.required and p not in pair)
        if rng.random() < 0.4:
            required = tuple(rng.sample(required, len(required)))
        kinds = {p.kind for p in required}
        bare = rng.random() < 0.15 and len(kinds) == len(required) and not kinds & PLAIN
        if bare and required and rng.random() < 0.3:
            asks.append(fill(rng.choice(BARE), 0.6).replace("{first}", " ".join("{" + p.name + "}" for p in required)))
            continue
        mentions = ["{" + p.name + "}" for p in required] if bare else [mention(rng, p) for p in required]
        asks.append(
            attach(rng, fill(rng.choice(LEADS), 0.6) + (f"{_stray_noun(rng)} {pair_said}" if pair else ""), mentions)
        )
    description = fill(rng.choice(DESCRIBE), 0.3)
    name = style_name(rng, re.sub(r"[^a-z ]", "", f"{verb} {thing}").split()[:4])
    roll = rng.random()
    if roll < 0.12:
        name = opaque_name(rng)
    elif roll < 0.18:
        description = rng.choice(("A tool.", "Internal function.", "Does what its name says.", "See the manual.", ""))
    return Tool(
        name,
        description,
        params,
        f"{verb} the {thing}",
        tuple(asks),
        tuple(asks),
        fields,
        tuple(_draw_answer(rng, fields, thing) for _ in range(3)),
        "synthetic",
    )


def _draw_fields(rng: random.Random, noun: str, params: tuple[Param, ...]) -> tuple[Field, ...]:
    fields: list[Field] = []
    copied = [p for p in params if p.required]
    if copied and rng.random() < 0.4:
        param = rng.choice(copied)
        fields.append(Field(param.name, copies=param.name))
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        kind = rng.choice(FIELD_KINDS)
        name = (
            rng.choice(FIELD_NAMES)
            .replace("{kind}", kind)
            .replace("{noun}", noun if rng.random() < 0.4 else rng.choice(w.NOUNS))
        )
        name = name.replace("{adjective}", rng.choice(w.ADJECTIVES))
        if all(name != other.name for other in fields):
            fields.append(Field(name, kind=kind))
    return tuple(fields)


def _draw_answer(rng: random.Random, fields: tuple[Field, ...], thing: str) -> str:
    shown = fields if rng.random() < 0.8 else fields[: max(1, len(fields) - 1)]
    style = rng.random()
    if style < 0.4:
        body = " ".join(f"The {humanise(f.name)} is {{{f.name}}}." for f in shown)
    elif style < 0.7:
        body = ", ".join(f"{humanise(f.name)} {{{f.name}}}" for f in shown) + "."
        body = body if body[0] == "{" else body[0].upper() + body[1:]
    else:
        clauses = [f"the {humanise(f.name)} is {{{f.name}}}" for f in shown]
        body = (", ".join(clauses[:-1]) + " and " + clauses[-1] if len(clauses) > 1 else clauses[0]) + "."
        body = body[0].upper() + body[1:]
    return rng.choice(("", "", "Done. ", f"For the {thing}: ", "Here it is. ", "Here is what I found. ")) + body
