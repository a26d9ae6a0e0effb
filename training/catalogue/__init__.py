"""The tools: twelve domains for training, and tools that are never trained on."""

from training.catalogue import (
    calendar,
    commerce,
    computing,
    contacts,
    finance,
    food,
    health,
    home,
    knowledge,
    media,
    travel,
    weather,
)
from training.catalogue.held_out import TOOLS as HELD_OUT
from training.catalogue.phrasings import PHRASINGS
from training.tool import Tool, with_phrasings

DOMAINS = (weather, calendar, contacts, finance, commerce, travel, media, home, computing, knowledge, health, food)
KNOWN: tuple[Tool, ...] = tuple(
    with_phrasings(tool, PHRASINGS[tool.name]).in_domain(module.__name__.rsplit(".", 1)[-1])
    for module in DOMAINS
    for tool in module.TOOLS
)

__all__ = ["DOMAINS", "HELD_OUT", "KNOWN"]
