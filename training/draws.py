"""Draws of single values: names, dates, messages, paths."""

# ruff: noqa: E501

import random
import string

from training import words as w


def invented(rng: random.Random) -> str:
    """A name that nobody has: two to four syllables, capitalised."""
    name = "".join(rng.choice(w.SYLLABLES) for _ in range(rng.choice((2, 2, 3, 3, 4)))).capitalize()
    return accented(rng, name) if rng.random() < 0.12 else name


def accented(rng: random.Random, text: str) -> str:
    """The text with one to three of its letters changed for rarer ones."""
    letters_ = list(text)
    for at in rng.sample(range(len(letters_)), min(len(letters_), rng.randint(1, 3))):
        code = rng.choice((rng.randint(0xE0, 0xFF), rng.randint(0x101, 0x17E), rng.randint(0x1E00, 0x1EF9)))
        letters_[at] = chr(code) if chr(code).isalpha() else letters_[at]
    return "".join(letters_)


SCRIPTS = (
    (0x391, 0x3C9),
    (0x410, 0x44F),
    (0x5D0, 0x5EA),
    (0x621, 0x64A),
    (0xE01, 0xE2E),
    (0x3041, 0x3096),
    (0x30A1, 0x30FA),
    (0x4E00, 0x7FFF),
    (0xAC00, 0xD7A3),
)


def foreign(rng: random.Random) -> str:
    """One or two words of letters of another script."""
    low, high = rng.choice(SCRIPTS)
    words = [
        "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6))) for _ in range(rng.choice((1, 1, 2)))
    ]
    return "".join(c for c in " ".join(words) if c.isalpha() or c == " ").strip() or "né"


def emoji(rng: random.Random) -> str:
    """A pictograph, common or not."""
    return chr(
        rng.choice(
            (
                rng.randint(0x1F300, 0x1F5FF),
                rng.randint(0x1F600, 0x1F64F),
                rng.randint(0x1F680, 0x1F6C5),
                rng.randint(0x1F90D, 0x1F9FF),
            )
        )
    )


def letters(rng: random.Random, count: int, alphabet: str = string.ascii_uppercase) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(string.digits) for _ in range(count))


def number(rng: random.Random, low: float, high: float, places: int) -> int | float:
    """A number in canonical JSON form: an integer when nothing follows the point."""
    value = round(rng.uniform(low, high), rng.randint(0, places))
    return int(value) if value == int(value) else value


def person(rng: random.Random) -> str:
    first = invented(rng) if rng.random() < 0.2 else rng.choice(w.FIRST_NAMES)
    last = invented(rng) if rng.random() < 0.2 else rng.choice(w.LAST_NAMES)
    return first if rng.random() < 0.4 else f"{first} {last}"


def email(rng: random.Random) -> str:
    user = rng.choice((rng.choice(w.FIRST_NAMES), invented(rng), rng.choice(w.NOUNS))).lower()
    user = "".join(c for c in user if c in string.ascii_lowercase) or "info"
    user += rng.choice(("", "", "." + rng.choice(w.NOUNS), "_" + digits(rng, 2), digits(rng, 2)))
    return f"{user}@{rng.choice((rng.choice(w.NOUNS), invented(rng).lower()))}.{rng.choice(('com', 'org', 'net', 'io', 'example'))}"


def date(rng: random.Random) -> str:
    return f"{rng.randint(2019, 2031)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def clock(rng: random.Random) -> str:
    return f"{rng.randint(0, 23):02d}:{rng.choice((0, 5, 10, 15, 20, 30, 40, 45, 50)):02d}"


def identifier(rng: random.Random) -> str:
    return rng.choice(
        (
            f"{letters(rng, rng.randint(2, 3))}-{digits(rng, rng.randint(3, 6))}",
            f"{letters(rng, 1)}{digits(rng, rng.randint(3, 5))}",
            f"{rng.choice(w.NOUNS)}-{digits(rng, rng.randint(2, 4))}",
            letters(rng, rng.randint(6, 10), string.ascii_lowercase + string.digits),
            f"{digits(rng, 4)}-{letters(rng, 4)}",
            f"{rng.choice(w.NOUNS)}_{rng.choice(w.NOUNS)}",
        )
    )


