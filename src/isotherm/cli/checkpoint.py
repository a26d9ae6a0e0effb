"""`isotherm checkpoint`: make checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options
from isotherm.core.errors import ConfigError

app = typer.Typer(help="Make checkpoints for tests and trials.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Make checkpoints for tests and trials."""


@app.command()
def tiny(
    kind: Annotated[str, typer.Option(help="qwen3_5, qwen3_next, qwen3_5_moe or qwen4_exp.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the weights.")] = 0,
    drafter: Annotated[bool, typer.Option("--drafter", help="With an MTP layer, for speculative decoding.")] = False,
    fp8: Annotated[
        bool, typer.Option("--fp8", help="Projections in block FP8, as in released FP8 checkpoints.")
    ] = False,
) -> None:
    """Write a small random checkpoint, with a tokenizer and a chat template."""
    if out.exists() and not out.is_dir():
        raise ConfigError("out", f"{out}: not a folder")
    options.quiet_transformers()
    from isotherm.model.tiny import write_tiny
    from isotherm.model.tiny_fp8 import convert

    written = write_tiny(kind, out, seed, drafter=drafter)
    if fp8:
        convert(written.folder)
    typer.echo(f"{written.folder}: {kind}, {written.parameters:,} parameters, random weights from seed {seed}")
