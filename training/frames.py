"""Sentences that ask for an invented tool: where the verb, the thing and the values stand, and how each value is said."""

# ruff: noqa: E501

import random
from collections.abc import Callable

from training import words as w
from training.lexicon import reword
from training.tool import Param
from training.values import KINDS

MENTIONS = (
    "{n} {v}", "{n}: {v}", "with {n} {v}", "with the {n} {v}", "the {n} is {v}", "{n} = {v}", "{v} as the {n}", "using {n} {v}", "for {n} {v}",
    "{n} of {v}", "{v} {n}", "{v} for the {n}", "the {n} should be {v}", "whose {n} is {v}", "at {n} {v}", "{n} set to {v}", "a {n} of {v}",
    "by {n} {v}", "({n} {v})", "where {n} is {v}", "the {n} being {v}", "under {n} {v}", "{v} is the {n}", "on {n} {v}", "take {v} as {n}",
)  # fmt: skip
"""A value with its parameter's name."""
LINKS = {
    "city": "in {v}|for {v}|from {v}|{v}|near {v}|over in {v}|at {v}", "country": "in {v}|for {v}|from {v}|to {v}|{v}",
    "person": "for {v}|to {v}|with {v}|{v}|by {v}|from {v}", "email": "to {v}|{v}|for {v}|at {v}|from {v}", "date": "on {v}|for {v}|{v}|by {v}|of {v}|until {v}",
    "time": "at {v}|{v}|from {v}|by {v}|around {v}", "minutes": "for {v} minutes|{v} minutes|within {v} minutes|in {v} minutes",
    "small": "for {v}|{v} of them|{v} times", "amount": "of {v}|for {v}|at {v}|{v}|under {v}|up to {v}|worth {v}", "percent": "{v} percent|at {v} percent|by {v} percent|to {v} percent",
    "signed": "to {v} degrees|{v} degrees|at {v} degrees|of {v} degrees", "id": "{v}|with {v}|for {v}|of {v}|number {v}", "phrase": "called {v}|titled {v}|named {v}|{v}|: {v}",
    "sentence": "saying {v}|with the text {v}|that says {v}|{v}|with {v}|: {v}", "query": "for {v}|{v}|like {v}", "path": "at {v}|{v}|in {v}|under {v}|from {v}",
    "url": "at {v}|from {v}|{v}", "phone": "at {v}|to {v}|{v}", "expression": "{v}|of {v}", "dish": "for {v}|{v}|with {v}", "exercise": "of {v}|{v}|for {v}",
    "room": "in the {v}|for the {v}|of the {v}|the {v}", "topic": "about {v}|on {v}|of {v}", "team": "for {v}|of {v}|{v}", "ticker": "for {v}|{v}|of {v}",
    "place": "at {v}|near {v}|to {v}|{v}|around {v}", "currency": "in {v}|{v}", "language": "into {v}|in {v}|to {v}", "genre": "{v}|of {v}",
    "priority": "with {v} priority|{v} priority|as {v}|priority {v}", "status": "as {v}|{v}|that are {v}", "color": "in {v}|{v}", "transport": "by {v}|on {v}",
    "format": "as {v}|in {v} format|to {v}|as a {v}", "period": "{v}|on a {v} basis", "weekday": "on {v}|for {v}|every {v}", "year": "in {v}|from {v}|of {v}",
    "people": "with {v}|for {v}|{v}", "tags": "tagged {v}|with {v}", "ingredients": "with {v}|using {v}|{v}", "numbers": "of {v}|{v}|for {v}", "address": "to {v}|at {v}|{v}",
    "position": "at {v}|at position {v}|{v}|near {v}", "product": "for the {v}|for a {v}|of the {v}", "mode": "in {v} mode|on {v}", "level": "at {v} level|for {v}s",
    "span": "{v}", "cabin": "in {v}", "size": "in size {v}|size {v}", "length_unit": "in {v}", "temperature_unit": "in {v}",
}  # fmt: skip
"""A value without its parameter's name, by kind."""
LEADS = (
    "{Verb} the {thing}", "Please {verb} the {thing}", "Can you {verb} the {thing}", "I need to {verb} a {thing}", "{Verb} a {thing}",
    "I'd like to {verb} the {thing}", "I want you to {verb} the {thing}", "Could you {verb} a {thing} for me", "{Verb} {thing}",
    "Time to {verb} the {thing}", "Help me {verb} the {thing}", "Let's {verb} the {thing}", "We should {verb} the {thing}",
    "{Thing}: {verb} it", "{Verb} my {thing}", "The {thing}, {verb} it", "Would you {verb} the {thing}", "Go and {verb} the {thing}",
    "What is the {thing}", "{Thing}", "{Thing}, please", "I want the {thing}", "Which {thing} is it", "How about the {thing}",
    "I have to {verb} some {thing}", "Someone should {verb} the {thing}", "What about the {thing}", "Any {thing}", "My {thing}",
    "Which {thing} fits", "{Verb} it, the {thing}", "A {thing} is needed", "Where is the {thing}", "How is the {thing}",
    "Does anyone {verb} a {thing}", "I'm after a {thing}", "What {thing} do I have", "{Verb} this", "{Verb} that for me", "How much {thing}",
    "Is there a {thing}", "Give me the {thing}", "We want to {verb} a {thing}", "Is it possible to {verb} the {thing}", "{Verb}",
    "Do you {verb} a {thing}", "How do I {verb} a {thing}", "Why not {verb} the {thing}", "Must I {verb} the {thing}", "Another {thing}",
    "There should be a {thing}", "The {thing} is what I want", "I was told to {verb} the {thing}", "You can {verb} the {thing}", "Just {verb}",
    "All I want is a {thing}", "It's about the {thing}", "When can we {verb} the {thing}", "Who can {verb} the {thing}", "Our {thing}",
    "They want me to {verb} the {thing}", "I can't {verb} the {thing} myself", "I {verb} a {thing}", "We {verb} the {thing}", "How many {thing}s",
    "See to the {thing}", "Take care of the {thing}", "Don't forget to {verb} the {thing}", "Be so kind and {verb} the {thing}", "One {thing}",
    "What would the {thing} be", "I'm looking at the {thing}", "Do I have to {verb} a {thing}", "How high is the {thing}", "That {thing}",
)  # fmt: skip
AFTERTHOUGHTS = (
    ", {verb} the {thing}", "; {verb} the {thing}", ". {Verb} the {thing}", ": {verb} it", ", please {verb} it", ". {Verb} that", ", the {thing}",
    ". Can you {verb} the {thing}", ", so {verb} the {thing}", " and I want to {verb} the {thing}", " needs a {thing}", " should {verb} the {thing}",
    ": what is the {thing}", ", which {thing}", " has to have a {thing}", ". I need the {thing}", ", what about the {thing}", ", {thing}", " wants a {thing}",
    " gets the {thing}", ", {verb} please", ". {Thing}", ": {thing}", " for the {thing}", ", that's the {thing}",
)  # fmt: skip
"""What follows values that come first."""
OPENS = (
    "",
    "",
    "For {x}",
    "I have {x}",
    "It's {x}",
    "With {x}",
    "There is {x}",
    "Given {x}",
    "{x}",
    "We have {x}",
    "Here is {x}",
    "Take {x}",
    "If it is {x}",
)
PLAIN = frozenset(
    (
        "word",
        "product",
        "topic",
        "genre",
        "dish",
        "exercise",
        "room",
        "count",
        "small",
        "year",
        "decimal",
        "status",
        "switch",
    )
)
"""Kinds whose values cannot be told without their parameter's name."""
Fill = Callable[[str], str]


