"""Makes the table of tiles for this card: `python -m isotherm.kernels.linear.tune [NxK ...]`.

Every candidate is compared bit for bit with one tile and then timed: in a CUDA graph over as many weights as do not fit the
cache, median of five replays, random data, next to torch's product in the same run. Writes linear/tables/<card>.json (or --out)
and prints a line a shape and row count.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterable
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.linear.tiles import ProductTile, TileTable, load_table, slug
from isotherm.kernels.linear.triton_form import pack, product

SHAPES = (
    *((12352, 2048), (2048, 4096), (9216, 2048), (1024, 2048), (2048, 512), (512, 2048)),  # Qwen3-Next-80B-A3B
    *((34816, 5120), (5120, 17408), (14336, 5120), (16480, 5120), (5120, 6144)),  # Qwen3.5-27B
)
ROWS = (1, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192)
"""A tile is chosen for each of these; it serves the row counts up to it from the one before."""


def _tiles(*tiles: tuple[int, ...], **more: bool) -> list[ProductTile]:
    return [ProductTile(*tile, **more) for tile in tiles]  # type: ignore[arg-type]


def _wide(*tiles: tuple[int, int, int, int, int, int]) -> list[ProductTile]:
    """(rows, columns, more, depth, warps, stages)."""
    return [ProductTile(r, c, d, w, s, described=True, more=m) for r, c, m, d, w, s in tiles]


FEW = [
    *_tiles((16, 16, 256, 4, 4), (16, 16, 512, 4, 3), (16, 16, 512, 4, 5), (16, 16, 512, 8, 3), (16, 16, 1024, 4, 2)),
    *_tiles((16, 32, 128, 4, 6), (16, 32, 256, 4, 2), (16, 32, 256, 4, 4), (16, 32, 512, 4, 3)),
    *_tiles((16, 64, 128, 4, 4), (16, 64, 256, 4, 3), (16, 128, 128, 4, 4)),
    *_tiles((16, 16, 512, 4, 4), (16, 32, 256, 4, 5), (16, 64, 256, 4, 4), (16, 128, 128, 4, 5), described=True),
]
SOME = [
    *_tiles((64, 16, 256, 4, 4), (64, 32, 256, 4, 4), (64, 64, 128, 4, 4), (64, 64, 128, 4, 6), described=True),
    *_tiles((64, 128, 64, 4, 5), (64, 128, 128, 4, 4), (64, 256, 64, 4, 4), (128, 64, 128, 4, 4), described=True),
    *_tiles((128, 128, 64, 4, 5), (128, 128, 64, 8, 5), (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), described=True),
    *_wide((64, 64, 16, 128, 4, 5), (64, 128, 16, 64, 4, 6), (64, 128, 32, 64, 4, 6), (64, 128, 64, 64, 4, 5)),
    *_wide((128, 64, 16, 64, 4, 6), (128, 64, 32, 64, 4, 5), (128, 64, 16, 128, 8, 4)),
    *_wide((128, 128, 16, 64, 8, 5), (128, 128, 32, 64, 8, 5), (128, 128, 64, 64, 8, 4)),
    ProductTile(64, 128, 64, 4, 4, described=True, programs=2),
    ProductTile(64, 64, 128, 4, 3, described=True, programs=2),
    ProductTile(128, 128, 64, 4, 3, described=True, programs=2),
]
MANY = [
    *_tiles((64, 64, 128, 4, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4), described=True),
    *_tiles((128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), described=True),
    *_wide((128, 64, 16, 64, 4, 6), (128, 64, 32, 64, 4, 5), (128, 128, 16, 64, 8, 5), (128, 128, 32, 64, 8, 5)),
    *_wide((128, 128, 64, 64, 8, 4), (128, 256, 16, 64, 8, 4)),
    ProductTile(128, 256, 64, 8, 3, described=True, group=16),
    ProductTile(128, 128, 64, 4, 3, described=True, programs=2),
]
REFERENCE = ProductTile(16, 64, 128, 4, 4)
_CACHE_BYTES = 150_000_000


def candidates(rows: int) -> list[ProductTile]:
    """Tiles worth timing at a row count."""
    if rows <= 16:
        return FEW
    if rows <= 64:
        return [*(FEW if rows <= 32 else []), *(tile for tile in SOME if tile.rows <= 64)]
    if rows <= 512:
        return SOME
    return list(dict.fromkeys((*MANY, *SOME))) if rows <= 2048 else MANY


def milliseconds(calls: Iterable[Callable[[], object]], replays: int = 5) -> float:
    """Median time of one call, all of them in one CUDA graph."""
    calls = list(calls)
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    times = []
    for _ in range(replays):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / len(calls))
    return float(statistics.median(times))


def best(x: Tensor, weights: list[Linear], note: Callable[[str], None]) -> ProductTile:
    """The fastest candidate for these shapes. RuntimeError: one gives other bits."""
    rows, n, k = x.shape[0], weights[0].n, weights[0].k
    out = x.new_empty(rows, n)
    expected = product(x, weights[0], None, torch.empty_like(out), REFERENCE)
    library = milliseconds([lambda w=w: torch.mm(x, w.data.T, out=out) for w in weights])  # type: ignore[misc]
    timed = []
    for tile in candidates(rows):
        out.fill_(torch.nan)
        try:
            equal = torch.equal(product(x, weights[0], None, out, tile), expected)
        except Exception as error:  # a tile that this card cannot hold
            note(f"{tile}: {type(error).__name__}")
            continue
        if not equal:
            raise RuntimeError(f"{tile} gives other bits at {rows} rows of {n}x{k}")
        calls = [lambda w=w, t=tile: product(x, w, None, out, t) for w in weights]
        timed.append((milliseconds(calls), tile))
    time_best, tile = min(timed, key=lambda pair: pair[0])
    wide = min((pair for pair in timed if pair[1].more), key=lambda pair: pair[0], default=None)
    if wide:
        note(f"  best of more columns: {wide[0] * 1e3:.1f} us {wide[1]}")
    note(
        f"{n}x{k} M={rows}: {time_best * 1e3:.1f} us, torch {library * 1e3:.1f} us, {library / time_best:.2f} | {tile}"
    )
    return tile


def tune(shapes: Iterable[tuple[int, int]], seconds: float, note: Callable[[str], None]) -> dict[
    tuple[int, int], tuple[tuple[int, ProductTile], ...]
]:  # fmt: skip
    """Tables for the shapes that fit the time."""
    device, end, tables = torch.device("cuda"), time.monotonic() + seconds, {}
    for n, k in shapes:
        if time.monotonic() > end:
            note(f"{n}x{k}: no time left")
            continue
        copies = max(2, min(24, _CACHE_BYTES // (n * k * 2)))
        weights = [pack(torch.bfloat16, torch.randn(n, k, device=device) * 0.02, device) for _ in range(copies)]
        tables[n, k] = tuple(
            (rows, best(torch.randn(rows, k, device=device).bfloat16(), weights, note)) for rows in ROWS
        )
    return tables


def compile_one(tile: ProductTile) -> None:
    """Compiles a tile's kernel into Triton's cache (in a process of its own)."""
    device = torch.device("cuda")
    weight = pack(torch.bfloat16, torch.zeros(512, 2048), device)
    x = torch.zeros(32, 2048, device=device, dtype=torch.bfloat16)
    try:
        product(x, weight, None, x.new_empty(32, 512), tile)
    except Exception:
        return


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("shapes", nargs="*", help="NxK; default: the shapes that docs/gpu.md lists")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--processes", type=int, default=8, help="that compile")
    options = parser.parse_args()
    tiles = list(dict.fromkeys((*FEW, *SOME, *MANY)))
    with get_context("spawn").Pool(options.processes) as pool:
        pool.map(compile_one, tiles, chunksize=1)
    shapes = [(int(n), int(k)) for n, k in (name.split("x") for name in options.shapes)] or SHAPES
    card = torch.cuda.get_device_name()
    tables = {**load_table(card).shapes, **tune(shapes, options.seconds, print)}
    named = {"card": card, "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}
    path = options.out or Path(__file__).parent / "tables" / f"{slug(card)}.json"
    TileTable(tables, {**named, "command": "python -m isotherm.kernels.linear.tune"}).save(path)


if __name__ == "__main__":
    main()
