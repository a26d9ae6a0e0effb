"""`isotherm gate`: does caching, batching or cutting change an answer?"""

import sys
from dataclasses import replace
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
    battery: Annotated[
        str,
        typer.Option(
            help="Batteries, comma-separated: a, b, c, repro, all, bfcl, or JSONL files; a,b when left out, and with "
            "--arms published repro too."
        ),
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Add token budgets of 64 and 500, off and on.")] = False,
    concurrency: Annotated[
        int, typer.Option(min=0, help="Also N requests at once, off and on; 0 for 8, and for none by URL or command.")
    ] = 0,
    repeat: Annotated[int, typer.Option(min=1, help="Send the battery N times to every arm's server.")] = 1,
    pressure: Annotated[
        int, typer.Option(min=0, help="Also an arm with N long requests between turns, so that the cache must evict.")
    ] = 0,
    kernels: options.KernelsName = "auto",
    dtype: options.DTypeName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    tool_call_parser: Annotated[str, typer.Option(help="qwen3_coder or hermes.")] = "qwen3_coder",
    serve_args: Annotated[str, typer.Option(help="More flags for the server of ours, as one text.")] = "",
    off: Annotated[str, typer.Option(metavar="URL", help="A server with caching off, instead of ours.")] = "",
    on: Annotated[str, typer.Option(metavar="URL", help="The same with caching on.")] = "",
    off_cmd: Annotated[str, typer.Option(metavar="CMD", help="Launches it; {port} in it becomes a free port.")] = "",
    on_cmd: Annotated[str, typer.Option(metavar="CMD", help="The same with caching on.")] = "",
    arms: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="A TOML file of named arms, instead of --off and --on; or: published, drafts."
        ),
    ] = "",
    model_name: Annotated[
        str,
        typer.Option("--model-name", "--served-model-name", help="The model to ask for; the one listed when left out."),
    ] = "",
    api_key: Annotated[
        str,
        typer.Option(envvar=["ISOTHERM_GATE_API_KEY", "OPENAI_API_KEY"], help="The servers' key."),
    ] = "",
    extra_body: Annotated[str, typer.Option(metavar="JSON", help="Added to every chat request.")] = "",
    extra_header: Annotated[
        list[str] | None, typer.Option(metavar="NAME:VALUE", help="Added to every request.")
    ] = None,
    start_timeout: Annotated[float, typer.Option(help="Seconds to become healthy.")] = 180.0,
    request_timeout: Annotated[float, typer.Option(help="Seconds for a response.")] = 300.0,
    json_file: options.Json = None,
    junit_file: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", callback=options.writable, help="Write JUnit XML here.")
    ] = None,
    html_file: Annotated[
        str | None, typer.Option("--html", metavar="FILE", callback=options.writable, help="Write one HTML page here.")
    ] = None,
    next_steps: Annotated[bool, typer.Option("--next-steps", help="End with commands to try.", hidden=True)] = False,
) -> None:
    """Compare caching on, batching and rescoring with caching off, bit by bit. Exit code 0 green, 1 red, 2 not carried out."""
    from rich.console import Console

    from isotherm.gate.last_act import last_act
    from isotherm.gate.output import write_reports
    from isotherm.gate.plan import ArmOptions
    from isotherm.gate.redact import without_secrets
    from isotherm.gate.request import GateRequest
    from isotherm.gate.run import run_gate
    from isotherm.gate.terminal import TerminalObserver, print_report

    console = Console(highlight=False)
    request = GateRequest(
        arms=ArmOptions(off, on, off_cmd, on_cmd, arms, concurrency, repeat, pressure, full),
        model=model,
        battery=battery,
        serve_args=serve_args,
        serve_options=("--kernels", kernels, "--dtype", dtype, "--threads", str(threads), "--device", device),
        tool_call_parser=tool_call_parser,
        model_name=model_name,
        api_key=api_key,
        extra_body=extra_body,
        extra_headers=tuple(extra_header or ()),
        start_timeout_s=start_timeout,
        request_timeout_s=request_timeout,
    )
    report = run_gate(request.config(), TerminalObserver(console))
    report = replace(report, command=without_secrets(("isotherm", *sys.argv[1:])))
    print_report(report, console)
    write_reports(report, json_file or "", junit_file or "", html_file or "")
    if next_steps:
        last_act(request.config(), console)
        command = ".venv/bin/isotherm" if Path(".venv/bin/isotherm").exists() else "isotherm"
        typer.echo(NEXT_STEPS.format(isotherm=command))
    raise typer.Exit(report.exit_code)
