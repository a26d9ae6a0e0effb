"""The kinds of turn that a conversation is made of."""

# ruff: noqa: E501

from typing import Any

from training.catalogue import KNOWN, TRAINED
from training.chatter import REFUSALS, small_talk
from training.documents import ABSENT, ANSWERS, QUESTIONS, draw_fact
from training.lexicon import disturb, reword, same_meaning
from training.parallel import OPENERS, parallel
from training.remarks import dress
from training.request import Request, choose_ask, fill, incomplete, make_request, question, supply
from training.scene import Scene, draw_result, finish, plain, wrap
from training.tool import humanise
from training.values import KINDS

STRAY = (
    "please",
    "quickly",
    "in there",
    "I'd like",
    "could you",
    "know",
    "see",
    "say",
    "exactly",
    "about it",
    "now",
    "again",
    "text",
    "document",
    "page",
)
ERRORS = (
    "Sorry, that did not work: {e}.", "The tool reported an error: {e}.", "I could not {a}: {e}.", "That failed with the error: {e}.",
)  # fmt: skip


def single(scene: Scene) -> None:
    noise = scene.rng.choice((0.3, 0.3, 0.8))
    known = [t for t in scene.tools if t in KNOWN] if scene.rng.random() < 0.3 else []
    request = make_request(scene.rng, scene.rng.choice(known or scene.tools), scene.held, noise=noise)
    scene.user(request.text)
    results = finish(scene, [request])
    if scene.rng.random() < 0.25:
        recall(scene, results[0])
    elif scene.rng.random() < 0.3:
        elliptical(scene, request)


def recall(scene: Scene, result: dict[str, Any]) -> None:
    """A question about a result that is already there."""
    name = scene.rng.choice(tuple(result))
    asked = scene.rng.choice(
        ("What was the {l} again?", "Remind me of the {l}.", "And the {l}?", "Which {l} was that?", "What is the {l}?")
    )
    scene.user(asked.replace("{l}", humanise(name)))
    scene.say(
        scene.rng.choice(("The {l} is {v}.", "The {l} was {v}.", "It is {v}."))
        .replace("{l}", humanise(name))
        .replace("{v}", plain(result[name]))
    )


def elliptical(scene: Scene, request: Request) -> None:
    """The same call for another value: "And in Oslo?"."""
    options = [p for p in request.tool.params if p.required and KINDS[p.kind].schema.get("type") == "string"]
    if not options:
        return
    param = scene.rng.choice(options[:1] if scene.rng.random() < 0.7 else options)
    said, value = KINDS[param.kind].sample(scene.rng)
    text = scene.rng.choice(
        (
            "And {v}?",
            "What about {v}?",
            "And for {v}?",
            "How about {v}?",
            "The same for {v}, please.",
            "Now {v}.",
            "And in {v}?",
        )
    )
    scene.user(text.replace("{v}", said))
    finish(
        scene, [Request(request.tool, "", {**request.arguments, param.name: value}, {**request.said, param.name: said})]
    )


def chain(scene: Scene) -> None:
    """Two calls in order: a value of the first result is an argument of the second."""
    rng = scene.rng
    pairs = [
        (a, f, b, p)
        for a in scene.tools
        for f in a.fields
        for b in scene.tools
        for p in b.params
        if a is not b and f.kind and f.kind == p.kind and p.required
    ]
    if not pairs:
        return single(scene)
    first_tool, result_field, second_tool, param = rng.choice(pairs)
    first, second = (
        make_request(rng, first_tool, scene.held, bare=True),
        make_request(rng, second_tool, scene.held, bare=True),
    )
    label = humanise(result_field.name)
    link = rng.choice(
        (
            f"that {label}",
            f"the {label} you get",
            f"the {label} from the result",
            f"the resulting {label}",
            f"its {label}",
        )
    )
    ask = fill(choose_ask(rng, second_tool, scene.held), {**second.said, param.name: link})
    arguments = {p.name: second.arguments[p.name] for p in second_tool.params if p.required}
    joiner = rng.choice((" Then ", " After that, ", " Next, ", " Once you have it: "))
    asked = (
        (first.text if first.text[-1] in ".?!" else first.text + ".")
        + joiner
        + (ask[0].lower() + ask[1:] if ask[0].isupper() and ask.split(" ", 1)[0].lower() in OPENERS else ask)
    )
    scene.user(dress(rng, asked, scene.held, tuple(first.said.values())) if rng.random() < 0.5 else asked)
    scene.call(first)
    result = draw_result(rng, first)
    scene.results(wrap(rng, result))
    finish(scene, [Request(second_tool, "", {**arguments, param.name: result[result_field.name]}, second.said)])
    return None