def phrase(rng: random.Random) -> str:
    """Two to five words, such as a title."""
    body = rng.choice(
        (
            f"{rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}",
            f"{rng.choice(w.NOUNS)} {rng.choice(w.NOUNS)}",
            f"{rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)} {rng.choice(w.NOUNS)}",
            f"{rng.choice(w.VERBS)} the {rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}",
            f"{invented(rng)} {rng.choice(w.NOUNS)}",
            f"{rng.choice(w.NOUNS)} with {rng.choice(w.FIRST_NAMES)}",
            f"{rng.choice(w.NOUNS)} {rng.randint(2, 99)}",
        )
    )
    return body if rng.random() < 0.5 else body[0].upper() + body[1:]


def sentence(rng: random.Random) -> str:
    """A message as a person would write it, sometimes with emoji, quotes, other scripts or numbers."""
    noun, other = rng.choice(w.NOUNS), rng.choice(w.NOUNS)
    text = rng.choice(
        (
            f"The {noun} is {rng.choice(w.ADJECTIVES)}",
            f"See you at {clock(rng)}",
            f"Please {rng.choice(w.VERBS)} the {noun} before {rng.choice(w.WEEKDAYS)}",
            f"I'll bring the {noun} and the {other}",
            f"Don't forget the {rng.choice(w.ADJECTIVES)} {noun}",
            f"We need {rng.randint(2, 90)} {noun}s by {date(rng)}",
            f"{rng.choice(w.FIRST_NAMES)} says the {noun} isn't ready",
            "Running late, start without me",
            f"Can we {rng.choice(w.VERBS)} the {noun} tomorrow?",
            f"{rng.choice(w.FOREIGN)}",
            foreign(rng),
            f"{rng.choice(w.NOUNS)} {foreign(rng)} {rng.choice(w.EMOJI)}",
            f"{rng.choice(w.FOREIGN)}, {rng.choice(w.FIRST_NAMES)}",
            f"the {noun} costs ${number(rng, 1, 900, 2)}",
            f"It's {number(rng, -30, 40, 1)} degrees here, bring a {noun}",
            f"{invented(rng)} will {rng.choice(w.VERBS)} the {noun} at {clock(rng)}",
            f"{noun} & {other}: {rng.choice(w.ADJECTIVES)}",
            f"The '{rng.choice(w.ADJECTIVES)} {noun}' is at {rng.choice(w.CITIES)}",
        )
    )
    if rng.random() < 0.15:
        text += f", {rng.choice(w.VERBS)} the {rng.choice(w.NOUNS)} too"
    if rng.random() < 0.2:
        text += " " + (rng.choice(w.EMOJI) if rng.random() < 0.4 else emoji(rng))
    elif rng.random() < 0.3 and text[-1] not in "?!.":
        text += rng.choice("!.")
    return text


def path(rng: random.Random) -> str:
    parts = [rng.choice(w.NOUNS) for _ in range(rng.randint(1, 3))]
    name = rng.choice(
        (
            f"{rng.choice(w.NOUNS)}_{digits(rng, 2)}",
            rng.choice(w.NOUNS),
            f"{rng.choice(w.ADJECTIVES)}-{rng.choice(w.NOUNS)}",
        )
    )
    return (
        rng.choice(("/", "/home/", "./", ""))
        + "/".join(parts)
        + f"/{name}.{rng.choice(('txt', 'csv', 'pdf', 'md', 'json', 'png', 'log'))}"
    )


def url(rng: random.Random) -> str:
    return (
        f"https://{rng.choice((rng.choice(w.NOUNS), invented(rng).lower()))}.{rng.choice(('com', 'org', 'dev', 'net'))}/{rng.choice(w.NOUNS)}"
        + rng.choice(("", f"/{digits(rng, 3)}", f"?id={digits(rng, 4)}", f"/{rng.choice(w.NOUNS)}"))
    )


def expression(rng: random.Random) -> str:
    def term() -> str:
        return str(number(rng, 1, 500, rng.choice((0, 0, 1, 2))))

    text = f"{term()} {rng.choice('+-*/')} {term()}"
    if rng.random() < 0.3:
        text = f"({text}) {rng.choice('+-*/')} {term()}"
    return text
