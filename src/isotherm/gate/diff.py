"""Two answers side by side: the same sections on both sides, each in pieces that are the same or differ."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from isotherm.gate.answer import Answer

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_WORK = 2_000_000  # words times words: beyond it, all between the first and the last difference is marked


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a text, and whether the other side has something else there."""

    text: str
    differs: bool


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of two answers. left, right: None on the side that lacks the part."""

    name: str
    left: Pieces | None
    right: Pieces | None

    @property
    def differs(self) -> bool:
        """Whether the two sides are not the same."""
        if self.left is None or self.right is None:
            return True
        return any(piece.differs for piece in self.left + self.right)


def sections(left: Answer, right: Answer) -> tuple[Section, ...]:
    """Reasoning, text, every tool call in turn, the finish reason, and the error of an answer that did not come."""
    sides = _parts(left), _parts(right)
    names = dict.fromkeys(name for side in sides for name in side)
    order = sorted(names, key=lambda name: (_rank(name), name))
    return tuple(_section(name, sides[0].get(name), sides[1].get(name)) for name in order)


def side_by_side(left: str, right: str) -> tuple[Pieces, Pieces]:
    """Both texts in pieces, cut between words; what differs is marked."""
    a, b = _WORDS.findall(left), _WORDS.findall(right)
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    before, after = Piece("".join(a[:start]), False), Piece("".join(a[len(a) - end :]), False)
    if len(middle_a) * len(middle_b) > _MOST_WORK:
        inner: tuple[Pieces, Pieces] = (Piece("".join(middle_a), True),), (Piece("".join(middle_b), True),)
    else:
        inner = _aligned(middle_a, middle_b)
    first, second = (tuple(piece for piece in (before, *side, after) if piece.text) for side in inner)
    return first, second


def _aligned(a: list[str], b: list[str]) -> tuple[Pieces, Pieces]:
    left, right = [], []
    for what, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        left.append(Piece("".join(a[a0:a1]), what != "equal"))
        right.append(Piece("".join(b[b0:b1]), what != "equal"))
    return tuple(left), tuple(right)


def _common(a: list[str], b: list[str]) -> int:
    pairs = zip(a, b, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def _parts(answer: Answer) -> dict[str, str]:
    parts = {"reasoning": answer.reasoning, "text": answer.text}
    parts |= {f"call {i}": f"{call.name}({call.arguments})" for i, call in enumerate(answer.tool_calls, 1)}
    parts |= {"finish": answer.finish_reason or "", "error": answer.error or ""}
    return {name: text for name, text in parts.items() if text}


def _rank(name: str) -> tuple[int, int]:
    kind, _, number = name.partition(" ")
    return ("reasoning", "text", "call", "finish", "error").index(kind), int(number or 0)


def _section(name: str, left: str | None, right: str | None) -> Section:
    if left is None or right is None:
        return Section(name, _whole(left), _whole(right))
    return Section(name, *side_by_side(left, right))


def _whole(text: str | None) -> Pieces | None:
    return None if text is None else (Piece(text, True),)
