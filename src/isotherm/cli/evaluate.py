"""`isotherm eval`: how well does a model call tools?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options


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
    tool_call_parser: Annotated[str, typer.Option(help="qwen3_coder or hermes.")] = "qwen3_coder",
    json_file: options.Json = None,
) -> None:
    """Answer cases that a machine can check, at temperature 0. Exit code 0 when every bar is met, 1 when not."""
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
        kernels=options.provider_of(kernels),
        dtype=options.dtype_of(dtype),
        threads=threads,
        tool_call_parser=tool_call_parser,
    )
    console = Console(highlight=False)
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
