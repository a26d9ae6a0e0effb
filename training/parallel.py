"""Requests for several calls at once."""

import random
from typing import Any

from training.remarks import dress
from training.request import Request, choose_ask, fill, make_request, with_clauses
from training.scene import Scene, finish
from training.values import KINDS

OPENERS = frozenset(
    word.strip()
    for word in [
        "what",
        "how",
        "when",
        "where",
        "which",
        "who",
        "is",
        "are",
        "do",
        "does",
        "did",
        "can",
        "could",
        "will",
        "would",
        "tell",
        "give",
        "show",
        "get",
        "find",
        "set",
        "make",
        "add",
        "send",
        "check",
        "\n    please",
        "put",
        "book",
        "create",
        "start",
        "play",
        "list",
        "look",
        "search",
        "the",
        "in",
        "on",
        "for",
        "open",
        "read",
    ]
)
"""Words whose capital may go when a sentence is joined to another."""


def parallel(scene: Scene) -> None:
    """Several calls at once: one tool with several values, or several tools."""
    requests = parallel_requests(scene)
    values = tuple(value for request in requests[1] for value in request.said.values())
    dressed = scene.rng.random() < 0.6
    scene.user(dress(scene.rng, requests[0].text, scene.held, values) if dressed else requests[0].text)
    finish(scene, list(requests[1]))


def parallel_requests(scene: Scene) -> tuple[Request, tuple[Request, ...]]:
    """A request whose text asks for all the calls, and the calls."""
    rng = scene.rng
    tool = rng.choice(scene.tools)
    several = [
        p
        for p in tool.params
        if p.required and KINDS[p.kind].schema.get("type") == "string" and not KINDS[p.kind].schema.get("enum")
    ]
    if several and rng.random() < 0.6:
        base = make_request(rng, tool, scene.held, bare=True)
        param, count = rng.choice(several), rng.choice((2, 2, 2, 3, 3, 4))
        values: list[tuple[str, Any]] = []
        while len(values) < count:
            said = KINDS[param.kind].sample(rng)
            if said[1] not in [v for _, v in values]:
                values.append(said)
        listed = ", ".join(v for v, _ in values[:-1]) + rng.choice((" and ", " and ", " and also ")) + values[-1][0]
        arguments, said_all = base.arguments, {**base.said, param.name: listed}
        # The clauses of optional parameters are said again, so that the text and the arguments agree.
        extra = [
            f"with {p.label} {said_all[p.name]}"
            for p in tool.params
            if not p.required and p.name in arguments and p.kind != "boolean"
        ]
        arguments = {
            k: v
            for k, v in arguments.items()
            if next(p for p in tool.params if p.name == k).kind != "boolean"
            or next(p for p in tool.params if p.name == k).required
        }
        text = with_clauses(fill(choose_ask(rng, tool, scene.held), said_all), extra)
        calls = tuple(
            Request(tool, "", {**arguments, param.name: value}, {**base.said, param.name: said})
            for said, value in values
        )
        return Request(tool, text, {}, {}), calls
    first = make_request(rng, tool, scene.held, bare=True)
    second = make_request(rng, rng.choice(scene.tools), scene.held, bare=True)
    requests, texts = [first, second], [first.text, second.text]
    if rng.random() < 0.15:
        requests.append(make_request(rng, rng.choice(scene.tools), scene.held, bare=True))
        texts.append(requests[-1].text)
    return Request(tool, joined(rng, texts), {}, {}), tuple(requests)


def joined(rng: random.Random, texts: list[str]) -> str:
    text = texts[0]
    for more in texts[1:]:
        lower = (
            more[0].lower() + more[1:]
            if not more.startswith("I") and more[0].isalpha() and more.split(" ", 1)[0].lower() in OPENERS
            else more
        )
        joiner = rng.choice((" and ", " Also, ", " And ", " ", ", and ", " Besides, "))
        base = text.rstrip(".?") if joiner in (" and ", ", and ") else text if text[-1] in ".?!" else text + "."
        text = base + joiner + (more if joiner == " " else lower)
    return text
