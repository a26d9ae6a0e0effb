"""Options that several commands share, with vLLM's names, and how they become a configuration."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from isotherm.cli.native_options import EXACT, Chosen
from isotherm.cli.speculative import speculative_of
from isotherm.core.config import CacheConfig, Device, DType, EngineConfig, ModelConfig, Provider, SchedulerConfig, gib
from isotherm.core.errors import ConfigError

Model = Annotated[str, typer.Argument(help="A Hugging Face folder or hub id; the embedded model when left out.")]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit of a hub id.")]
DTypeName = Annotated[str, typer.Option("--dtype", help="auto, bfloat16 or float32.")]
KernelsName = Annotated[
    str, typer.Option("--kernels", help="auto, c, torch (no compiler: exact, slower, other bits) or triton (a GPU).")
]
DeviceName = Annotated[str, typer.Option("--device", help="auto, cpu or cuda; auto is cuda where there is one.")]
GpuMemory = Annotated[
    float, typer.Option("--gpu-memory-utilization", help="How much of a GPU's memory may be used, weights included.")
]
EnforceEager = Annotated[
    bool, typer.Option("--enforce-eager", help="Record no passes (CUDA graphs): slower, with the same bits.")
]
Threads = Annotated[int, typer.Option(min=0, help="Kernel threads; 0 for one a core.")]
MaxModelLen = Annotated[str, typer.Option(help="Longest sequence in tokens (8192, 32k); 0 for the checkpoint's own.")]
MaxSeqs = Annotated[int, typer.Option("--max-num-seqs", min=1, help="Sequences that run at once.")]
MaxBatched = Annotated[int, typer.Option("--max-num-batched-tokens", min=1, help="Tokens a pass may compute.")]
PrefixCaching = Annotated[
    bool,
    typer.Option("--enable-prefix-caching/--no-enable-prefix-caching", help="Reuse what earlier requests computed."),
]
KvBytes = Annotated[str, typer.Option(help="Memory for KV blocks and states (bytes, 512M, 4G); 0 for a default.")]
KvOffload = Annotated[
    str,
    typer.Option(
        "--kv-offloading-size",
        metavar="GIB",
        help="Host memory for what a GPU's cache evicts, in GiB; 0 for none. Allowed on the CPU, for tests.",
    ),
]
SnapshotInterval = Annotated[
    int, typer.Option(min=0, help="Tokens between the states kept of a long prompt; 0 for none.")
]


def writable(file: str | None) -> str | None:
    """`file`, looked at before the work whose result it takes. Raises ConfigError when it cannot be written there."""
    if file and (Path(file).is_dir() or not Path(file).parent.is_dir()):
        raise ConfigError("json", f"{file}: not a file in a folder that exists")
    return file


Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", callback=writable, help="Write the result here as JSON.")
]

Trace = Annotated[
    str, typer.Option(metavar="DIR", help="Write a trace of each request into this folder (docs/trace.md).")
]

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def count(name: str, text: str) -> int:
    """A whole number with an optional unit, as vLLM reads them: 1k is 1,000 and 1K is 1,024."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgKMG]?)i?B?", text.strip())
    if match is None:
        raise ConfigError(name, f"expected a number such as 8192, 32k or 4G, got {text!r}")
    return int(float(match[1]) * _UNITS[match[2]])


def gib_of(name: str, text: str) -> int:
    """Bytes from a number of GiB, as vLLM's option of this name takes it. Raises ConfigError naming the option."""
    try:
        return gib(name, float(text))
    except ValueError:
        raise ConfigError(name, f"expected a number of GiB such as 20 or 0.5, got {text!r}") from None


def dtype_of(value: str) -> DType:
    """`value` as a dtype name. Raises ConfigError listing those there are."""
    return cast(DType, _one_of("dtype", value, get_args(DType)))


def device_of(value: str) -> Device:
    """`value` as the name of a device. Raises ConfigError listing those there are."""
    return cast(Device, _one_of("device", value, get_args(Device)))


def provider_of(value: str) -> Provider:
    """`value` as the name of a kernel provider. Raises ConfigError listing those there are."""
    return cast(Provider, _one_of("kernels", value, get_args(Provider)))


def provider_on(kernels: str, device: str, dtype: str) -> Provider:
    """The kernel provider of a command that computes in this process. Raises ConfigError."""
    from isotherm.kernels.load import on_device

    if dtype == "float32" and device == "auto":
        device = "cpu"
    return on_device(provider_of(kernels), device_of(device))


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ConfigError(name, f"must be one of {', '.join(allowed)}, got {value!r}")
    return value


def engine_config(
    *,
    model: str,
    dtype: str,
    max_model_len: str,
    kernels: str,
    threads: int,
    enable_prefix_caching: bool,
    kv_cache_memory_bytes: str,
    snapshot_interval: int,
    max_num_seqs: int,
    max_num_batched_tokens: int,
    trace: str = "",
    numerics: Chosen = EXACT,
    speculative_config: str = "",
    device: str = "auto",
    gpu_memory_utilization: float = 0.9,
    kv_offloading_size: str = "0",
    enforce_eager: bool = False,
) -> EngineConfig:
    """The engine's configuration from what was typed. Raises ConfigError naming the option."""
    return EngineConfig(
        ModelConfig(
            path=model,
            dtype=dtype_of(dtype),
            max_model_len=count("max_model_len", max_model_len),
            kernels=provider_of(kernels),
            threads=threads,
            device=device_of(device),
            enforce_eager=enforce_eager,
        ),
        CacheConfig(
            enable_prefix_caching=enable_prefix_caching,
            memory_bytes=count("kv_cache_memory_bytes", kv_cache_memory_bytes),
            snapshot_interval=snapshot_interval,
            gpu_memory_utilization=gpu_memory_utilization,
            offload_bytes=gib_of("kv_offloading_size", kv_offloading_size),
        ),
        SchedulerConfig(max_num_seqs=max_num_seqs, max_num_batched_tokens=max_num_batched_tokens),
        trace,
        numerics.numerics,
        numerics.native,
        speculative_of(speculative_config),
    )


def quiet_transformers() -> None:
    """Keep third-party progress and advice out of our output."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Show that `model` is being loaded, on a terminal's standard error; kernels are compiled the first time."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"loading {escape(model or 'the embedded model')} ..."):
        yield
