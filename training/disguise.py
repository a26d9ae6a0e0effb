"""Known tools under other names."""

import random
import re
from dataclasses import replace

from training.lexicon import reword
from training.naming import opaque_name, param_name, style_name
from training.tool import Tool, humanise

RENAMED_VERBS = {
    "get": ("fetch", "lookup", "retrieve", "read", "query", "find", "show", "check"),
    "find": ("search", "lookup", "locate", "get"),
    "search": ("find", "lookup", "query"),
    "create": ("add", "make", "new", "open"),
    "send": ("deliver", "post", "dispatch", "write"),
    "set": ("adjust", "change", "put", "configure"),
    "list": ("show", "get", "read"),
    "convert": ("change", "exchange", "compute"),
    "book": ("reserve", "arrange", "make"),
    "log": ("record", "save", "add"),
    "add": ("insert", "save", "append"),
    "delete": ("remove", "drop", "erase"),
}  # fmt: skip


def _describe(rng: random.Random, tool: Tool) -> str:
    """The description in other words, or made of the action; seldom none."""
    roll = rng.random()
    if roll < 0.7:
        return reword(rng, tool.description, rng.choice((0.1, 0.2, 0.5)))
    if roll < 0.97:
        action = reword(rng, tool.action, 0.3)
        pattern = rng.choice(
            ("{A}.", "Use this to {a}.", "Call it when somebody wants to {a}.", "A service to {a}.", "{A}")
        )
        return pattern.replace("{a}", action).replace("{A}", action[0].upper() + action[1:])
    return ""


def disguise(rng: random.Random, tool: Tool) -> Tool:
    """A known tool under another name, with renamed and reordered parameters."""
    parts = humanise(tool.name).split()
    if parts[0] in RENAMED_VERBS and rng.random() < 0.7:
        parts[0] = rng.choice(RENAMED_VERBS[parts[0]])
    if rng.random() < 0.2:
        parts.append(rng.choice(("info", "data", "now", "service", "tool", "v2", "entry")))
    elif rng.random() < 0.15:
        parts = [*parts[1:], parts[0]]
    taken: set[str] = set()
    renamed = {
        p.name: param_name(rng, p.kind, taken) if rng.random() < 0.5 and p.kind != "boolean" else p.name
        for p in tool.params
    }
    if len(set(renamed.values())) < len(renamed):
        renamed = {p.name: p.name for p in tool.params}
    params = [replace(p, name=renamed[p.name]) for p in tool.params if p.required or rng.random() < 0.8]
    if rng.random() < 0.3:
        rng.shuffle(params)

    def slots(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda m: "{" + renamed.get(m[1], m[1]) + "}", text)

    return replace(
        tool,
        name=style_name(rng, parts) if rng.random() < 0.9 else opaque_name(rng),
        description=_describe(rng, tool),
        params=tuple(params),
        asks=tuple(slots(ask) for ask in tool.asks),
        held_asks=tuple(slots(ask) for ask in tool.held_asks),
        fields=tuple(replace(f, copies=renamed[f.copies]) if f.copies else f for f in tool.fields),
    )
