"""A server's text, made safe to show: nothing in it can steer a terminal, reorder what stands beside it or hide."""

import unicodedata

LONGEST = 1200


def visible(text: str, keep: str = "") -> str:
    """Control, format, surrogate, private and unassigned characters, and line separators, as \\u escapes; `keep` as they are.

    What is left can be encoded as UTF-8 and stands in XML.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character in keep or not _hides(character) else _escape(character) for character in text
    )


def _hides(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("C") or category in ("Zl", "Zp")


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def plain(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, all of it visible, cut after `longest` characters."""
    return visible(text[:longest]) + ("…" if len(text) > longest else "")


def plain_lines(text: str) -> str:
    """As `plain`, line by line."""
    return "\n".join(plain(line) for line in text.splitlines())