def missing(scene: Scene) -> None:
    """A request that lacks a value: the assistant asks, and calls when it is told."""
    options = [t for t in scene.tools if any(p.required and p.kind != "boolean" for p in t.params)]
    made = incomplete(scene.rng, scene.rng.choice(options), scene.held) if options else None
    if made is None:
        return single(scene)
    request, dropped = made
    scene.user(request.text)
    scene.say(question(scene.rng, dropped))
    if scene.rng.random() < 0.6:
        scene.user(supply(scene.rng, dropped, request.said))
        finish(scene, [request])
    return None


def failure(scene: Scene) -> None:
    """The tool fails: the assistant says so, and tries again only when told to."""
    rng = scene.rng
    request = make_request(rng, rng.choice(scene.tools), scene.held)
    scene.user(request.text)
    scene.call(request)
    reason = KINDS["reason"].sample(rng)[0]
    scene.results(
        {rng.choice(("error", "error", "message")): reason}
        if rng.random() < 0.7
        else {"status": "error", "error": reason}
    )
    scene.say(rng.choice(ERRORS).replace("{e}", reason).replace("{a}", request.tool.action))
    if rng.random() < 0.4:
        scene.user(rng.choice(("Try again.", "Please try once more.", "Again, please.", "Retry.", "Try it again")))
        finish(scene, [request])


def unavailable(scene: Scene) -> None:
    """A request for a tool that is not there; no word of it means what a word of a tool does."""
    rng = scene.rng
    there = {word for t in scene.tools for word in _content(f"{humanise(t.name)} {t.action}")}
    for _ in range(10):
        other = rng.choice(TRAINED)
        if not there & _content(f"{humanise(other.name)} {other.action}"):
            break
    else:
        return talk(scene)
    scene.user(make_request(rng, other, noise=0.0).text)
    scene.say(rng.choice(REFUSALS))
    return None


_EMPTY = frozenset(
    ("a", "an", "the", "of", "for", "to", "my", "some", "find", "get", "check", "show", "look", "up", "list", "set", "make", "create", "add")
)  # fmt: skip


def _content(text: str) -> set[str]:
    """The words that tell tools apart, and those of the same meaning."""
    words = {word.strip(".,'s").lower() for word in text.split()} - _EMPTY
    return words | {other for word in words for other in same_meaning(word)}


def talk(scene: Scene) -> None:
    asked, answer = small_talk(scene.rng)
    scene.user(asked)
    scene.say(answer)


def fact(scene: Scene) -> None:
    """A question that the preamble or a document answers, or does not."""
    rng = scene.rng
    if not scene.facts:
        return talk(scene)
    if rng.random() < 0.015:
        asked = draw_fact(rng)
        scene.user(asked.put(rng.choice(QUESTIONS)))
        scene.say(rng.choice(ABSENT))
        return None
    asked = rng.choice(scene.facts)
    if rng.random() < 0.1:
        subject = asked.subject
        same = [f for f in scene.facts if f.subject == subject]
        scene.user(
            rng.choice(
                (
                    f"What does the text say about {subject}?",
                    f"Tell me everything about {subject}.",
                    f"Summarise {subject}.",
                )
            )
        )
        scene.say(" ".join(f.put("The {a} of {s} is {v}.") for f in same))
        return None
    template = rng.choice(QUESTIONS)
    if rng.random() < 0.4:
        template = disturb(rng, reword(rng, template, 0.3), STRAY)
    scene.user(asked.put(template))
    scene.say(asked.put(rng.choice(ANSWERS)))
    return None


TURNS = (
    (single, 55), (parallel, 20), (chain, 5), (missing, 11), (failure, 3), (unavailable, 2.5), (talk, 6), (fact, 7)
)  # fmt: skip
"""What may happen in a turn, and how often."""
