"""`isotherm doctor`: what this machine would run, and whether it keeps the contract."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options


def doctor(
    model: options.Model = "",
    revision: options.Revision = None,
    oracle: Annotated[
        bool, typer.Option("--oracle/--no-oracle", help="Compare with transformers on the same weights.")
    ] = True,
    dtype: options.DTypeName = "auto",
    kernels: options.KernelsName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    json_file: options.Json = None,
) -> None:
    """Print the build's fingerprint, then check exactness and compare MODEL with transformers."""
    options.quiet_transformers()
    from rich.console import Console

    from isotherm.engine.doctor import check_exactness, compare_with_transformers, open_decoder
    from isotherm.engine.fingerprint import build_fingerprint, weights_hash
    from isotherm.model.source import locate
    from isotherm.model.weights import stored_types

    settings = (
        options.dtype_of(dtype),
        options.provider_on(kernels, device, dtype),
        threads,
    )
    console = Console(highlight=False)
    folder = locate(model, revision)
    with options.loading(model):
        decoder = open_decoder(folder, *settings)
    build = build_fingerprint(decoder.kernels, weights_hash(folder))
    for name, value in build.items():
        console.print(f"{name:>14}  {value}", markup=False, soft_wrap=True)
    stored = stored_types(folder)
    console.print(
        f"{'stored':>14}  {', '.join(f'{size:,} bytes {kind}' for kind, size in stored.items())}", soft_wrap=True
    )
    checks = []
    runs = [check_exactness(decoder)]
    if oracle:
        runs.append(compare_with_transformers(decoder, folder))
    for run in runs:
        for check in run:
            checks.append(check)
            console.print(
                f"[{'green' if check.passed else 'red'}]{'ok' if check.passed else 'FAILED':>14}[/]  ", end=""
            )
            console.print(f"{check.name}: {check.detail}", markup=False, soft_wrap=True)
    if json_file:
        result = {"build": build, "stored": stored, "checks": [asdict(check) for check in checks]}
        Path(json_file).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if not all(check.passed for check in checks):
        raise typer.Exit(1)
