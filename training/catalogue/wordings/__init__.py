"""Many more ways to ask for the known tools, put together from parts, none of them a held-out phrasing."""

import re
from itertools import product

from training.catalogue.wordings import house_and_media, knowledge_and_health, money_and_travel, sky_and_calendar

_CHOICE = re.compile(r"\[([^\]]*)\]")


def expand(text: str, limit: int = 10) -> list[str]:
    """Every sentence that a wording with choices `[a/b]` stands for; of many, `limit` spread evenly."""
    parts = _CHOICE.split(text)
    options = [part.split("/") if index % 2 else [part] for index, part in enumerate(parts)]
    made = [" ".join("".join(chosen).split()) for chosen in product(*options)]
    return made if len(made) <= limit else [made[len(made) * i // limit] for i in range(limit)]


WORDINGS: dict[str, str] = {
    name: " | ".join(sentence for wording in text.split(" | ") for sentence in expand(" ".join(wording.split())))
    for part in (sky_and_calendar, money_and_travel, house_and_media, knowledge_and_health)
    for name, text in part.WORDINGS.items()
}
"""By tool, alternatives parted by `|`."""
