"""Which device a configuration means, and what it says when that cannot be had. None of this needs a GPU."""

from dataclasses import replace

import pytest

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig
from isotherm.engine import device
from isotherm.engine.device import check_supported, provider_for, unsupported
from isotherm.kernels import load
from isotherm.kernels.state import DeltaShape, KVShape
from isotherm.model.hf_config import read_spec
from isotherm.model.source import EMBEDDED

SPEC = read_spec(EMBEDDED)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were a GPU."""
    monkeypatch.setattr(load, "no_cuda", lambda: None)


@pytest.fixture
def no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "no_cuda", lambda: "torch sees no CUDA device")


def config(numerics: str = "exact", **model: object) -> EngineConfig:
    return EngineConfig(ModelConfig(**model), numerics=numerics, native=NativeConfig())  # type: ignore[arg-type]


def test_auto_is_the_gpu_where_there_is_one_and_the_kernels_are_left_open(card: None) -> None:
    assert provider_for(config(device="auto"), SPEC) == "triton"
    assert provider_for(config(device="auto", kernels="c"), SPEC) == "c"
    assert provider_for(config(device="cpu"), SPEC) == "auto"
    assert provider_for(config("native", device="auto"), SPEC) == "auto"


def test_auto_stays_on_the_cpu_without_a_gpu(no_card: None) -> None:
    assert provider_for(config(device="auto"), SPEC) == "auto"


def test_auto_stays_on_the_cpu_for_what_the_gpu_does_not_compute(card: None) -> None:
    odd = replace(SPEC, delta=DeltaShape(2, 2, 128, 24))
    assert provider_for(config(device="auto"), odd) == "auto"
    assert provider_for(config(device="auto", dtype="float32"), SPEC) == "auto"


def test_cuda_says_what_it_cannot_honour(card: None) -> None:
    odd = replace(SPEC, kv=KVShape(2, 96))
    with pytest.raises(
        ConfigError, match="head_dim must be a power of two of at least 16, got 96; --device cpu runs it"
    ):
        provider_for(config(device="cuda"), odd)
    with pytest.raises(ConfigError, match="kernels: c runs on the CPU"):
        provider_for(config(device="cuda", kernels="c"), SPEC)
    with pytest.raises(ConfigError, match="float32"):
        provider_for(config(device="cuda", dtype="float32"), SPEC)
    with pytest.raises(ConfigError, match="native"):
        provider_for(config("native", device="cuda"), SPEC)
    with pytest.raises(ConfigError, match="head_dim"):
        check_supported("triton", odd)
    check_supported("c", odd)
    assert unsupported(SPEC) is None


def test_cuda_without_a_device_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from isotherm.kernels.gpu import device as gpu

    monkeypatch.setattr(gpu, "no_cuda", lambda: "torch sees no CUDA device")
    with pytest.raises(ConfigError, match="device: cuda cannot be honoured: torch sees no CUDA device"):
        load.load_kernels("triton")


@pytest.mark.parametrize("share", [0.0, 1.1, -1.0])
def test_a_share_of_the_memory_is_above_0_and_at_most_1(share: float) -> None:
    with pytest.raises(ConfigError, match="gpu_memory_utilization"):
        CacheConfig(gpu_memory_utilization=share)


def test_what_is_left_of_the_memory_is_what_the_cache_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    class On:
        spec, kernels = SPEC, type("K", (), {"device": type("D", (), {"type": "cuda"})()})()

    monkeypatch.setattr(device, "available_bytes", lambda card, share, reserve: int(share * (80 << 30)) - reserve)
    got = device.with_budget(CacheConfig(), On, 2048, False)  # type: ignore[arg-type]
    assert 60 << 30 < got.memory_bytes < 72 << 30
    assert device.with_budget(CacheConfig(memory_bytes=5), On, 2048, False).memory_bytes == 5  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="leaves nothing for the cache"):
        device.with_budget(CacheConfig(gpu_memory_utilization=0.02), On, 2048, False)  # type: ignore[arg-type]
