"""`isotherm serve`: an OpenAI-compatible server."""

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from isotherm.cli import options
from isotherm.cli.native_options import Chosen, GroupedCommand, takes_numerics
from isotherm.cli.speculative import Speculative
from isotherm.cli.vllm_flags import adopt


class PastedCommand(GroupedCommand):
    """Reads vLLM's command lines too, before our own options are looked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Says what has no effect here. Raises ConfigError for what cannot be honoured."""
        adopted = adopt(args)
        for notice in adopted.notices:
            typer.secho(f"isotherm: {notice}", fg=typer.colors.YELLOW, err=True)
        return super().parse_args(ctx, list(adopted.args))


@takes_numerics
def serve(
    *,
    numerics: Chosen,
    model: options.Model = "",
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to bind.")] = 8000,
    served_model_name: Annotated[list[str] | None, typer.Option(help="Names under which the model answers.")] = None,
    revision: options.Revision = None,
    dtype: options.DTypeName = "auto",
    max_model_len: options.MaxModelLen = "0",
    max_num_seqs: options.MaxSeqs = 16,
    max_num_batched_tokens: options.MaxBatched = 2048,
    enable_prefix_caching: options.PrefixCaching = True,
    kv_cache_memory_bytes: options.KvBytes = "0",
    snapshot_interval: options.SnapshotInterval = 2048,
    kernels: options.KernelsName = "auto",
    threads: options.Threads = 0,
    device: options.DeviceName = "auto",
    gpu_memory_utilization: options.GpuMemory = 0.9,
    kv_offloading_size: options.KvOffload = "0",
    enforce_eager: options.EnforceEager = False,
    chat_template: Annotated[Path | None, typer.Option(help="A Jinja file instead of the checkpoint's.")] = None,
    enable_auto_tool_choice: Annotated[
        bool, typer.Option("--enable-auto-tool-choice", help="Let the model call tools.")
    ] = False,
    tool_call_parser: Annotated[str | None, typer.Option(help="qwen3_coder or hermes.")] = None,
    reasoning_parser: Annotated[str | None, typer.Option(help="qwen3.")] = None,
    api_key: Annotated[
        list[str] | None, typer.Option(help="Accept only requests with this key.", envvar="ISOTHERM_API_KEY")
    ] = None,
    drain_timeout: Annotated[
        float, typer.Option(help="Seconds that running answers are given to end after SIGTERM.")
    ] = 30.0,
    speculative_config: Speculative = "",
    trace: options.Trace = "",
) -> None:
    """Serve MODEL over HTTP, as OpenAI's API."""
    options.quiet_transformers()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("isotherm").setLevel(logging.INFO)  # ours alone: torch has much to say at INFO
    from isotherm.cli.launch import launch
    from isotherm.server.config import ServerConfig

    engine = options.engine_config(
        model=model,
        dtype=dtype,
        max_model_len=max_model_len,
        kernels=kernels,
        threads=threads,
        enable_prefix_caching=enable_prefix_caching,
        kv_cache_memory_bytes=kv_cache_memory_bytes,
        snapshot_interval=snapshot_interval,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        numerics=numerics,
        speculative_config=speculative_config,
        trace=trace,
        device=device,
        gpu_memory_utilization=gpu_memory_utilization,
        kv_offloading_size=kv_offloading_size,
        enforce_eager=enforce_eager,
    )
    embedded = not model
    server = ServerConfig(
        served_model_names=tuple(served_model_name or [model or "isotherm-embedded"]),
        host=host,
        port=port,
        api_key=tuple(api_key or ()),
        enable_auto_tool_choice=enable_auto_tool_choice or embedded,
        tool_call_parser=tool_call_parser or ("qwen3_coder" if embedded else None),  # type: ignore[arg-type]
        reasoning_parser=reasoning_parser,
        drain_s=drain_timeout,
    )
    launch(engine, server, revision, chat_template)
