"""Whole conversations: tools, a preamble, and turns of every kind, built from a seed and an index."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

from training.catalogue import KNOWN
from training.chatter import REFUSALS, small_talk
from training.documents import ABSENT, ANSWERS, QUESTIONS, Fact, compose, distinct_facts, draw_fact, role
from training.lexicon import disturb, reword
from training.request import Request, choose_ask, fill, incomplete, make_request, question, supply, with_clauses
from training.synthetic import disguise, invent_tool
from training.tool import Tool, humanise
from training.values import KINDS

Message = dict[str, Any]
STRAY = ("please", "quickly", "in there", "I'd like", "could you", "know", "see", "say", "exactly", "about it", "now", "again", "text", "document", "page")
PREFACES = ("Let me check.", "One moment.", "I'll look that up.", "Sure, let me do that.", "Let me see.")
ERRORS = (
    "Sorry, that did not work: {e}.", "The tool reported an error: {e}.", "I could not {a}: {e}.", "That failed with the error: {e}.",
)  # fmt: skip


@dataclass(slots=True)
class Scene:
    """A conversation being written. tools and schemas match by place; facts are in the preamble."""

    rng: random.Random
    tools: list[Tool]
    schemas: list[Message]
    messages: list[Message] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    held: bool = False

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def say(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})

    def call(self, *requests: Request) -> None:
        """The assistant's calls, sometimes after a short sentence or a thought."""
        calls = [{"type": "function", "function": {"name": r.tool.name, "arguments": r.arguments}} for r in requests]
        message: Message = {"role": "assistant", "content": "", "tool_calls": calls}
        roll = self.rng.random()
        if roll < 0.2:
            message["content"] = self.rng.choice(PREFACES)
        elif roll < 0.23:
            names = " and ".join(r.tool.name for r in requests)
            message["reasoning_content"] = f"The user wants me to {requests[0].tool.action}. I call {names}."
        self.messages.append(message)

    def results(self, *results: dict[str, Any] | str) -> None:
        for result in results:
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            self.messages.append({"role": "tool", "content": text})


def make_tools(rng: random.Random, count: int, mix: str, pool: tuple[Tool, ...] = KNOWN) -> list[Tool]:
    """Tools with distinct names. mix: known, synthetic or mixed."""
    tools: list[Tool] = []
    themes = rng.sample(sorted({t.domain for t in pool}), 2)
    while len(tools) < count:
        if mix == "synthetic" or (mix == "mixed" and rng.random() < 0.5):
            tool = invent_tool(rng, rng.choice(tools) if tools and rng.random() < 0.5 else None)
        else:
            options = [t for t in pool if t.domain in themes] if rng.random() < 0.4 else pool
            tool = rng.choice(options)
            if rng.random() < 0.4:
                tool = disguise(rng, tool)
        if all(tool.name != other.name and (tool.action != other.action) for other in tools):
            tools.append(tool)
    return tools


def draw_result(rng: random.Random, request: Request) -> dict[str, Any]:
    """What the tool returns, by its fields."""
    result: dict[str, Any] = {}
    for f in request.tool.fields:
        if f.copies:
            if f.copies in request.arguments:
                result[f.name] = request.arguments[f.copies]
        elif f.constant:
            result[f.name] = f.constant
        else:
            result[f.name] = KINDS[f.kind].sample(rng)[1]
    return result


