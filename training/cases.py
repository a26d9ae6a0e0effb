"""Makes the evaluation's cases: held-out tools and phrasings, each with what a machine can check.

    python -m training.cases --out src/isotherm/evaluate/cases.jsonl

A line has id, group, messages, tools and expect: {"calls": [{name, arguments}]}, in any order, or {"contains": [text, ...]} and
no call. The groups are those of `isotherm eval`.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

from training.catalogue import HELD_OUT, KNOWN
from training.chatter import HELD_TALK
from training.disguise import disguise
from training.documents import HELD_QUESTIONS
from training.parallel import parallel_requests
from training.request import Request, incomplete, make_request
from training.scene import Scene, draw_result, make_tools, preamble
from training.synthetic import invent_tool
from training.tool import Tool
from training.turns import unavailable

COUNTS = {"single_known": 150, "single_held_out": 120, "parallel": 100, "round_trip": 120, "no_call": 110}
Case = dict[str, Any]


def _scene(rng: random.Random, asked: list[Tool]) -> Scene:
    """The asked tools among others, and sometimes a preamble."""
    tools = list(asked)
    for extra in make_tools(rng, rng.choice((1, 2, 3, 4, 6)), rng.choice(("known", "mixed", "synthetic"))):
        if all(extra.name != t.name and extra.action != t.action for t in tools):
            tools.append(extra)
    rng.shuffle(tools)
    scene = Scene(rng, tools, [t.schema(rng) for t in tools], held=True)
    if rng.random() < 0.5:
        preamble(scene, rng.choice((30, 60, 200, 400, 1500)))
    return scene


def _calls(requests: tuple[Request, ...]) -> dict[str, Any]:
    return {"calls": [{"name": r.tool.name, "arguments": r.arguments} for r in requests]}


def single(rng: random.Random, pool: tuple[Tool, ...]) -> tuple[Scene, dict[str, Any]]:
    tool = rng.choice(pool)
    scene = _scene(rng, [tool])
    request = make_request(rng, tool, held=True)
    scene.user(request.text)
    return scene, _calls((request,))


def parallel(rng: random.Random) -> tuple[Scene, dict[str, Any]]:
    tools = rng.sample(KNOWN, 2)
    scene = _scene(rng, tools)
    kept, scene.tools = scene.tools, tools
    asked, requests = parallel_requests(scene)
    scene.tools = kept
    scene.user(asked.text)
    return scene, _calls(requests)


def _told(tool: Tool) -> set[str]:
    """The fields that every answer of the tool tells."""
    return {f.name for f in tool.fields if all("{" + f.name + "}" in answer for answer in tool.answers)}


def round_trip(rng: random.Random) -> tuple[Scene, dict[str, Any]]:
    """A question, its calls and their results; what remains is to answer."""
    pool = rng.choice((KNOWN, KNOWN, HELD_OUT))
    tool = rng.choice(pool)
    tool = (
        disguise(rng, tool)
        if pool is KNOWN and rng.random() < 0.3
        else invent_tool(rng)
        if rng.random() < 0.2
        else tool
    )
    scene = _scene(rng, [tool])
    requests = [make_request(rng, tool, held=True)]
    scene.user(requests[0].text)
    calls = [{"type": "function", "function": {"name": r.tool.name, "arguments": r.arguments}} for r in requests]
    scene.messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    contains: list[str] = []
    for request in requests:
        result = draw_result(rng, request)
        scene.results(result)
        told = (
            _told(tool)
            if pool is KNOWN or tool.domain == "synthetic"
            else {f.name for f in tool.fields if not f.copies}
        )
        contains += [
            v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in result.items() if k in told
        ]
    return scene, {"contains": contains}


def no_call(rng: random.Random) -> tuple[Scene, dict[str, Any]]:
    """Small talk, a missing value, a tool that is not there, or a fact of the preamble."""
    scene = _scene(rng, [rng.choice(KNOWN)])
    roll = rng.random()
    if roll < 0.25:
        scene.user(rng.choice(HELD_TALK))
        return scene, {"contains": []}
    if roll < 0.55:
        made = None
        while made is None:
            made = incomplete(rng, rng.choice([t for t in scene.tools if t in KNOWN] or [KNOWN[0]]), held=True)
        scene.user(made[0].text)
        return scene, {"contains": [p.label for p in made[1]]}
    if roll < 0.8:
        unavailable(scene)
        scene.messages.pop()
        return scene, {"contains": []}
    if not scene.facts:
        scene.messages.clear()
        while not scene.facts:
            scene.messages.clear()
            preamble(scene, rng.choice((600, 1500, 3000)))
    fact = rng.choice(scene.facts)
    scene.user(fact.put(rng.choice(HELD_QUESTIONS)))
    return scene, {"contains": [fact.value]}


def make_cases(seed: int) -> list[Case]:
    """All cases of a seed."""
    makers = {
        "single_known": lambda rng: single(rng, KNOWN),
        "single_held_out": lambda rng: single(rng, HELD_OUT),
        "parallel": parallel,
        "round_trip": round_trip,
        "no_call": no_call,
    }
    cases = []
    for group, count in COUNTS.items():
        for index in range(count):
            scene, expect = makers[group](random.Random(f"eval/{seed}/{group}/{index}"))
            cases.append(
                {
                    "id": f"{group}-{index:03d}",
                    "group": group,
                    "messages": scene.messages,
                    "tools": scene.schemas,
                    "expect": expect,
                }
            )
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=2031)
    args = parser.parse_args()
    lines = [json.dumps(case, ensure_ascii=False) for case in make_cases(args.seed)]
    args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
