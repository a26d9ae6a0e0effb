"""Tools that only training conversations use, beside those of the domains. Nothing here resembles a held-out tool.

A block has six lines: `name: description`, parameters, action, requests, result, answers, in the notation of `tool`.
"""

from training.catalogue.extra import office, places, things
from training.tool import Tool, tool


def _read(text: str, domain: str) -> tuple[Tool, ...]:
    made = []
    for block in text.strip().split("\n\n"):
        head, params, action, asks, result, answers = block.splitlines()
        name, _, description = head.partition(": ")
        made.append(tool(name, description, params, action, asks, "", result, answers).in_domain(domain))
    return tuple(made)


TOOLS: tuple[Tool, ...] = tuple(
    t for module in (office, places, things) for t in _read(module.TEXT, module.__name__.rsplit(".", 1)[-1])
)
