"""A comparison as a picture: layers down, positions across, as SVG."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.trace.comparison import ABSENT, DIFFERENT, EQUAL, Comparison, Status
from isotherm.trace.first import Difference
from isotherm.trace.printable import printable
from isotherm.trace.spans import spans
from isotherm.trace.values import block_end

WIDTH, LEFT, TOP = 1000, 150, 24
ROW, KEPT, STRIP, GAP = 11, 5, 12, 2
COLUMNS = 1000
"""Most columns; a longer request has several positions in one, which differs when any of them does."""
MOST_LINES = 64
CLASSES = ("absent", "equal", "differs", "only-a", "only-b")
SAID = ("in neither", "equal", "differs", "only in A", "only in B")


@dataclass(frozen=True, slots=True)
class Axis:
    """Positions to pixels. bucket: positions in one column."""

    tokens: int

    @property
    def bucket(self) -> int:
        return -(-self.tokens // COLUMNS)

    def x(self, position: float) -> float:
        """The left edge of a position."""
        return LEFT + WIDTH * min(position, self.tokens) / self.tokens

    def rect(self, start: int, end: int, y: float, height: float, name: str, title: str, least: float = 0.0) -> str:
        """Positions start..end as a bar that says `title` when pointed at."""
        width = max(self.x(end) - self.x(start), least)
        return (
            f'<rect x="{self.x(start):.2f}" y="{y}" width="{width:.2f}" height="{height}" class="{name}">'
            f"<title>{escape(title)}</title></rect>"
        )


def draw(comparison: Comparison, first: Difference | None) -> str:
    """The picture, a whole <svg> element whose classes the page colours."""
    axis = Axis(comparison.tokens)
    parts: list[str] = []
    y: float = TOP
    for side, values in (("A", comparison.a), ("B", comparison.b)):
        parts.append(_label(y, STRIP, f"{side}: how computed"))
        parts += (
            axis.rect(span.start, span.end, y, STRIP, f"span {span.how}", span.title)
            for span in spans(values.trace, comparison.tokens)
        )
        y += STRIP + GAP
    top = y = y + GAP
    lanes = _Lanes(comparison, axis)
    marks: dict[int, float] = {}
    for layer in range(-1, len(comparison.layers) + 1):
        marks[layer] = y
        drawn, height = lanes.layer(layer, y)
        parts += drawn
        y += height + GAP
    parts += _grid(axis, top, y)
    if first is not None:
        parts += _mark(axis, first, marks[first.layer], y)
    view = f"0 0 {LEFT + WIDTH + 20} {y + 26}"
    return f'<svg viewBox="{view}" role="img" aria-label="layers by positions">{"".join(parts)}</svg>'


class _Lanes:
    """The bars of one layer: what is kept at boundaries and in blocks above, rows below."""

    def __init__(self, comparison: Comparison, axis: Axis):
        self._comparison = comparison
        self._axis = axis
        header = comparison.a.trace.header
        self._states = [int(name.partition(".")[0]) for name in header.states]
        self._blocks = [int(name.partition(".")[0]) for name in header.blocks]

    def layer(self, layer: int, y: float) -> tuple[list[str], float]:
        """Its bars from y on, and their height."""
        layers = self._comparison.layers
        if layer < 0:
            name = "embedding"
        elif layer == len(layers):
            name = "logits"
        else:
            name = f"{layer} {printable(layers[layer])}"
        kept = [*self._block_bars(layer, y), *self._state_bars(layer, y)]
        inset = KEPT if kept else 0
        parts = [_label(y, inset + ROW, name), *kept, *self._row_bars(layer, name, y + inset)]
        return parts, inset + ROW

    def _row_bars(self, layer: int, name: str, y: float) -> Iterator[str]:
        bucket = self._axis.bucket
        for start, end, status in runs(squeeze(self._comparison.rows[layer + 1], bucket)):
            if status != ABSENT:
                low, high = start * bucket, min(end * bucket, self._comparison.tokens)
                title = f"{name}, positions {low}..{high - 1}: {SAID[status]}"
                yield self._axis.rect(low, high, y, ROW, CLASSES[status], title)

    def _block_bars(self, layer: int, y: float) -> Iterator[str]:
        columns = [column for column, owner in enumerate(self._blocks) if owner == layer]
        for block, status in self._comparison.blocks.items() if columns else ():
            worst = _worst(status[columns])
            start, end = block * BLOCK, block_end(block)
            title = f"layer {layer}, KV block of positions {start}..{end - 1}: {SAID[worst]}"
            yield self._axis.rect(start, end, y, KEPT - 1, f"kept {CLASSES[worst]}", title)

    def _state_bars(self, layer: int, y: float) -> Iterator[str]:
        columns = [column for column, owner in enumerate(self._states) if owner == layer]
        for at, status in self._comparison.states.items() if columns else ():
            worst = _worst(status[columns])
            title = f"layer {layer}, state at the boundary {at}: {SAID[worst]}"
            width = min(8, BLOCK // 4)
            yield self._axis.rect(at - width, at, y, KEPT - 1, f"kept {CLASSES[worst]}", title, least=3.0)


def squeeze(status: Status, bucket: int) -> Status:
    """One value for each `bucket` positions: different if any is, else equal if any is, else in one if any is."""
    padded = np.pad(status, (0, -len(status) % bucket)).reshape(-1, bucket)
    rank = np.array([0, 3, 4, 1, 2], np.uint8)
    back = np.argsort(rank).astype(np.uint8)
    squeezed: Status = back[rank[padded].max(axis=1)]
    return squeezed


def runs(status: Status) -> Iterator[tuple[int, int, int]]:
    """(start, end, value) of each stretch of equal values."""
    edges = [0, *(np.flatnonzero(np.diff(status)) + 1).tolist(), len(status)]
    for start, end in pairwise(edges):
        if end > start:
            yield start, end, int(status[start])


def _worst(status: Status) -> int:
    values = status.tolist()
    return DIFFERENT if DIFFERENT in values else EQUAL if EQUAL in values else max(values)


def _label(y: float, height: float, text: str) -> str:
    return f'<text x="{LEFT - 6}" y="{y + height - 2}" class="name">{escape(text)}</text>'


def _grid(axis: Axis, top: float, bottom: float) -> Iterator[str]:
    """A line at block boundaries (at every second, fourth, ... of a long request), and positions below."""
    step = BLOCK
    while axis.tokens / step > MOST_LINES:
        step *= 2
    for position in range(0, axis.tokens + 1, step):
        yield f'<path d="M{axis.x(position):.2f} {top}V{bottom}" class="boundary"/>'
    every = step * max(1, -(-axis.tokens // step // 12))
    for position in range(0, axis.tokens + 1, every):
        yield f'<text x="{axis.x(position):.2f}" y="{bottom + 14}" class="position">{position}</text>'


def _mark(axis: Axis, first: Difference, y: float, bottom: float) -> Iterator[str]:
    x = axis.x(first.position + 0.5)
    yield f'<path d="M{x:.2f} {TOP - 4}V{bottom}" class="first"/>'
    yield f'<circle cx="{x:.2f}" cy="{y + ROW / 2 + 2}" r="7" class="first"/>'
    anchor = "end" if x > LEFT + WIDTH * 0.8 else "start"
    yield f'<text x="{x:.2f}" y="{TOP - 8}" class="first" text-anchor="{anchor}">first difference: {first.position}</text>'
