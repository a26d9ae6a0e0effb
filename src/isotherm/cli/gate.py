"""`isotherm gate`: does caching, batching or cutting change an answer?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options

NEXT_STEPS = """
Next, serve it; ask it, with a tool, as a stream; gate a model of your own:

  {isotherm} serve

  curl -sN localhost:8000/v1/chat/completions -H 'content-type: application/json' -d '
    {{"stream": true, "messages": [{{"role": "user", "content": "What is the weather in Oslo?"}}],
     "tools": [{{"type": "function", "function": {{"name": "get_weather",
       "description": "Get the current weather for a city", "parameters": {{"type": "object",
       "properties": {{"city": {{"type": "string"}}}}, "required": ["city"]}}}}}}]}}'

  {isotherm} gate --model YOUR_MODEL_FOLDER
"""


def gate(
    model: Annotated[str, typer.Option(help="A checkpoint to gate; the embedded model when left out.")] = "",
    battery: Annotated[str, typer.Option(help="Batteries, comma-separated: a, b, or JSONL files.")] = "a,b",
    full: Annotated[bool, typer.Option("--full", help="Add token budgets of 64 and 500, off and on.")] = False,
    kernels: options.KernelsName = "auto",
    dtype: options.DTypeName = "auto",
    threads: options.Threads = 0,
    tool_call_parser: Annotated[str, typer.Option(help="qwen3_coder or hermes.")] = "qwen3_coder",
    json_file: options.Json = None,
    next_steps: Annotated[bool, typer.Option("--next-steps", help="End with commands to try.", hidden=True)] = False,
) -> None:
    """Compare caching on, batching and rescoring with caching off, bit by bit. Exit code 0 green, 1 red, 2 not carried out."""
    from rich.console import Console

    from isotherm.gate.arms import arms_for
    from isotherm.gate.config import GateConfig
    from isotherm.gate.run import run_gate
    from isotherm.gate.terminal import TerminalObserver, print_report

    console = Console(highlight=False)
    serve_args = ("--kernels", kernels, "--dtype", dtype, "--threads", str(threads))
    config = GateConfig(
        model=model,
        batteries=tuple(name.strip() for name in battery.split(",") if name.strip()),
        arms=arms_for(full),
        serve_args=serve_args,
        tool_call_parser=tool_call_parser,
    )
    report = run_gate(config, TerminalObserver(console))
    print_report(report, console)
    if json_file:
        Path(json_file).write_text(json.dumps(report.to_record(), indent=1) + "\n", encoding="utf-8")
    if next_steps:
        command = ".venv/bin/isotherm" if Path(".venv/bin/isotherm").exists() else "isotherm"
        typer.echo(NEXT_STEPS.format(isotherm=command))
    raise typer.Exit(report.exit_code)
