"""Kinds of value: what a parameter or a result field can hold, how it is said, what its schema and names are."""

# ruff: noqa: E501

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from training import words as w
from training.draws import (
    clock,
    date,
    digits,
    email,
    expression,
    identifier,
    invented,
    letters,
    number,
    path,
    person,
    phrase,
    sentence,
    url,
)

Said = tuple[str, Any]
"""How a value is said, and the value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """sample: draws (said, value). schema: its JSON schema. names: parameter names that hold it. links: ways to attach it."""

    name: str
    sample: Callable[[random.Random], Said]
    schema: dict[str, Any]
    names: tuple[str, ...]
    links: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    choices: tuple[str, ...] = field(default=())

    def draw_schema(self, rng: random.Random) -> dict[str, Any]:
        """A copy of the schema, with a sentence that describes it."""
        return {**self.schema, "description": rng.choice(self.described)} if self.described else dict(self.schema)


def _same(draw: Callable[[random.Random], str]) -> Callable[[random.Random], Said]:
    def sample(rng: random.Random) -> Said:
        text = draw(rng)
        return text, text

    return sample


def _one_of(options: tuple[str, ...], invent: float = 0.0) -> Callable[[random.Random], Said]:
    return _same(lambda rng: invented(rng) if rng.random() < invent else rng.choice(options))


def _numbers(low: float, high: float, places: int = 0) -> Callable[[random.Random], Said]:
    def sample(rng: random.Random) -> Said:
        value = number(rng, low, high, places)
        tenths = isinstance(value, float) and value * 10 == int(value * 10)
        return (f"{value}0" if places == 2 and tenths and rng.random() < 0.1 else str(value)), value

    return sample


WORDS_FOR = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CURRENCY_NAMES = {
    "USD": "dollars", "EUR": "euros", "GBP": "pounds", "JPY": "yen", "CHF": "Swiss francs", "CAD": "Canadian dollars",
    "AUD": "Australian dollars", "INR": "rupees", "MXN": "pesos", "PLN": "zloty", "SEK": "Swedish kronor", "CNY": "yuan",
    "NOK": "Norwegian kroner", "KRW": "won", "TRY": "lira", "BRL": "reais", "ZAR": "rand",
}  # fmt: skip


def _small(rng: random.Random) -> Said:
    value = rng.randint(1, 12)
    return (WORDS_FOR[value] if rng.random() < 0.3 else str(value)), value


def _currency(rng: random.Random) -> Said:
    code = rng.choice(w.CURRENCIES)
    return (CURRENCY_NAMES.get(code, code) if rng.random() < 0.25 else code), code


def _day(rng: random.Random) -> Said:
    value = date(rng)
    year, month, day = (int(part) for part in value.split("-"))
    name = w.MONTHS[month - 1]
    return (rng.choice((f"{day} {name} {year}", f"{name} {day}, {year}")) if rng.random() < 0.25 else value), value


def _quoted(draw: Callable[[random.Random], str]) -> Callable[[random.Random], Said]:
    def sample(rng: random.Random) -> Said:
        text = draw(rng)
        mark = '"“' if "'" in text else rng.choice(('"', '"', '"', "'", "“"))[0]
        opening = rng.choice(mark)
        closing = {"“": "”"}.get(opening, opening)
        return f"{opening}{text}{closing}", text

    return sample


def _several(draw: Callable[[random.Random], Any], low: int = 2, high: int = 4) -> Callable[[random.Random], Said]:
    def sample(rng: random.Random) -> Said:
        items: list[Any] = []
        for _ in range(rng.randint(low, high)):
            item = draw(rng)
            if item not in items:
                items.append(item)
        said = [str(item) for item in items]
        return (", ".join(said[:-1]) + " and " + said[-1] if len(said) > 1 else said[0]), items

    return sample


def _enum(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(options)}


def _address(rng: random.Random) -> Said:
    number = f"{rng.randint(1, 240)}{rng.choice(('', '', '', '', 'a', 'B'))}"
    value = {
        "street": f"{number} {rng.choice(w.NOUNS).capitalize()} {rng.choice(('Street', 'Street', 'Road', 'Lane', 'Square', 'Avenue'))}",
        "city": invented(rng) if rng.random() < 0.3 else rng.choice(w.CITIES),
        "postcode": rng.choice((digits(rng, 5), digits(rng, 4), digits(rng, 6), f"{letters(rng, 2)}{digits(rng, 3)}")),
    }
    return f"{value['street']}, {value['city']}, {value['postcode']}", value


def _span(rng: random.Random) -> Said:
    low = rng.randint(1, 400)
    high = low + rng.randint(1, 600)
    return rng.choice((f"between {low} and {high}", f"from {low} to {high}")), {"min": low, "max": high}


def _position(rng: random.Random) -> Said:
    value = {"latitude": number(rng, -85, 85, 3), "longitude": number(rng, -179, 179, 3)}
    return f"{value['latitude']}, {value['longitude']}", value


STRING = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}


def _kind(
    name: str,
    sample: Callable[[random.Random], Said],
    schema: dict[str, Any],
    names: str,
    links: str = "",
    described: str = "",
) -> tuple[str, Kind]:
    def cut(text: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in text.split("|") if part.strip())

    return name, Kind(name, sample, schema, cut(names), cut(links), cut(described))


def _choice_kind(name: str, options: tuple[str, ...], names: str, links: str, described: str) -> tuple[str, Kind]:
    return _kind(name, _one_of(options), _enum(*options), names, links, described)


KINDS: dict[str, Kind] = dict(
    [
        _kind("city", _one_of(w.CITIES, 0.25), STRING, "city|location|place|town", "in {v}|for {v}", "City name|Name of the city|The city to use"),
        _kind("country", _one_of(w.COUNTRIES, 0.1), STRING, "country|nation", "in {v}|for {v}", "Country name|The country"),
        _kind("person", _same(person), STRING, "name|person|recipient|contact|employee|assignee|owner", "for {v}|to {v}", "Name of the person|Full name|Who it is for"),
        _kind("email", _same(email), STRING, "email|email_address|to|recipient_email", "to {v}|with email {v}", "Email address|The email address to use"),
        _kind("date", _day, STRING, "date|day|on_date", "on {v}|for {v}", "Date as YYYY-MM-DD|Day in ISO format"),
        _kind("time", _same(clock), STRING, "time|at_time|start_time|hour", "at {v}", "Time of day, HH:MM|24-hour time"),
        _kind("weekday", _one_of(w.WEEKDAYS), STRING, "weekday|day", "on {v}", "Day of the week"),
        _kind("minutes", _numbers(1, 180), INTEGER, "minutes|duration|duration_minutes|length", "for {v} minutes", "Length in minutes|Duration in minutes"),
        _kind("count", _numbers(1, 60), INTEGER, "count|quantity|limit|amount|number", "with {n} {v}", "How many|Number of items"),
        _kind("small", _small, INTEGER, "people|guests|servings|seats|party_size|copies", "for {v} {n}", "How many people|Number of seats"),
        _kind("amount", _numbers(1, 5000, 2), NUMBER, "amount|sum|value|total|price", "of {v}|{n} {v}", "Amount of money|The amount"),
        _kind("decimal", _numbers(-500, 900, 3), NUMBER, "value|number|level|reading|threshold", "{n} {v}", "Numeric value|The value to use"),
        _kind("percent", _numbers(1, 100, 1), NUMBER, "percent|percentage|rate|brightness|volume", "{n} {v}|at {v} percent", "Percentage, 0 to 100"),
        _kind("signed", _numbers(-40, 45, 1), NUMBER, "temperature|degrees|offset|target", "to {v} degrees|{n} {v}", "Temperature in degrees|Signed number"),
        _kind("year", _numbers(1900, 2035), INTEGER, "year|since", "in {v}|from {v}", "Four-digit year"),
        _kind("id", _same(identifier), STRING, "id|code|reference|key|number", "{n} {v}|with {n} {v}", "Identifier|Reference code|Unique id"),
        _kind("phrase", _quoted(phrase), STRING, "title|subject|label|topic|heading|name", "called {v}|titled {v}|named {v}", "Title|Short title|Name to give it"),
        _kind("sentence", _quoted(sentence), STRING, "message|text|body|content|note|comment", "saying {v}|with the text {v}|that says {v}", "Text of the message|The text|What it should say"),
        _kind("query", _quoted(phrase), STRING, "query|search|keywords|term|q", "for {v}", "What to search for|Search terms"),
        _kind("path", _same(path), STRING, "path|file|filename|file_path", "at {v}|{n} {v}", "Path of the file|File path"),
        _kind("url", _same(url), STRING, "url|link|address|page", "at {v}|from {v}", "Web address|URL of the page"),
        _kind("phone", _same(lambda rng: f"+{rng.randint(1, 99)} {digits(rng, 3)} {digits(rng, 4)}"), STRING, "phone|phone_number|mobile|number", "at {v}|to {v}", "Phone number with country code"),
        _kind("expression", _same(expression), STRING, "expression|formula", "{v}", "Arithmetic expression"),
        _kind("word", _same(lambda rng: rng.choice((rng.choice(w.NOUNS), rng.choice(w.ADJECTIVES), invented(rng).lower()))), STRING, "word|term|keyword|tag", "{v}|{n} {v}", "A single word"),
        _kind("product", _same(lambda rng: rng.choice((rng.choice(w.PRODUCTS), f"{rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}"))), STRING, "product|item|article|product_name", "{v}|for {v}", "Product name|Name of the item"),
        _kind("dish", _one_of(w.DISHES), STRING, "dish|meal|recipe", "for {v}", "Name of the dish"),
        _kind("exercise", _one_of(w.EXERCISES), STRING, "activity|exercise|sport|workout", "of {v}", "Kind of exercise"),
        _kind("room", _same(lambda rng: rng.choice(w.ROOMS if rng.random() < 0.75 else w.NOUNS)), STRING, "room|area|zone", "in the {v}", "Room of the house"),
        _kind("topic", _one_of(w.TOPICS, 0.15), STRING, "topic|category|subject|theme", "about {v}|on {v}", "Topic|Subject of interest"),
        _kind("team", _one_of(w.TEAMS, 0.2), STRING, "team|club", "for {v}", "Name of the team"),
        _kind("ticker", _same(lambda rng: rng.choice((rng.choice(w.TICKERS), letters(rng, rng.randint(3, 4))))), STRING, "symbol|ticker|stock", "for {v}", "Stock symbol|Ticker symbol"),
        _kind("place", _same(lambda rng: rng.choice((f"the {rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}", f"{invented(rng)} {rng.choice(('Station', 'Museum', 'Park', 'Airport', 'Hotel', 'Square'))}", rng.choice(w.CITIES)))), STRING, "place|destination|location|address", "at {v}|near {v}", "Name of the place"),
        _kind("currency", _currency, STRING, "currency|currency_code", "in {v}", "Currency code|ISO currency code"),
        _choice_kind("language", w.LANGUAGES, "language|target_language|lang", "into {v}|in {v}", "Language|Target language"),
        _choice_kind("temperature_unit", ("celsius", "fahrenheit", "kelvin"), "unit|units|scale|temperature_unit", "in {v}", "Temperature unit|Unit of the temperature"),
        _choice_kind("length_unit", w.UNITS["length"], "unit|units", "in {v}", "Unit of length"),
        _choice_kind("genre", w.GENRES, "genre|style|kind", "{v} {n}|of the {n} {v}", "Genre|Style of music"),
        _choice_kind("priority", ("low", "medium", "high", "urgent"), "priority|importance|urgency|severity", "with {v} {n}|as {v} {n}", "Priority|How urgent it is"),
        _choice_kind("status", ("open", "closed", "pending", "blocked", "done"), "status|state", "with {n} {v}|that are {v}", "Status|State to filter by"),
        _choice_kind("size", ("small", "medium", "large", "extra large"), "size", "in size {v}|size {v}", "Size"),
        _choice_kind("color", w.COLORS, "color|colour", "in {v}|{n} {v}", "Color"),
        _choice_kind("mode", ("eco", "auto", "manual", "turbo", "night"), "mode|profile|setting", "in {v} mode|with {n} {v}", "Mode|Operating mode"),
        _choice_kind("transport", ("car", "train", "bus", "bicycle", "foot", "plane"), "mode|transport|travel_mode|vehicle", "by {v}", "Means of transport"),
        _choice_kind("format", ("pdf", "csv", "json", "html", "xlsx", "markdown"), "format|file_type|output_format", "as {v}|in {v} format", "File format|Output format"),
        _choice_kind("period", ("daily", "weekly", "monthly", "yearly"), "frequency|period|interval|repeat", "{v}|with {n} {v}", "How often"),
        _choice_kind("cabin", ("economy", "premium", "business", "first"), "cabin|class|seat_class", "in {v} {n}", "Cabin class"),
        _choice_kind("level", ("beginner", "intermediate", "advanced", "expert"), "level|difficulty|skill", "at {v} {n}|for {n} {v}", "Level of difficulty"),
        _kind("people", _several(lambda rng: rng.choice(w.FIRST_NAMES)), {"type": "array", "items": STRING}, "attendees|participants|members|names|people", "with {v}", "People to include|Names of the people"),
        _kind("tags", _several(lambda rng: rng.choice(w.NOUNS), 1, 3), {"type": "array", "items": STRING}, "tags|labels|keywords", "tagged {v}|with {n} {v}", "Tags|Labels to attach"),
        _kind("ingredients", _several(lambda rng: rng.choice(w.INGREDIENTS)), {"type": "array", "items": STRING}, "ingredients|foods", "with {v}|using {v}", "Ingredients at hand"),
        _kind("numbers", _several(lambda rng: number(rng, -50, 200, rng.choice((0, 0, 1))), 2, 5), {"type": "array", "items": NUMBER}, "numbers|values|data", "of {v}|{n} {v}", "List of numbers"),
        _kind("address", _address, {"type": "object", "properties": {"street": STRING, "city": STRING, "postcode": STRING}, "required": ["street", "city", "postcode"]}, "address|destination|shipping_address", "to {v}", "Postal address"),
        _kind("span", _span, {"type": "object", "properties": {"min": INTEGER, "max": INTEGER}, "required": ["min", "max"]}, "price_range|range|limits", "{n} {v}", "Lowest and highest value"),
        _kind("position", _position, {"type": "object", "properties": {"latitude": NUMBER, "longitude": NUMBER}, "required": ["latitude", "longitude"]}, "coordinates|position", "at {v}", "Geographic position"),
        _kind("weather", _one_of(w.WEATHER), STRING, "conditions|sky|summary"),
        _kind("reason", _same(lambda rng: rng.choice(("service unavailable", "permission denied", "not found", "timeout after 30 s", "rate limit reached", "invalid request", "no results", "connection refused", f"unknown id {identifier(rng)}", "quota exceeded", "the server is busy"))), STRING, "error|reason"),
        _kind("switch", lambda rng: (("on", True), ("off", False))[rng.randrange(2)], {"type": "boolean"}, "on|power|enabled|active|state", "{n}: {v}|turned {v}|switched {v}", "Whether it is on|On or off"),
        _kind("boolean", lambda rng: (("yes", True), ("no", False))[rng.randrange(2)], {"type": "boolean"}, "enabled|confirmed|available|active"),
    ]
)  # fmt: skip
