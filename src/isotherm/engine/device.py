"""Where a model runs: the provider that a configuration means for it, and the memory that its state may take there."""

import logging
from dataclasses import replace

from isotherm.core.config import CacheConfig, EngineConfig, Provider
from isotherm.core.errors import ConfigError
from isotherm.kernels.gpu.device import available_bytes
from isotherm.kernels.load import on_device
from isotherm.model.decoder import Decoder
from isotherm.model.spec import ModelSpec
from isotherm.runner.graphs import MOST_PREFILL_ROWS, MOST_ROWS

log = logging.getLogger("isotherm")

_FIXED_BYTES = 7 << 29
"""Of a pass, whatever its rows: splits of attention that wait, in recorded passes too, code, graphs, and what the allocator
cannot join."""


def provider_for(config: EngineConfig, spec: ModelSpec) -> Provider:
    """Raises ConfigError when the device that was asked for cannot run the model; "auto" then stays on the CPU and says so."""
    model = config.model
    if config.numerics == "native":
        if model.device == "cuda":
            raise ConfigError("device", "cuda cannot be honoured: numerics=native runs on the CPU")
        return "auto"
    provider = on_device(model.kernels, model.device)
    if provider != "triton":
        return provider
    reason = "float32 runs on the CPU" if model.dtype == "float32" else unsupported(spec)
    if reason is None:
        return provider
    if model.kernels == "triton" or model.device == "cuda":
        raise ConfigError("device", f"cuda cannot be honoured: {reason}; --device cpu runs it")
    log.warning("device: cpu, because on the GPU %s", reason)
    return "auto"


def check_supported(kernels: Provider, spec: ModelSpec) -> None:
    """Raises ConfigError when these are the GPU's kernels and they do not compute the model."""
    if kernels == "triton" and (reason := unsupported(spec)) is not None:
        raise ConfigError("device", f"cuda cannot be honoured: {reason}; --device cpu runs it")


def unsupported(spec: ModelSpec) -> str | None:
    """What of the model the GPU kernels do not compute; None when they compute all of it."""
    dims = {
        "linear_key_head_dim": spec.delta.key_dim,
        "linear_value_head_dim": spec.delta.value_dim,
        "head_dim": spec.kv.dim,
    }
    for name, dim in dims.items():
        if dim < 16 or dim & (dim - 1):
            return f"{name} must be a power of two of at least 16, got {dim}"
    return None


def with_budget(cache: CacheConfig, decoder: Decoder, rows: int, has_drafter: bool) -> CacheConfig:
    """The same, with what a GPU has left for state; unchanged on the CPU and where the bytes are given."""
    device = decoder.kernels.device
    if cache.memory_bytes or device.type == "cpu":
        return cache
    reserve = _FIXED_BYTES + pass_bytes(decoder.spec, rows)
    if has_drafter:
        reserve += 2 * _layer_bytes(decoder.spec)
    left = available_bytes(device, cache.gpu_memory_utilization, reserve)
    if left <= 0:
        raise ConfigError(
            "gpu_memory_utilization",
            f"{cache.gpu_memory_utilization:g} of the GPU's memory leaves nothing for the cache: the weights and a pass of "
            f"{rows} rows need {-left} bytes more",
        )
    return replace(cache, memory_bytes=left)


def pass_bytes(spec: ModelSpec, rows: int) -> int:
    """About what a pass of so many rows holds at once beside weights and state, and what recorded passes keep for themselves."""
    moe = next((layer.moe for layer in spec.layers if layer.moe), None)
    wide = max(2 * spec.intermediate_size, 2 * spec.conv_channels, 4 * spec.query_heads * spec.kv.dim)
    experts = moe.active * (3 * moe.intermediate + spec.hidden_size) if moe else 0
    delta = spec.delta.value_heads * (512 + 8 * spec.delta.value_dim) + 8 * spec.delta.key_heads * spec.delta.key_dim
    rows += min(rows, MOST_PREFILL_ROWS)
    index = spec.max_positions // spec.index.shape.ratio + 3 * spec.index.most if spec.index else 0
    return (
        rows * (4 * (6 * spec.residual_size + 2 * wide + experts + index) + delta) + 3 * MOST_ROWS * spec.vocab_size * 4
    )


def _layer_bytes(spec: ModelSpec) -> int:
    """About the weights of a drafter."""
    moe = next((layer.moe for layer in spec.layers if layer.moe), None)
    feed = (
        3 * moe.experts * moe.intermediate if moe else 3 * spec.intermediate_size
    ) + 4 * spec.query_heads * spec.kv.dim
    return 2 * spec.hidden_size * (feed + 2 * spec.hidden_size)
