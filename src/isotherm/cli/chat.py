"""`isotherm chat`: talk to a model in the terminal, with one toy tool."""

import json
import zlib
from typing import Annotated, Any

import typer

from isotherm.cli import options
from isotherm.cli.native_options import Chosen, takes_numerics
from isotherm.cli.speculative import Speculative, speculative_of

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather for a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city"}},
            "required": ["city"],
        },
    },
}


def get_weather(arguments: dict[str, Any]) -> dict[str, Any]:
    """The toy tool: the same made-up weather for a city every time."""
    city = str(arguments.get("city", ""))
    dice = zlib.crc32(city.encode())
    sky = ("sunny", "cloudy", "rain", "snow", "fog")[dice % 5]
    return {"city": city, "temperature_c": dice // 5 % 40 - 10, "conditions": sky}


@takes_numerics
def chat(
    *,
    numerics: Chosen,
    model: options.Model = "",
    revision: options.Revision = None,
    system: Annotated[str | None, typer.Option(help="A system message.")] = None,
    tools: Annotated[bool, typer.Option("--tools/--no-tools", help="Offer a toy weather tool.")] = True,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens an answer may have.")] = 512,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token.")] = 0.0,
    dtype: options.DTypeName = "auto",
    kernels: options.KernelsName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    speculative_config: Speculative = "",
    trace: options.Trace = "",
) -> None:
    """Talk to MODEL; try "What is the weather in Oslo?". An empty line or Ctrl-D ends it."""
    options.quiet_transformers()
    from isotherm import LLM, SamplingParams

    with options.loading(model):
        llm = LLM(
            model,
            revision=revision,
            dtype=options.dtype_of(dtype),
            kernels=options.provider_of(kernels),
            threads=threads,
            device=options.device_of(device),
            numerics=numerics.numerics,
            native=numerics.native,
            speculative_config=speculative_of(speculative_config),
            trace=trace,
        )
    params = SamplingParams(temperature=temperature, max_tokens=max_tokens)
    history: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    while text := _ask():
        history.append({"role": "user", "content": text})
        while _answer(llm, params, history, [WEATHER] if tools else None):
            pass


def _ask() -> str:
    try:
        return input("you> ").strip()
    except EOFError:
        typer.echo()
        return ""


def _answer(llm: Any, params: Any, history: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> bool:
    """One assistant turn; runs the calls it makes. Whether the model should speak again."""
    from isotherm.text.output import OutputParser

    (reply,) = llm.chat(history, params, tools=tools)
    parser = OutputParser("qwen3_coder" if tools else None, False, False, tools)
    deltas = [parser.push(reply.outputs[0].text), parser.finish()]
    content = "".join(delta.content for delta in deltas).strip()
    calls = _gather([call for delta in deltas for call in delta.tool_calls])
    seconds = f"{reply.first_token_s * 1000:.0f} ms to the first token, {reply.cached_tokens} tokens from the cache"
    if content:
        typer.echo(f"model> {content}")
    typer.secho(f"       {seconds}", dim=True)
    history.append({"role": "assistant", "content": content} | ({"tool_calls": calls} if calls else {}))
    for call in calls:
        result = json.dumps(get_weather(json.loads(call["function"]["arguments"] or "{}")))
        typer.echo(f"call>  {call['function']['name']}({call['function']['arguments']})\ntool>  {result}")
        history.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return bool(calls)


def _gather(deltas: list[Any]) -> list[dict[str, Any]]:
    calls: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        call = calls.setdefault(delta.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] += delta.id or ""
        call["function"]["name"] += delta.name or ""
        call["function"]["arguments"] += delta.arguments or ""
    return list(calls.values())
