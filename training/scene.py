"""A conversation being written: its tools, messages and facts, and what tools answer."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

from training.catalogue import KNOWN
from training.disguise import disguise
from training.documents import Fact, compose, distinct_facts, role
from training.request import Request, fill
from training.synthetic import invent_tool
from training.tool import Tool
from training.values import KINDS

Message = dict[str, Any]
PREFACES = ("Let me check.", "One moment.", "I'll look that up.", "Sure, let me do that.", "Let me see.")


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
            if rng.random() < 0.35:
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
        extra = {
            rng.choice(("request_id", "source", "version", "took_ms", "cached")): rng.choice(
                (rng.randint(1, 900), "v2", True, None)
            )
        }
        return {**result, **extra}
    return ", ".join(f"{key}: {plain(value)}" for key, value in result.items())


def plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tell(rng: random.Random, request: Request, result: dict[str, Any]) -> str:
    """The answer that the result gives."""
    values = {key: plain(value) for key, value in {**request.arguments, **result}.items()}
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


def preamble(scene: Scene, length: int) -> None:
    """A system prompt of about `length` characters with facts in it."""
    rng = scene.rng
    scene.facts = distinct_facts(rng, rng.randint(0, 2 + length // 1500)) if length > 300 else []
    text = compose(rng, length, scene.facts, role(rng), formal=rng.random() < 0.7)
    scene.messages.append({"role": "system", "content": text})