def wrap(rng: random.Random, result: dict[str, Any]) -> dict[str, Any] | str:
    """The result as tools send it: bare, within an object, with other fields, or as text."""
    roll = rng.random()
    if roll < 0.6:
        return result
    if roll < 0.7:
        return {rng.choice(("result", "data", "response", "output")): result}
    if roll < 0.8:
        return {"status": "ok", **result} if "status" not in result else result
    if roll < 0.9:
        extra = {rng.choice(("request_id", "source", "version", "took_ms", "cached")): rng.choice((rng.randint(1, 900), "v2", True, None))}
        return {**result, **extra}
    return ", ".join(f"{key}: {_plain(value)}" for key, value in result.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tell(rng: random.Random, request: Request, result: dict[str, Any]) -> str:
    """The answer that the result gives."""
    values = {key: _plain(value) for key, value in {**request.arguments, **result}.items()}
    text = fill(rng.choice(request.tool.answers), values)
    return text[0].upper() + text[1:] if rng.random() < 0.5 and not text.startswith(tuple(values.values())) else text


def finish(scene: Scene, requests: list[Request]) -> list[dict[str, Any]]:
    """Call, results, answer. The answer tells every result, in order."""
    scene.call(*requests)
    results = [draw_result(scene.rng, r) for r in requests]
    scene.results(*(wrap(scene.rng, result) for result in results))
    joiner = scene.rng.choice((" ", " ", "\n"))
    scene.say(joiner.join(tell(scene.rng, r, result) for r, result in zip(requests, results, strict=True)))
    return results


def single(scene: Scene) -> None:
    request = make_request(scene.rng, scene.rng.choice(scene.tools), scene.held)
    scene.user(request.text)
    results = finish(scene, [request])
    if scene.rng.random() < 0.25:
        recall(scene, results[0])
    elif scene.rng.random() < 0.3:
        elliptical(scene, request)


def recall(scene: Scene, result: dict[str, Any]) -> None:
    """A question about a result that is already there."""
    name = scene.rng.choice(tuple(result))
    asked = scene.rng.choice(("What was the {l} again?", "Remind me of the {l}.", "And the {l}?", "Which {l} was that?", "What is the {l}?"))
    scene.user(asked.replace("{l}", humanise(name)))
    scene.say(scene.rng.choice(("The {l} is {v}.", "The {l} was {v}.", "It is {v}.")).replace("{l}", humanise(name)).replace("{v}", _plain(result[name])))


def elliptical(scene: Scene, request: Request) -> None:
    """The same call for another value: "And in Oslo?"."""
    options = [p for p in request.tool.params if p.required and KINDS[p.kind].schema.get("type") == "string"]
    if not options:
        return
    param = scene.rng.choice(options[:1] if scene.rng.random() < 0.7 else options)
    said, value = KINDS[param.kind].sample(scene.rng)
    text = scene.rng.choice(("And {v}?", "What about {v}?", "And for {v}?", "How about {v}?", "The same for {v}, please.", "Now {v}.", "And in {v}?"))
    scene.user(text.replace("{v}", said))
    finish(scene, [Request(request.tool, "", {**request.arguments, param.name: value}, {**request.said, param.name: said})])


def parallel(scene: Scene) -> None:
    """Several calls at once: one tool with several values, or several tools."""
    requests = parallel_requests(scene)
    scene.user(requests[0].text)
    finish(scene, list(requests[1]))


def parallel_requests(scene: Scene) -> tuple[Request, tuple[Request, ...]]:
    """A request whose text asks for all the calls, and the calls."""
    rng = scene.rng
    tool = rng.choice(scene.tools)
    several = [p for p in tool.params if p.required and KINDS[p.kind].schema.get("type") == "string" and not KINDS[p.kind].schema.get("enum")]
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
        extra = [f"with {p.label} {said_all[p.name]}" for p in tool.params if not p.required and p.name in arguments and p.kind != "boolean"]
        arguments = {k: v for k, v in arguments.items() if next(p for p in tool.params if p.name == k).kind != "boolean" or next(p for p in tool.params if p.name == k).required}
        text = with_clauses(fill(choose_ask(rng, tool, scene.held), said_all), extra)
        calls = tuple(Request(tool, "", {**arguments, param.name: value}, {**base.said, param.name: said}) for said, value in values)
        return Request(tool, text, {}, {}), calls
    first = make_request(rng, tool, scene.held, bare=True)
    second = make_request(rng, rng.choice(scene.tools), scene.held, bare=True)
    requests, texts = [first, second], [first.text, second.text]
    if rng.random() < 0.15:
        requests.append(make_request(rng, rng.choice(scene.tools), scene.held, bare=True))
        texts.append(requests[-1].text)
    return Request(tool, _joined(rng, texts), {}, {}), tuple(requests)


def _joined(rng: random.Random, texts: list[str]) -> str:
    text = texts[0]
    for more in texts[1:]:
        lower = more[0].lower() + more[1:] if not more.startswith("I") and more[0].isalpha() and more.split(" ", 1)[0].lower() in _OPENERS else more
        joiner = rng.choice((" and ", " Also, ", " And ", " ", ", and ", " Besides, "))
        base = text.rstrip(".?") if joiner in (" and ", ", and ") else text if text[-1] in ".?!" else text + "."
        text = base + joiner + (more if joiner == " " else lower)
    return text


_OPENERS = frozenset(
    "what how when where which who is do does did can could will would tell give show get find set make add send check please put book "
    "create start play list look search the in on for open read".split()
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
    first, second = make_request(rng, first_tool, scene.held, bare=True), make_request(rng, second_tool, scene.held, bare=True)
    label = humanise(result_field.name)
    link = rng.choice((f"that {label}", f"the {label} you get", f"the {label} from the result", f"the resulting {label}", f"its {label}"))
    ask = fill(choose_ask(rng, second_tool, scene.held), {**second.said, param.name: link})
    arguments = {p.name: second.arguments[p.name] for p in second_tool.params if p.required}
    joiner = rng.choice((" Then ", " After that, ", " Next, ", " Once you have it: "))
    scene.user((first.text if first.text[-1] in ".?!" else first.text + ".") + joiner + (ask[0].lower() + ask[1:] if ask[0].isupper() and ask.split(" ", 1)[0].lower() in _OPENERS else ask))
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
    scene.results({rng.choice(("error", "error", "message")): reason} if rng.random() < 0.7 else {"status": "error", "error": reason})
    scene.say(rng.choice(ERRORS).replace("{e}", reason).replace("{a}", request.tool.action))
    if rng.random() < 0.4:
        scene.user(rng.choice(("Try again.", "Please try once more.", "Again, please.", "Retry.", "Try it again")))
        finish(scene, [request])


def unavailable(scene: Scene) -> None:
    """A request for a tool that is not there."""
    rng = scene.rng
    words = {word for t in scene.tools for word in humanise(t.name).split()[1:]}
    for _ in range(10):
        other = rng.choice(KNOWN)
        if not words & {*humanise(other.name).split(), *other.action.split()}:
            break
    else:
        return talk(scene)
    scene.user(make_request(rng, other, noise=0.0).text)
    scene.say(rng.choice(REFUSALS))
    return None


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
        scene.user(rng.choice((f"What does the text say about {subject}?", f"Tell me everything about {subject}.", f"Summarise {subject}.")))
        scene.say(" ".join(f.put("The {a} of {s} is {v}.") for f in same))
        return None
    template = rng.choice(QUESTIONS)
    if rng.random() < 0.4:
        template = disturb(rng, reword(rng, template, 0.3), STRAY)
    scene.user(asked.put(template))
    scene.say(asked.put(rng.choice(ANSWERS)))
    return None


TURNS = ((single, 44), (parallel, 24), (chain, 7), (missing, 10), (failure, 3), (unavailable, 3), (talk, 5), (fact, 6))


def preamble(scene: Scene, length: int) -> None:
    """A system prompt of about `length` characters with facts in it."""
    rng = scene.rng
    scene.facts = distinct_facts(rng, rng.randint(0, 2 + length // 1500)) if length > 300 else []
    text = compose(rng, length, scene.facts, role(rng), formal=rng.random() < 0.7)
    scene.messages.append({"role": "system", "content": text})


def agent(rng: random.Random) -> Scene:
    """A conversation with tools."""
    mix = rng.choice(("known", "known", "mixed", "mixed", "synthetic"))
    tools = make_tools(rng, rng.choice((1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 12)), mix)
    scene = Scene(rng, tools, [t.schema(rng) for t in tools])
    roll = rng.random()
    if roll < 0.65:
        length = rng.choice((30, 60, 200, 400)) if roll < 0.4 else int(rng.uniform(500, 3000)) if roll < 0.58 else int(rng.uniform(3000, 14000))
        preamble(scene, length)
    kinds, weights = zip(*TURNS, strict=True)
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 5, 6))):
        rng.choices(kinds, weights)[0](scene)
    return scene


def reader(rng: random.Random, length: int) -> Scene:
    """A document of about `length` characters and questions about it; sometimes tools stand by."""
    tools = make_tools(rng, rng.randint(1, 4), "mixed") if rng.random() < 0.25 else []
    scene = Scene(rng, tools, [t.schema(rng) for t in tools])
    scene.facts = distinct_facts(rng, rng.randint(3, 6 + length // 2500))
    text = compose(rng, length, scene.facts, formal=rng.random() < 0.3)
    if rng.random() < 0.4:
        scene.messages.append({"role": "system", "content": rng.choice(("", "Answer from this text.\n\n", role(rng) + "\n\n")) + text})
        fact(scene)
    else:
        fact(scene)
        lead = rng.choice(("{d}\n\n{q}", "Here is a document.\n\n{d}\n\n{q}", "{q}\n\n{d}", "Read this:\n\n{d}\n\nQuestion: {q}", "Document:\n{d}\n\n{q}"))
        opened = scene.messages[-2]
        opened["content"] = lead.replace("{q}", opened["content"]).replace("{d}", text)
    for _ in range(rng.randint(2, 8) if length > 6000 else rng.randint(1, 5)):
        (single if tools and rng.random() < 0.2 else fact)(scene)
    return scene


def chat(rng: random.Random) -> Scene:
    """Small talk without tools."""
    scene = Scene(rng, [], [])
    if rng.random() < 0.5:
        preamble(scene, rng.choice((30, 60, 300)))
    for _ in range(rng.randint(1, 4)):
        talk(scene)
    return scene


def conversation(seed: int, index: int, long: bool = False) -> Scene:
    """The conversation of a seed and an index; `long` ones hold a document of 4,000 to 30,000 tokens."""
    rng = random.Random(f"{seed}/{index}/{long}")
    if long:
        return reader(rng, int(rng.uniform(14_000, 108_000)))
    roll = rng.random()
    if roll < 0.8:
        return agent(rng)
    return reader(rng, int(rng.choice((rng.uniform(300, 3000), rng.uniform(300, 10_000))))) if roll < 0.94 else chat(rng)
