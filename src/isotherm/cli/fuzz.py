"""`isotherm fuzz`: random schedules against the contract."""

import json
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options


def fuzz(
    model: Annotated[
        str, typer.Option(help="A Hugging Face folder or hub id; every kind of model when left out.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="The same seed plays the same scripts.")] = 0,
    minutes: Annotated[float, typer.Option(min=0, help="How long.")] = 1.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the --json file ends.")] = False,
    failures: Annotated[
        str, typer.Option(metavar="DIR", help="Where failing scripts are written, made as small as they get.")
    ] = "fuzz-failures",
    kernels: options.KernelsName = "auto",
    dtype: options.DTypeName = "auto",
    json_file: options.Json = None,
) -> None:
    """Arrivals, cuts, cancellations, preemptions, evictions and hits at random; every answer and every cached byte is
    compared with the same request alone on a fresh engine, caching off. Exit code 1 when anything differs."""
    options.quiet_transformers()
    from rich.console import Console

    from isotherm.core.errors import ConfigError
    from isotherm.fuzz.models import open_models
    from isotherm.fuzz.run import Tally, resumed, write_failures
    from isotherm.fuzz.run import fuzz as run_fuzz

    if resume and not (json_file and Path(json_file).is_file()):
        raise ConfigError("resume", "needs --json FILE of an earlier run")
    tally = resumed(json.loads(Path(str(json_file)).read_text(encoding="utf-8"))) if resume else Tally(seed)
    console = Console(highlight=False)
    models = open_models(model, options.provider_of(kernels), options.dtype_of(dtype))
    with console.status("opening"):
        run_fuzz(models, tally, minutes)
    console.print(
        f"{tally.next} scripts, {tally.requests:,} requests ({tally.cached_tokens:,} prompt tokens from the cache), "
        f"{tally.comparisons:,} comparisons, {len(tally.failures)} failures in {tally.seconds:.0f} s; seed {tally.seed}",
        soft_wrap=True,
    )
    if json_file:
        Path(json_file).write_text(json.dumps(tally.to_record(), indent=1) + "\n", encoding="utf-8")
    for path in write_failures(tally, Path(failures)) if tally.failures else ():
        console.print(f"{path}: replay it with python -m pytest tests/fuzz", markup=False, soft_wrap=True)
    raise typer.Exit(1 if tally.failures else 0)
