"""`isotherm fuzz`: random schedules against the contract."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from isotherm.cli import options

if TYPE_CHECKING:
    from isotherm.fuzz.run import Tally

KEEP_S = 10.0
"""Seconds between two writes of a campaign that goes on."""


class Keep(Protocol):
    """Writes a campaign down, unless it did so a moment ago."""

    def __call__(self, tally: "Tally", at_once: bool = False) -> None: ...


def fuzz(
    model: Annotated[
        str, typer.Option(help="A Hugging Face folder or hub id; every kind of model when left out.")
    ] = "",
    kinds: Annotated[
        str, typer.Option(metavar="NAMES", help="Without --model: only these kinds, comma-separated.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="The same seed plays the same scripts.")] = 0,
    minutes: Annotated[float, typer.Option(min=0, help="How long.")] = 1.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the --json file ends.")] = False,
    failures: Annotated[
        str, typer.Option(metavar="DIR", help="Where failing scripts are written, made as small as they get.")
    ] = "fuzz-failures",
    kernels: options.KernelsName = "auto",
    device: options.DeviceName = "auto",
    dtype: options.DTypeName = "auto",
    json_file: options.Json = None,
) -> None:
    """Arrivals, cuts, cancellations, preemptions, evictions and hits at random; every answer and every cached byte is
    compared with the same request alone on a fresh engine, caching off. Exit code 1 when anything differs."""
    options.quiet_transformers()
    from rich.console import Console

    from isotherm.fuzz.models import kinds_named, open_models
    from isotherm.fuzz.run import fuzz as run_fuzz
    from isotherm.fuzz.run import write_failures

    tally = _tally(seed, resume, json_file)
    keep = _keeper(json_file)
    console = Console(highlight=False)
    provider = options.provider_on(kernels, device, dtype)
    opened = open_models(model, provider, options.dtype_of(dtype), kinds_named(kinds, provider))
    try:
        with console.status("playing scripts"):
            run_fuzz(opened, tally, minutes, keep)
    finally:
        keep(tally, at_once=True)
    console.print(
        f"{tally.next} scripts, {tally.requests:,} requests ({tally.cached_tokens:,} prompt tokens from the cache), "
        f"{tally.comparisons:,} comparisons, {len(tally.failures)} failures in {tally.seconds:.0f} s; seed {tally.seed}",
        soft_wrap=True,
    )
    for path in write_failures(tally, Path(failures)) if tally.failures else ():
        console.print(f"{path}: replay it with python -m pytest tests/fuzz", markup=False, soft_wrap=True)
    raise typer.Exit(1 if tally.failures else 0)


def _tally(seed: int, resume: bool, json_file: str | None) -> "Tally":
    """A new campaign's, or the one that the JSON file holds."""
    from isotherm.core.errors import ConfigError
    from isotherm.fuzz.run import Tally, resumed

    if not resume:
        return Tally(seed)
    if not (json_file and Path(json_file).is_file()):
        raise ConfigError("resume", "needs --json FILE of an earlier run")
    return resumed(json.loads(Path(json_file).read_text(encoding="utf-8")))


def _keeper(json_file: str | None) -> "Keep":
    """Writes the campaign so far, every few seconds: what was done is not lost when the run is interrupted."""
    last = 0.0

    def keep(tally: "Tally", at_once: bool = False) -> None:
        nonlocal last
        if json_file and (at_once or time.monotonic() - last > KEEP_S):
            last = time.monotonic()
            fresh = Path(f"{json_file}.new")
            fresh.write_text(json.dumps(tally.to_record(), indent=1) + "\n", encoding="utf-8")
            fresh.replace(json_file)

    return keep
