"""Tools nobody wrote: random names, parameters and phrasings, so that the model reads the schema instead of knowing it."""

# ruff: noqa: E501

import random
import re
from dataclasses import dataclass

from training import words as w
from training.catalogue.held_out import TOOLS as HELD_OUT
from training.draws import invented
from training.frames import compose_ask
from training.lexicon import NOUN_GROUPS, VERB_GROUPS
from training.naming import opaque_name, param_name, style_name
from training.tool import Field, Param, Tool, humanise
from training.values import KINDS

DESCRIBE = (
    "{Verb} the {thing}.", "{Verb} a {thing}.", "{Verb} {thing}s.", "Use this to {verb} a {thing}.", "{Verb} the {thing} of a user.",
    "{Verb} one {thing} and return the result.", "Tool that can {verb} a {thing}.", "{Verb} the given {thing}.",
    "{Verb} the {thing} with the given values.", "{Thing}: {verb} it.",
)  # fmt: skip
PARAM_KINDS = tuple(name for name in KINDS if name not in ("weather", "reason", "boolean"))
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


UNITS = (
    ("years", "small"), ("months", "small"), ("weeks", "small"), ("days", "small"), ("nights", "small"), ("hours", "count"), ("minutes", "count"),
    ("pages", "count"), ("copies", "small"), ("people", "small"), ("rooms", "small"), ("tickets", "small"), ("boxes", "count"), ("points", "count"),
    ("percent", "percent"), ("kilograms", "amount"), ("litres", "amount"), ("meters", "amount"), ("degrees", "signed"), ("euros", "amount"),
)  # fmt: skip
"""What is counted, and the kind of its number."""
SUMS = ("sum", "value", "total", "start", "base", "capital", "budget", "size", "price", "load")


def plain_name(name: str) -> str:
    """A name's letters alone, so that names of any style compare."""
    return re.sub(r"[^a-z]", "", name.lower())


HELD_NAMES = frozenset(plain_name(tool.name) for tool in HELD_OUT)


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


def _draw_measures(rng: random.Random) -> tuple[tuple[Param, ...], str]:
    """Two or three numbers told apart by their units alone, or by having none, and how they are said in any order."""
    units = rng.sample(UNITS, rng.choice((2, 2, 3)))
    params, said = [], []
    for unit, kind in units:
        name = unit if rng.random() < 0.6 else f"{rng.choice(w.NOUNS)}_{unit}"
        if unit == "percent" and rng.random() < 0.6:
            name = rng.choice(("rate", "share", "interest", "discount", "percentage"))
        params.append(Param(name, kind))
        said.append(f"{{{name}}} {unit}")
    if rng.random() < 0.5:
        params[0] = Param(rng.choice(SUMS), rng.choice(("amount", "amount", "count")))
        said[0] = f"{{{params[0].name}}}"
    rng.shuffle(said)
    joiner = rng.choice((", ", ", ", " and ", " for ", " at ", " over ", "; ", " with "))
    return tuple(params), joiner.join(said)


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
        noun = rng.choice(w.NOUNS) if rng.random() < 0.8 else invented(rng).lower()
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


def invent_tool(rng: random.Random, near: Tool | None = None) -> Tool:
    """A random tool, never one with a held-out tool's name; `near` makes it resemble another, to be told apart by reading."""
    while True:
        made = _invent(rng, near)
        if plain_name(made.name) not in HELD_NAMES:
            return made


def _invent(rng: random.Random, near: Tool | None) -> Tool:
    theme = _draw_theme(rng, near)
    verb, thing = rng.choice(theme.verbs), rng.choice(theme.things)
    params = _draw_params(rng)
    pair, pair_said = _draw_pair(rng) if rng.random() < 0.15 else ((), "")
    if not pair and rng.random() < 0.1:
        pair, pair_said = _draw_measures(rng)
    if pair:
        params = (*pair, *(p for p in params[:2] if p.name not in {q.name for q in pair}))
    fields = _draw_fields(rng, thing.split()[-1].replace("'", ""), params)

    def fill(text: str, vary: float) -> str:
        v = rng.choice(theme.verbs) if rng.random() < vary else verb
        t = rng.choice(theme.things) if rng.random() < vary else thing
        text = text.replace("{Verb}", v.capitalize()).replace("{verb}", v)
        return text.replace("{thing}", t).replace("{Thing}", t[0].upper() + t[1:])

    required = tuple(p for p in params if p.required)
    asks = [compose_ask(rng, lambda text: fill(text, 0.6), required, pair, pair_said) for _ in range(3)]
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
