"""Which tile multiplies which shape. Tiles change no bit, so a table is only a matter of speed."""

import json
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ProductTile:
    """A tile of `rows` x (columns + more) outputs over steps of `depth`.

    described: operands come by tensor descriptor, in a persistent grid; else by pointer, one program a tile. more: columns beyond
    the power of two (described only). group: row tiles that share their columns one after the other. programs: of the persistent
    grid, a processor.
    """

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    described: bool = False
    more: int = 0
    group: int = 8
    programs: int = 1

    @property
    def shared_memory(self) -> int:
        """Bytes of the operands in flight, of 16 bits each."""
        return (self.rows + self.columns + self.more) * self.depth * 2 * self.stages


UNTUNED = (
    (16, ProductTile(16, 64, 128, 4, 4)),
    (64, ProductTile(64, 64, 64, 4, 4)),
    (0, ProductTile(128, 128, 64, 8, 3)),
)
"""For shapes and cards without a table: (most rows, tile), the last for more. Each fits 99 KB and needs no descriptor."""


_LARGE = 512


@dataclass(frozen=True, slots=True)
class TileTable:
    """shapes: (N, K) to (most rows, tile) ascending, the last for more rows too. note: card, date and command."""

    shapes: dict[tuple[int, int], tuple[tuple[int, ProductTile], ...]]
    note: dict[str, str]

    def tile(self, rows: int, n: int, k: int) -> ProductTile:
        """The tile for [rows, k] times [n, k]^T."""
        choices = self.shapes.get((n, k)) or self._nearest(n, k)
        return next((tile for most, tile in choices if rows <= most), choices[-1][1])

    def _nearest(self, n: int, k: int) -> tuple[tuple[int, ProductTile], ...]:
        """Of the tuned shape that is most alike, for large shapes that its tiles divide."""
        if not self.shapes or n < _LARGE or k % _LARGE:
            return UNTUNED
        return self.shapes[_most_alike(tuple(self.shapes), n, k)]

    def save(self, path: Path) -> None:
        """Writes the table as JSON."""
        shapes = {f"{n}x{k}": [[most, _brief(tile)] for most, tile in rows] for (n, k), rows in self.shapes.items()}
        path.write_text(_lines(self.note, shapes))


@lru_cache(1024)
def _most_alike(shapes: tuple[tuple[int, int], ...], n: int, k: int) -> tuple[int, int]:
    return min(shapes, key=lambda shape: abs(log(shape[0] / n)) + abs(log(shape[1] / k)))


def load_table(card: str) -> TileTable:
    """The table of a card by its name as the driver gives it; without one, a table with no shapes."""
    path = Path(__file__).parent / "tables" / f"{slug(card)}.json"
    if not path.exists():
        return TileTable({}, {"card": card, "tuned": "no"})
    data: dict[str, Any] = json.loads(path.read_text())
    shapes = {}
    for name, rows in data["shapes"].items():
        n, k = map(int, name.split("x"))
        shapes[n, k] = tuple((most, ProductTile(**tile)) for most, tile in rows)
    return TileTable(shapes, data["note"])


def slug(card: str) -> str:
    """The file name of a card: lower case, words joined by underscores."""
    return "_".join(card.lower().replace("-", " ").split())


def _brief(tile: ProductTile) -> dict[str, Any]:
    """A tile without what is as by default."""
    required = {f.name for f in fields(ProductTile)[:5]}
    defaults = {f.name: f.default for f in fields(ProductTile)}
    return {name: x for name, x in asdict(tile).items() if name in required or x != defaults[name]}


def _lines(note: dict[str, str], shapes: dict[str, list[list[Any]]]) -> str:
    """JSON with one tile a line, so that a new tuning is a readable diff."""
    blocks = []
    for name, rows in shapes.items():
        inner = ",\n".join(f"      {json.dumps(row)}" for row in rows)
        blocks.append(f'    "{name}": [\n{inner}\n    ]')
    return f'{{\n  "note": {json.dumps(note)},\n  "shapes": {{\n' + ",\n".join(blocks) + "\n  }\n}\n"
