"""docs/server.md says what the tables in the code say."""

import re
from pathlib import Path

from isotherm.server.chat_body import ChatBody
from isotherm.server.completion_body import CompletionBody
from isotherm.server.fields import INERT, UNSUPPORTED

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text()


def section(title: str) -> set[str]:
    """The words in backticks between a heading and the next."""
    return set(re.findall(r"`([a-z_]+)`", PAGE.split(f"# {title}\n")[1].split("\n#")[0]))


def test_every_field_is_documented() -> None:
    missing = {*ChatBody.model_fields, *CompletionBody.model_fields} - section("What may be asked")
    assert missing == {"add_special_tokens"}


def test_fields_without_effect_are_documented() -> None:
    assert section("Accepted without effect") == INERT


def test_neutral_values_are_documented() -> None:
    neutral = {name for name, known in UNSUPPORTED.items() if known.neutral}
    assert neutral | {"add_special_tokens"} <= section("Accepted only where they ask for nothing")
