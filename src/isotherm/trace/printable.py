"""Text from a file, made safe to print."""


def printable(text: str) -> str:
    """The text with nothing in it that a terminal would obey."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
