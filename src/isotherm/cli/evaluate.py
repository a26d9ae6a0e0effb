"""`isotherm eval`: how well does a model call tools?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from isotherm.evaluate.run import EvalConfig


def evaluate(
    model: Annotated[str, typer.Option(help="A Hugging Face folder or hub id; the embedded model when left out.")] = "",
    revision: options.Revision = None,
    cases: Annotated[
        str, typer.Option(metavar="FILE", help="Cases as JSONL; the 600 shipped ones when left out.")
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="About how many cases, evenly spread; 0 for all.")] = 0,
    show: Annotated[int, typer.Option(min=0, help="Print so many wrong answers of each group.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens an answer may have.")] = 260,
    kernels: options.KernelsName = "auto",
    dtype: options.DTypeName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    tool_call_parser: Annotated[str, typer.Option(help="qwen3_coder or hermes.")] = "qwen3_coder",
    modes: Annotated[
        bool,
        typer.Option("--modes", help="Instead: answer them in every mode of the engine, and compare case by case."),
    ] = False,
    json_file: options.Json = None,
) -> None:
    """Answer cases that a machine can check, at temperature 0. Exit code 0 when every bar is met, 1 when not.

    With --modes: alone with the cache off, then with the cache on and warm, many at once, in small passes, with drafts, and in a
    pool that is too small. Exit code 0 when every mode gives every case the same tokens and log-probabilities, 1 when not.
    """
    options.quiet_transformers()
    from rich.console import Console

    from isotherm.core.errors import ConfigError
    from isotherm.evaluate.case import SHIPPED
    from isotherm.evaluate.run import EvalConfig, run_eval
    from isotherm.evaluate.terminal import EvalProgress, print_report
    from isotherm.text.output import TOOL_FORMATS

    if tool_call_parser not in TOOL_FORMATS:
        raise ConfigError("tool_call_parser", f"must be one of {', '.join(TOOL_FORMATS)}, got {tool_call_parser!r}")
    config = EvalConfig(
        model=model,
        revision=revision,
        cases=Path(cases) if cases else SHIPPED,
        limit=limit,
        max_tokens=max_tokens,
        kernels=options.provider_on(kernels, device, dtype),
        dtype=options.dtype_of(dtype),
        threads=threads,
        tool_call_parser=tool_call_parser,
    )
    console = Console(highlight=False)
    if modes:
        _modes(config, console, json_file)
        return
    progress = EvalProgress(console)
    try:
        report = run_eval(config, progress.opened, progress.advance)
    finally:
        progress.close()
    print_report(report, console, show)
    if json_file:
        Path(json_file).write_text(
            json.dumps(report.to_record(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    if not report.passed:
        raise typer.Exit(1)


def _modes(config: "EvalConfig", console: "Console", json_file: str | None) -> None:
    """The comparison of modes, printed and written. Raises typer.Exit(1) when one differs."""
    from isotherm.evaluate.modes import run_modes
    from isotherm.evaluate.modes_table import modes_table

    with console.status("") as status:
        report = run_modes(config, status.update)
    console.print(modes_table(report), report.line(), sep="\n")
    if json_file:
        Path(json_file).write_text(json.dumps(report.to_record(), indent=1) + "\n", encoding="utf-8")
    if not report.same:
        raise typer.Exit(1)
