"""`isotherm generate`: continue a prompt, in this process."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli import options
from isotherm.cli.native_options import Chosen, takes_numerics
from isotherm.cli.speculative import Speculative, speculative_of


@takes_numerics
def generate(
    *,
    numerics: Chosen,
    model: options.Model = "",
    prompt: Annotated[str, typer.Option("--prompt", "-p", help="Text to continue; - reads standard input.")] = "-",
    chat: Annotated[bool, typer.Option("--chat", help="Send the prompt as a user message.")] = False,
    n: Annotated[int, typer.Option(min=1, help="How many continuations.")] = 1,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens to generate.")] = 128,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token.")] = 0.0,
    seed: Annotated[int | None, typer.Option(help="Seed of the noise.")] = None,
    dtype: options.DTypeName = "auto",
    kernels: options.KernelsName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    max_model_len: options.MaxModelLen = "0",
    speculative_config: Speculative = "",
    trace: options.Trace = "",
    json_file: options.Json = None,
) -> None:
    """Continue a prompt and print the text."""
    options.quiet_transformers()
    from isotherm import LLM, SamplingParams

    with options.loading(model):
        llm = LLM(
            model,
            dtype=options.dtype_of(dtype),
            kernels=options.provider_of(kernels),
            threads=threads,
            device=options.device_of(device),
            max_model_len=options.count("max_model_len", max_model_len),
            speculative_config=speculative_of(speculative_config),
            trace=trace,
            numerics=numerics.numerics,
            native=numerics.native,
        )
    text = sys.stdin.read() if prompt == "-" else prompt
    params = SamplingParams(temperature=temperature, max_tokens=max_tokens, seed=seed)
    if chat:
        (answer,) = llm.chat([{"role": "user", "content": text}], params, n=n)
    else:
        (answer,) = llm.generate(text, params, n=n)
    for output in answer.outputs:
        typer.echo(output.text)
    if json_file:
        result = {
            "prompt_token_ids": answer.prompt_token_ids,
            "outputs": [
                {"text": o.text, "token_ids": o.token_ids, "finish_reason": o.finish_reason} for o in answer.outputs
            ],
            "build": llm.info.build,
        }
        Path(json_file).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