def _label(rng: random.Random, param: Param, params: tuple[Param, ...]) -> str:
    """The parameter's name in words, or its last word where no other ends so, or in other words."""
    label, roll = param.label, rng.random()
    if roll < 0.2 and sum(p.label.split()[-1] == label.split()[-1] for p in params) == 1:
        return label.split()[-1]
    return reword(rng, label, 0.6) if roll < 0.4 else label


def say(rng: random.Random, param: Param, params: tuple[Param, ...], bare: float) -> str:
    """A value with a preposition (a share `bare` of the times), or with its name."""
    if rng.random() < bare:
        pattern = rng.choice(LINKS.get(param.kind, "{v}").split("|") if rng.random() < 0.7 else ("{v}",))
    else:
        pattern = rng.choice((*MENTIONS[:9], *MENTIONS) if rng.random() < 0.75 else KINDS[param.kind].links or MENTIONS)
    return pattern.replace("{n}", _label(rng, param, params)).replace("{v}", "{" + param.name + "}")


def compose_ask(
    rng: random.Random, put: Fill, params: tuple[Param, ...], pair: tuple[Param, ...], pair_said: str
) -> str:
    """A request for a tool with these required parameters; `put` fills in verb and thing. Values keep their slots."""
    single = tuple(p for p in params if p not in pair)
    order = list(rng.sample(single, len(single)) if rng.random() < 0.45 else single)
    kinds = {p.kind for p in (*order, *pair)}
    distinct = len(kinds) == len(order) + len({p.kind for p in pair}) and not kinds & PLAIN
    bare = rng.choice((0.3, 0.8, 1.0)) if distinct else 0.0
    said = [say(rng, p, params, bare) for p in order]
    if pair:
        said.insert(rng.randint(0, len(said)), pair_said)
    if said and rng.random() < 0.38:
        first = rng.randint(1, len(said))
        opening = rng.choice(OPENS).replace("{x}", "") if rng.random() < 0.6 else ""
        head = (opening.strip() + " " + _listed(rng, said[:first])).strip().lstrip(":( ")
        text = head + put(rng.choice(AFTERTHOUGHTS))
        rest = said[first:]
    else:
        stray = f" {rng.choice(w.NOUNS)}" if pair and rng.random() < 0.35 else ""
        text, rest = put(rng.choice(LEADS)) + stray, said
    if rest:
        text += ("" if rest[0].startswith(":") else rng.choice((" ", " ", " ", ": ", ", "))) + _listed(rng, rest)
    if text[0].islower() and rng.random() < 0.8:
        text = text[0].upper() + text[1:]
    asks = text.startswith(
        ("Can", "Could", "Would", "What", "Which", "Who", "How", "Is", "Do", "Where", "When", "Why", "Must", "Any")
    )
    return text + rng.choice((".", "", "?" if asks else ".", "?" if asks else ".", "!" if rng.random() < 0.2 else "."))


def _listed(rng: random.Random, said: list[str]) -> str:
    joiner = rng.choice((", ", " ", ", ", "; ", " "))
    last = rng.choice((" and ", joiner, joiner))
    return joiner.join(said[:-1]) + last + said[-1] if len(said) > 1 else said[0]
