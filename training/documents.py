"""Preambles and documents: policies, catalogues, prose and lists with facts to find, from a few words to tens of thousands."""

# ruff: noqa: E501

import random
from dataclasses import dataclass

from training import words as w
from training.draws import clock, date, digits, identifier, invented, number, person
from training.values import KINDS

ATTRIBUTES = {
    "access code": "id", "serial number": "id", "owner": "person", "manager": "person", "opening date": "date", "deadline": "date",
    "capacity": "count", "price": "amount", "budget": "amount", "color": "color", "phone number": "phone", "contact address": "email",
    "location": "city", "temperature": "signed", "weight in kilograms": "amount", "closing time": "time", "director": "person",
    "reference": "id", "founding year": "year", "depth in meters": "decimal", "next inspection": "date", "language": "language",
    "fee": "amount", "refund window in days": "count", "supplier": "word", "home page": "url", "password": "id", "rating": "percent",
}  # fmt: skip
HELD_QUESTIONS = (
    "I'd like to know the {a} of {s}.",
    "Could you look up the {a} of {s} in the text?",
    "Do you see the {a} of {s}?",
)
QUESTIONS = (
    "What is the {a} of {s}?", "Tell me the {a} of {s}.", "What's the {a} of {s}?", "Give me the {a} of {s}.", "{a} of {s}?",
    "According to the text, what is the {a} of {s}?", "Find the {a} of {s}.", "Please look up the {a} of {s}.", "And the {a} of {s}?",
    "Which {a} does {s} have?", "In the document, what is the {a} of {s}?", "I need the {a} of {s}.", "Can you tell me the {a} of {s}?",
    "{s}: what is the {a}?", "For {s}, what {a} is given?", "What does the text give as the {a} of {s}?", "Does it say the {a} of {s}?",
    "Search the text for the {a} of {s}.", "Read out the {a} of {s}.", "The {a} of {s}, please.", "Look above: which {a} has {s}?",
    "Do you remember the {a} of {s}?", "Could you find me the {a} of {s}?", "Where it speaks of {s}, what is the {a}?", "Quote the {a} of {s}.",
    "I forgot the {a} of {s}.", "Is the {a} of {s} mentioned?", "What was said about the {a} of {s}?", "Which is {s}'s {a}?",
)  # fmt: skip
ANSWERS = (
    "The {a} of {s} is {v}.",
    "The {a} of {s} is {v}.",
    "It is {v}.",
    "{v}.",
    "According to the text, the {a} of {s} is {v}.",
)
STATEMENTS = (
    "The {a} of {s} is {v}.",
    "The {a} of {s} is {v}.",
    "{S} has the {a} {v}.",
    "Note that the {a} of {s} is {v}.",
    "For {s}, the {a} is {v}.",
)
ABSENT = ("The text does not say.", "I can't find that in the text.", "That is not in the text.")
PAST = (
    "opened", "closed", "painted", "visited", "repaired", "sold", "bought", "moved", "measured", "described", "cleaned", "lost", "found",
    "borrowed", "designed", "inspected", "carried", "watched", "built", "photographed", "counted", "tested", "replaced", "labelled",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """subject and attribute as they are said, and the value's text."""

    subject: str
    attribute: str
    value: str

    def put(self, pattern: str) -> str:
        """The pattern with {s}, {S}, {a} and {v} filled in."""
        text = pattern.replace("{S}", self.subject[0].upper() + self.subject[1:]).replace("{s}", self.subject)
        text = text.replace("{a}", self.attribute).replace("{v}", self.value)
        return text[0].upper() + text[1:] if pattern.startswith("{a}") else text


def subject(rng: random.Random) -> str:
    return rng.choice(
        (
            f"the {rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}",
            f"the {rng.choice(w.NOUNS)} {rng.choice(w.NOUNS)}",
            f"project {invented(rng)}",
            f"the {invented(rng)} {rng.choice(w.NOUNS)}",
            f"{rng.choice(w.NOUNS)} {rng.randint(2, 99)}",
            f"the {rng.choice(w.CITIES)} {rng.choice(w.NOUNS)}",
            f"{invented(rng)}",
        )
    )


def draw_fact(rng: random.Random, about: str | None = None) -> Fact:
    attribute = rng.choice(tuple(ATTRIBUTES))
    said, value = KINDS[ATTRIBUTES[attribute]].sample(rng)
    return Fact(about or subject(rng), attribute, value if isinstance(value, str) else said)


def filler(rng: random.Random) -> str:
    """A sentence that nobody asks about."""
    noun, other = rng.choice(w.NOUNS), rng.choice(w.NOUNS)
    return rng.choice(
        (
            f"{person(rng)} {rng.choice(PAST)} the {rng.choice(w.ADJECTIVES)} {noun}.",
            f"In {rng.choice(w.MONTHS)} the {noun} was {rng.choice(PAST)} twice.",
            f"Nobody {rng.choice(PAST)} the {noun} near {rng.choice(w.CITIES)}.",
            f"The {noun} stood beside the {rng.choice(w.ADJECTIVES)} {other}.",
            f"On {rng.choice(w.WEEKDAYS)} {rng.choice(w.FIRST_NAMES)} and {rng.choice(w.FIRST_NAMES)} {rng.choice(PAST)} {rng.randint(2, 40)} {noun}s.",
            f"It was {number(rng, -20, 35, 1)} degrees, and the {noun} stayed {rng.choice(w.ADJECTIVES)}.",
            f"At {clock(rng)} the {rng.choice(w.ADJECTIVES)} {noun} was {rng.choice(PAST)} by {person(rng)}.",
            f"The report of {date(rng)} mentions the {noun} only once.",
            f"{invented(rng)} is known for its {rng.choice(w.ADJECTIVES)} {noun}s.",
            f"After that, the {noun} and the {other} were {rng.choice(PAST)}.",
            f"Entry {identifier(rng)} lists a {rng.choice(w.ADJECTIVES)} {noun}.",
        )
    )


def policy(rng: random.Random) -> str:
    """A rule for an agent; none of them changes what the tools are for."""
    noun = rng.choice(w.NOUNS)
    return rng.choice(
        (
            f"Always be polite when a customer asks about the {noun}.",
            "Answer in one or two sentences.",
            "Never guess a value; use a tool or ask.",
            f"Orders of more than {rng.randint(10, 90)} {noun}s need approval by {person(rng)}.",
            f"The {noun} desk is open from {clock(rng)} to {clock(rng)}.",
            f"Do not discuss the {rng.choice(w.ADJECTIVES)} {noun} with guests.",
            f"A {noun} can be returned within {rng.randint(7, 90)} days.",
            f"Members get {rng.randint(2, 30)} percent off every {noun}.",
            f"Questions about the {noun} go to {KINDS['email'].sample(rng)[0]}.",
            "When a tool has answered, tell the user what it said.",
            "Do not call the same tool twice for the same question.",
            f"Deliveries to {rng.choice(w.CITIES)} take {rng.randint(1, 14)} days.",
            f"If the {noun} is {rng.choice(w.ADJECTIVES)}, offer a {rng.choice(w.NOUNS)} instead.",
            f"Today is {rng.choice(w.WEEKDAYS)}, {rng.randint(1, 28)} {rng.choice(w.MONTHS)} {rng.randint(2020, 2031)}.",
        )
    )


def role(rng: random.Random) -> str:
    """The first line of a system prompt."""
    return rng.choice(
        (
            "You are a helpful assistant.",
            "You are a helpful assistant. Call a tool whenever it can answer the question.",
            f"You are the assistant of {invented(rng)}, a {rng.choice(w.NOUNS)} company in {rng.choice(w.CITIES)}.",
            f"You help the customers of the {rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)} shop.",
            f"You are {rng.choice(w.FIRST_NAMES)}, an agent for {invented(rng)}.",
            f"You work for the {rng.choice(w.NOUNS)} department of {rng.choice(w.CITIES)}.",
            "Be brief.",
            "You can use tools.",
            f"Today is {rng.choice(w.WEEKDAYS)}, {rng.randint(1, 28)} {rng.choice(w.MONTHS)} {rng.randint(2020, 2031)}. Use the tools for anything that you cannot know.",
        )
    )


def _table_row(rng: random.Random) -> str:
    return f"| {rng.choice('ABCDEFGHKLMNPRST')}{rng.choice('ABCDEFGHKLMNPRST')}-{digits(rng, 3)} | {rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)} | {number(rng, 1, 900, 2)} |"


def compose(rng: random.Random, length: int, facts: list[Fact], lead: str = "", formal: bool = False) -> str:
    """About `length` characters of text with the facts spread through it; `formal` writes policies and tables, else prose.

    A fact keeps its place in the list's order, at even depths with some play.
    """
    parts: list[str] = [lead] if lead else []
    size, style = len(lead), rng.choice(("prose", "prose", "list", "sections"))
    spots = sorted((i + rng.random()) / max(1, len(facts)) for i in range(len(facts)))
    waiting = list(zip(spots, facts, strict=True))
    table = 0
    while size < length or waiting:
        if waiting and size >= waiting[0][0] * length:
            fact = waiting.pop(0)[1]
            line = (
                fact.put(rng.choice(STATEMENTS)) if style != "list" or rng.random() < 0.5 else fact.put("{S}, {a}: {v}")
            )
        elif table:
            table -= 1
            line = _table_row(rng)
        elif formal and rng.random() < 0.03:
            table = rng.randint(3, 12)
            line = "| code | article | price |\n| --- | --- | --- |"
        else:
            line = policy(rng) if formal else filler(rng)
        if style == "sections" and rng.random() < 0.08 and not table:
            line = f"\n# {rng.choice(w.NOUNS).capitalize()} and {rng.choice(w.NOUNS)}\n\n{line}"
        bullet = {"list": "- ", "numbered": f"{len(parts) + 1}. "}.get(style, "")
        parts.append(line if line.startswith("|") else bullet + line)
        size += len(line) + 1
    if style == "prose" and not formal:
        text = " ".join(parts)
        return text if rng.random() < 0.3 else "\n\n".join(" ".join(parts[i : i + 6]) for i in range(0, len(parts), 6))
    return "\n".join(parts)


def distinct_facts(rng: random.Random, count: int) -> list[Fact]:
    """Facts about different subjects, some subjects with two attributes."""
    facts: list[Fact] = []
    seen: set[tuple[str, str]] = set()
    while len(facts) < count:
        fact = draw_fact(rng, rng.choice(facts).subject if facts and rng.random() < 0.25 else None)
        if (fact.subject, fact.attribute) not in seen:
            seen.add((fact.subject, fact.attribute))
            facts.append(fact)
    return facts
