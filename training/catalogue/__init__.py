"""The tools: twelve domains that are trained on and evaluated, more that are only trained on, and some only evaluated."""

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
from training.catalogue.extra import TOOLS as EXTRA
from training.catalogue.held_out import TOOLS as HELD_OUT
from training.catalogue.phrasings import PHRASINGS
from training.catalogue.wordings import WORDINGS
from training.tool import Tool, with_phrasings

DOMAINS = (weather, calendar, contacts, finance, commerce, travel, media, home, computing, knowledge, health, food)
KNOWN: tuple[Tool, ...] = tuple(
    with_phrasings(tool, f"{PHRASINGS[tool.name]} | {WORDINGS[tool.name]}").in_domain(
        module.__name__.rsplit(".", 1)[-1]
    )
    for module in DOMAINS
    for tool in module.TOOLS
)

TRAINED: tuple[Tool, ...] = (*KNOWN, *EXTRA)

__all__ = ["DOMAINS", "EXTRA", "HELD_OUT", "KNOWN", "TRAINED"]
