"""Draw what `isotherm bench --json` has measured on several servers, as two SVG files.

    python benchmarks/plot.py FOLDER NAME=FILE [NAME=FILE ...]

FOLDER/first-token.svg: time to first token against length, cold and warm; FOLDER/throughput.svg: new tokens a second against the
number of requests at once. A FILE may also be what measure_isotherm.py wrote, or the peers' harness, which has the same figures
of fewer sizes: a warm turn at the longest prompt only, and one number of requests at once.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 48
COLOURS = ("#0b6e4f", "#c8553d", "#3d5a98", "#8a6d1f")
FONT = 'font-family="system-ui, sans-serif"'


@dataclass(frozen=True, slots=True)
class Line:
    """Points (x, y) of one engine. label: at the line's end, "" for none."""

    label: str
    colour: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """low, high: what is shown. ticks: values with their labels. log: whether equal ratios are equal lengths."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool

    def place(self, value: float) -> float:
        """0 at `low`, 1 at `high`; the middle where they are the same, as when only one length was measured."""
        if self.high == self.low:
            return 0.5
        scale: Callable[[float], float] = math.log if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def plot(title: str, x_title: str, x: Axis, y: Axis, lines: Sequence[Line]) -> str:
    """An SVG document."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return LEFT + width * x.place(point[0]), TOP + height * (1 - y.place(point[1]))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 24, title, size=15, weight=600),
        _text(LEFT + width / 2, HEIGHT - 10, x_title, anchor="middle"),
    ]
    for value, label in y.ticks:
        _, place = at((x.low, value))
        parts.append(f'<path d="M{LEFT} {place:.1f}H{LEFT + width}" stroke="#dddddd"/>')
        parts.append(_text(LEFT - 8, place + 4, label, anchor="end"))
    for value, label in x.ticks:
        place, _ = at((value, y.low))
        parts.append(_text(place, TOP + height + 20, label, anchor="middle"))
    for line in lines:
        parts += _drawn(line, [at(point) for point in line.points])
    parts += _labels(lines, at)
    return "\n".join([*parts, "</svg>\n"])


def _drawn(line: Line, points: list[tuple[float, float]]) -> list[str]:
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    drawn = [f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2"{dashes}/>']
    return drawn + [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{line.colour}"/>' for a, b in points]


def _labels(lines: Sequence[Line], at: Callable[[tuple[float, float]], tuple[float, float]]) -> list[str]:
    """At the lines' ends, moved apart where they would overlap."""
    ends = [(at(line.points[-1])[1], line) for line in lines if line.label]
    labels, last = [], -math.inf
    for place, line in sorted(ends, key=lambda end: end[0]):
        last = max(place, last + 16)
        labels.append(_text(WIDTH - RIGHT + 10, last + 4, line.label, colour=line.colour))
    return labels


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: int = 400, colour: str = "#333333"
) -> str:
    shape = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" fill="{colour}"'
    return f"<text {shape}>{escape(text)}</text>"


def first_tokens(measured: dict[str, dict[str, Any]]) -> str:
    """Time to first token against length."""
    lines = []
    for colour, (name, figures) in zip(COLOURS, measured.items(), strict=False):
        for kind, dashed in (("cold", False), ("warm", True)):
            lines.append(Line(f"{name}, {kind}", colour, _times(figures, kind), dashed))
    lengths = sorted({point[0] for line in lines for point in line.points})
    times = [point[1] for line in lines for point in line.points]
    decades = range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1)
    marks = [10.0**power * factor for power in decades for factor in (1, 3)]
    shown = [mark for mark in marks if min(times) / 3 <= mark <= max(times) * 3]
    x = Axis(lengths[0], lengths[-1], tuple((length, f"{length:,}") for length in lengths), log=True)
    y = Axis(min(times) / 1.2, max(times) * 1.2, tuple((m, _seconds(m)) for m in shown if _within(m, times)), log=True)
    return plot("Time to first token", "tokens of prompt; warm: all but the last 64 were sent before", x, y, lines)


def _times(figures: dict[str, Any], kind: str) -> tuple[tuple[float, float], ...]:
    """(length, seconds) of one engine: of each length its fastest run, since some caches find nothing the first time."""
    warm = figures["warm"]
    if isinstance(warm, list):
        return tuple((row["prompt"], min(row[f"{kind}_ttft"]["runs"])) for row in warm)
    if kind == "warm":
        return ((warm["prompt"], min(warm["warm_ttft"]["runs"])),)
    return tuple((int(length), int(length) / row["tokens_per_s"]) for length, row in figures["prefill"].items())


def _rates(figures: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    """(requests at once, tokens a second) of one engine."""
    batch = figures["batch"]
    if "tokens_per_s" in batch:
        return ((batch["requests"], batch["tokens_per_s"]),)
    return tuple((int(count), row["tokens_per_s"]) for count, row in batch.items())


def _within(mark: float, times: list[float]) -> bool:
    return min(times) / 1.2 <= mark <= max(times) * 1.2


def _seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{value * 1e3:g} ms"


def throughput(measured: dict[str, dict[str, Any]]) -> str:
    """New tokens a second against requests at once."""
    lines = []
    for colour, (name, figures) in zip(COLOURS, measured.items(), strict=False):
        lines.append(Line(name, colour, _rates(figures)))
    counts = sorted({point[0] for line in lines for point in line.points})
    top = max(point[1] for line in lines for point in line.points)
    step = 10 if top < 100 else 25
    marks = range(0, int(top) + step + 1, step)
    x = Axis(counts[0], counts[-1], tuple((count, str(count)) for count in counts), log=True)
    y = Axis(0, marks[-1], tuple((mark, str(mark)) for mark in marks), log=False)
    return plot("New tokens a second, prefill counted", "requests at once, 512 + 64 new tokens each", x, y, lines)


def main() -> None:
    if len(sys.argv) < 3 or not all("=" in pair for pair in sys.argv[2:]):
        raise SystemExit(__doc__)
    folder, pairs = Path(sys.argv[1]), [pair.split("=", 1) for pair in sys.argv[2:]]
    measured = {name: json.loads(Path(file).read_text(encoding="utf-8"))["figures"] for name, file in pairs}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "first-token.svg").write_text(first_tokens(measured), encoding="utf-8")
    (folder / "throughput.svg").write_text(throughput(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
