"""Names of functions and parameters, and how parameters are mentioned."""

import random
import re

from training import words as w
from training.draws import invented
from training.frames import MENTIONS
from training.tool import Param
from training.values import KINDS

ENDINGS = (
    "s", "_name", "_code", "Id", "_id", "ing", "er", "ist", "ship", "_value", "_1", "_2",
    "_text", "_list", "less", "hood", "ness", "able", "ify", "_of_user", "_given", "ment", "Key", "_no",
    "ation", "let", "like", "_here", "most", "dom", "ure", "age", "ful",
)  # fmt: skip
"""What may follow a parameter's usual name, so that a name is copied and not guessed from its beginning."""
ROLES = ("from", "to", "old", "new", "first", "second", "source", "target", "start", "end", "main", "other")


def style_name(rng: random.Random, parts: list[str]) -> str:
    """The words joined as function names are."""
    parts = [re.sub(r"[^A-Za-z0-9]", "", part) or "x" for part in parts]
    style = rng.random()
    if style < 0.7:
        return "_".join(parts)
    if style < 0.88:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "-".join(parts) if style < 0.93 else "".join(part.capitalize() for part in parts)


def param_name(rng: random.Random, kind: str, taken: set[str]) -> str:
    names = KINDS[kind].names
    for _ in range(20):
        name = rng.choice(names)
        roll = rng.random()
        if roll < 0.2:
            name = f"{rng.choice(ROLES)}_{name}"
        elif roll < 0.35:
            name = f"{rng.choice(w.NOUNS)}_{name}"
        elif roll < 0.42:
            name = rng.choice(w.NOUNS)
        elif roll < 0.52:
            name += rng.choice(ENDINGS)
        elif roll < 0.55:
            name = invented(rng).lower()
        if rng.random() < 0.12:
            name = re.sub(r"_(\w)", lambda m: m[1].upper(), name)
        if name not in taken:
            break
    taken.add(name)
    return name


def mention(rng: random.Random, param: Param, natural: float = 0.4) -> str:
    links = KINDS[param.kind].links
    pattern = rng.choice(links) if links and rng.random() < natural else rng.choice(MENTIONS)
    return pattern.replace("{n}", param.label).replace("{v}", "{" + param.name + "}")


def generic_ask(rng: random.Random, action: str, params: tuple[Param, ...]) -> str:
    """A request from an action ("check the weather") and its required parameters."""
    verb, _, thing = action.partition(" ")
    lead = rng.choice(
        (
            "{A}",
            "Please {a}",
            "Can you {a}",
            "I want to {a}",
            "I'd like to {a}",
            "Could you {a}",
            "Help me {a}",
            "Let's {a}",
            "I need to {a}",
            "Now {a}",
            "I have to {a}",
            "Would you {a}",
            "You should {a}",
            "Go and {a}",
            "Time to {a}",
            "I was asked to {a}",
            "Be so kind and {a}",
        )
    )
    text = lead.replace("{a}", action).replace("{A}", verb.capitalize() + " " + thing)
    order = rng.sample(params, len(params)) if rng.random() < 0.35 else params
    return attach(rng, text, [mention(rng, p) for p in order])


def attach(rng: random.Random, text: str, mentions: list[str]) -> str:
    if len(mentions) > 1 and rng.random() < 0.25 and not text.startswith(("Can", "Could", "Would")):
        head = mentions.pop(0)
        text = head[0].upper() + head[1:] + rng.choice((", ", ": ", ". ", "; ")) + text[0].lower() + text[1:]
    if mentions:
        joiner = rng.choice((", ", " ", ", ", "; "))
        first = rng.choice((" ", " ", ": ", ", "))
        text += first + (
            joiner.join(mentions[:-1]) + rng.choice((" and ", joiner)) + mentions[-1]
            if len(mentions) > 1
            else mentions[0]
        )
    return text + rng.choice((".", "", ".", "?" if text.startswith(("Can", "Could", "Would")) else "."))


def opaque_name(rng: random.Random) -> str:
    """A name that says nothing, which can only be copied."""
    return rng.choice(
        (
            f"{rng.choice(('fn', 'tool', 'op', 'api', 'svc'))}_{rng.randint(1, 999)}",
            style_name(rng, [invented(rng).lower(), rng.choice(w.NOUNS)]),
            style_name(rng, [rng.choice(w.NOUNS), rng.choice(w.NOUNS)]),
            style_name(rng, [invented(rng).lower(), rng.choice(w.VERBS)]),
            style_name(rng, [rng.choice(w.ADJECTIVES), rng.choice(w.NOUNS), rng.choice(w.VERBS)]),
        )
    )
