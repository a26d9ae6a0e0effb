"""Draw what was measured on a GPU, as three SVG files.

    PYTHONPATH=benchmarks python benchmarks/gpu/figures.py FOLDER [FILE]

FILE, by default h200.json beside this, has the figures of docs/gpu.md under the names that whole_model.py prints, and besides:
after_30000_ms, new tokens -> [launched kernel by kernel, played as a recording]; linear_of_torch_mm, by rows, of each shape
the time of `torch.mm` over ours.
"""

import json
import sys
from pathlib import Path
from typing import Any

from plot import COLOURS, Axis, Line, plot

NAMES = {"dense": "dense 4.2 B", "moe": "mixture 40 B"}


def after_many(found: dict[str, Any]) -> str:
    """Time to first token against new tokens after 30,000 cached ones, and of the whole prompt cold."""
    lines = []
    for colour, (kind, name) in zip(COLOURS, NAMES.items(), strict=False):
        times, cold = found[kind]["after_30000_ms"], found[kind]["after_30000_cold_ms"]
        ends = (float(min(times, key=int)), float(max(times, key=int)))
        lines.append(Line(f"{name}, cold", colour, tuple((end, cold) for end in ends)))
        lines.append(
            Line(f"{name}, warm", colour, tuple((float(n), both[1]) for n, both in times.items()), dashed=True)
        )
    x = Axis(16, 1000, tuple((n, f"{n:,}") for n in (16, 64, 120, 300, 1000)), log=True)
    y = Axis(6, 700, tuple((ms, f"{ms} ms") for ms in (10, 30, 100, 300)), log=True)
    return plot(
        "Time to first token", "new tokens after 30,000 cached ones; cold: 30,000 tokens, none cached", x, y, lines
    )


def throughput(found: dict[str, Any]) -> str:
    """Decoded tokens a second against sequences."""
    counts = (1, 8, 32)
    lines = [
        Line(name, colour, tuple((float(n), found[kind][f"decode_{n}"]["tok_s"]) for n in counts))
        for colour, (kind, name) in zip(COLOURS, NAMES.items(), strict=False)
    ]
    x = Axis(1, 32, tuple((n, str(n)) for n in counts), log=True)
    y = Axis(0, 7000, tuple((rate, f"{rate:,}") for rate in range(0, 7001, 1000)), log=False)
    return plot("Decoded tokens a second", "sequences at once, after 1,024 tokens each", x, y, lines)


def price(found: dict[str, Any]) -> str:
    """Of linear layers, the library's time over ours: above 1 ours is faster."""
    ratios = dict(found["linear_of_torch_mm"])
    rows = ratios.pop("rows")
    lines = [
        Line(shape, colour, tuple(zip(map(float, rows), each, strict=True)))
        for colour, (shape, each) in zip(COLOURS, ratios.items(), strict=False)
    ]
    x = Axis(1, 8192, tuple((n, f"{n:,}") for n in rows), log=True)
    y = Axis(0.7, 1.2, tuple((tenths / 10, f"{tenths / 10:.1f}") for tenths in range(7, 13)), log=False)
    return plot("Linear layers: torch.mm's time / ours", "rows of a pass", x, y, lines)


def main() -> None:
    if not 2 <= len(sys.argv) <= 3:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    file = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).with_name("h200.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("gpu-first-token", after_many), ("gpu-throughput", throughput), ("gpu-linear", price)):
        (folder / f"{name}.svg").write_text(draw(found), encoding="utf-8")


if __name__ == "__main__":
    main()
