"""Where two sequences part, and what is around that place."""

from isotherm.gate.answer import Answer

AROUND = 4


def tokens_near(answer: Answer, place: int) -> str:
    """The token ids around `place`, with their text where the server gave it."""
    near = range(max(0, place - AROUND), min(place + AROUND + 1, len(answer.token_ids)))
    texts = [repr(answer.scores[i].token) if i < len(answer.scores) else "" for i in near]
    return " ".join(f"{answer.token_ids[i]}{text}" for i, text in zip(near, texts, strict=True)) or "(ended)"


def first_difference(left: str | tuple[int, ...], right: str | tuple[int, ...]) -> int:
    """The first index at which two sequences differ; the shorter one's length when one begins the other."""
    pairs = zip(left, right, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
