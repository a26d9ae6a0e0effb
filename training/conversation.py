"""Whole conversations: tools, a preamble, and turns of every kind, built from a seed and an index."""

import random

from training.catalogue import EXTRA, KNOWN, TRAINED
from training.documents import compose, distinct_facts, role
from training.scene import Scene, make_tools, preamble
from training.tool import Tool
from training.turns import TURNS, fact, single, talk


def _pool(rng: random.Random) -> tuple[Tool, ...]:
    """Which tools may stand by: the domains' own somewhat oftener than the others."""
    return rng.choice((KNOWN, KNOWN, KNOWN, TRAINED, EXTRA))


def agent(rng: random.Random) -> Scene:
    """A conversation with tools."""
    mix = rng.choice(("known", "known", "mixed", "mixed", "synthetic"))
    tools = make_tools(rng, rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12, 14)), mix, _pool(rng))
    scene = Scene(rng, tools, [t.schema(rng) for t in tools])
    roll = rng.random()
    if roll < 0.62:
        length = (
            rng.choice((30, 60, 200, 400))
            if roll < 0.44
            else int(rng.uniform(500, 3000))
            if roll < 0.57
            else int(rng.uniform(3000, 14000))
        )
        preamble(scene, length)
    kinds, weights = zip(*TURNS, strict=True)
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5, 6))):
        rng.choices(kinds, weights)[0](scene)
    return scene


def reader(rng: random.Random, length: int) -> Scene:
    """A document of about `length` characters and questions about it; sometimes tools stand by."""
    tools = make_tools(rng, rng.randint(1, 4), "mixed", TRAINED) if rng.random() < 0.25 else []
    scene = Scene(rng, tools, [t.schema(rng) for t in tools])
    scene.facts = distinct_facts(rng, rng.randint(3, 6 + length // 2500))
    text = compose(rng, length, scene.facts, formal=rng.random() < 0.3)
    if rng.random() < 0.4:
        scene.messages.append(
            {"role": "system", "content": rng.choice(("", "Answer from this text.\n\n", role(rng) + "\n\n")) + text}
        )
        fact(scene)
    else:
        fact(scene)
        lead = rng.choice(
            (
                "{d}\n\n{q}",
                "Here is a document.\n\n{d}\n\n{q}",
                "{q}\n\n{d}",
                "Read this:\n\n{d}\n\nQuestion: {q}",
                "Document:\n{d}\n\n{q}",
            )
        )
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
    return (
        reader(rng, int(rng.choice((rng.uniform(300, 3000), rng.uniform(300, 10_000))))) if roll < 0.94 else chat(rng)
    )
