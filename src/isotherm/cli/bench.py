"""`isotherm bench`: time to first token, cold and warm, and rates."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options
from isotherm.core.errors import ConfigError

SOAK_ARGS = ("--max-model-len", "4096", "--kv-cache-memory-bytes", "128M")
"""A soak's server has a small cache, which is full long before the end."""


def bench(
    model: options.Model = "",
    base_url: Annotated[str, typer.Option(help="Measure this server instead of starting one.")] = "",
    served_model: Annotated[str, typer.Option(help="The model's name there; the first it lists when left out.")] = "",
    api_key: Annotated[str, typer.Option(help="Its key.", envvar="ISOTHERM_API_KEY")] = "",
    lengths: Annotated[str, typer.Option(help="Prompt lengths, comma-separated.")] = "512,2048,8192",
    concurrency: Annotated[str, typer.Option(help="How many requests at once, comma-separated.")] = "8",
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each figure; medians are printed.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the prompts.")] = 0,
    soak: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Instead: send N requests of many kinds and watch the server's memory."),
    ] = 0,
    vanish: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Instead: N clients that vanish in the middle; is the server unharmed?"),
    ] = 0,
    kernels: options.KernelsName = "auto",
    dtype: options.DTypeName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    json_file: options.Json = None,
) -> None:
    """Measure MODEL over HTTP: medians of several runs, random prompts that nothing shares. Compare only within one sitting.

    A soak's exit code is 1 when a request failed or memory grew by more than 2 % after the first quarter; that of --vanish
    when anything is left of the clients, the same request is answered otherwise, or memory grew.
    """
    from rich.console import Console

    from isotherm.bench.report import BenchReport, tables
    from isotherm.bench.run import BenchConfig, run_bench, run_soak, run_vanish
    from isotherm.bench.soak import SoakReport
    from isotherm.bench.vanish import VanishReport
    from isotherm.bench.workload import Workload

    sizes, at_once = _numbers("lengths", lengths), _numbers("concurrency", concurrency)
    console = Console(highlight=False)
    config = BenchConfig(
        model=model,
        base_url=base_url,
        served_model=served_model,
        api_key=api_key,
        workload=Workload(lengths=sizes, concurrency=at_once, repeats=repeats, seed=seed),
        serve_args=("--kernels", kernels, "--dtype", dtype, "--threads", str(threads), "--device", device),
    )
    report: BenchReport | SoakReport | VanishReport
    small = replace(config, serve_args=(*config.serve_args, *SOAK_ARGS))
    with console.status("") as status:
        if soak:
            report = run_soak(small, soak, status.update)
        elif vanish:
            report = run_vanish(small, vanish, status.update)
        else:
            report = run_bench(config, status.update)
    if json_file:
        Path(json_file).write_text(json.dumps(report.to_record(), indent=1) + "\n", encoding="utf-8")
    if isinstance(report, SoakReport):
        console.print(report.line())
        raise typer.Exit(0 if report.flat else 1)
    if isinstance(report, VanishReport):
        console.print(report.line())
        raise typer.Exit(0 if report.unharmed else 1)
    for table in tables(report):
        console.print(table)
        console.print()


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise ConfigError(name, f"must be whole numbers above 0, separated by commas, got {text!r}")
    return numbers
