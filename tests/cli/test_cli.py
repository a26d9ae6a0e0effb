"""The commands as a user types them: pasted vLLM flags, options that become settings, and errors of one line."""

import logging
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from isotherm.cli import launch, options
from isotherm.cli.main import app, main
from isotherm.cli.speculative import speculative_of
from isotherm.cli.vllm_flags import ALREADY_SO, NO_EFFECT, REFUSED, VALUE_HAS_NO_EFFECT, adopt
from isotherm.core.config import EngineConfig, SpeculativeConfig
from isotherm.core.errors import ConfigError
from isotherm.server.config import ServerConfig

Serve = Callable[..., tuple[EngineConfig, ServerConfig]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Runs `isotherm serve ARGS` up to the launch; returns what would be launched. Raises what the command raises."""
    launched: list[Any] = []
    monkeypatch.setattr(launch, "launch", lambda *settings: launched.append(settings))

    def run(*args: str) -> tuple[EngineConfig, ServerConfig]:
        result = CliRunner().invoke(app, ["serve", *args])
        if result.exception is not None:
            raise result.exception
        engine, server = launched.pop()[:2]
        return engine, server

    return run


def run_main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["isotherm", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("flag", NO_EFFECT)
def test_a_flag_without_effect_leaves_the_model_after_it_alone(flag: str) -> None:
    adopted = adopt([flag, "MODEL"])
    assert adopted.args == ("MODEL",)
    assert len(adopted.notices) == 1 and flag in adopted.notices[0]


@pytest.mark.parametrize("flag", VALUE_HAS_NO_EFFECT)
def test_a_value_without_effect_goes_with_its_flag(flag: str) -> None:
    for pasted in ([flag, "0.9", "MODEL"], [f"{flag}=0.9", "MODEL"], ["MODEL", flag, "0.9"]):
        assert adopt(pasted).args == ("MODEL",)


@pytest.mark.parametrize("flag", REFUSED)
def test_a_refused_flag_is_named_with_its_reason(flag: str) -> None:
    for pasted in (["MODEL", flag, "value-of-it"], [f"{flag}=value-of-it"], [flag]):
        with pytest.raises(ConfigError) as caught:
            adopt(pasted)
        assert (caught.value.field, caught.value.message) == (flag, f"cannot be honoured: {REFUSED[flag]}")


@pytest.mark.parametrize("flag", ALREADY_SO)
def test_a_refused_flag_is_accepted_when_it_asks_for_what_is_so(flag: str) -> None:
    for value in ALREADY_SO[flag]:
        assert adopt(["MODEL", flag, value, "--port", "1"]).args == ("MODEL", "--port", "1")
        assert adopt(["MODEL", f"{flag}={value}"]).args == ("MODEL",)


def test_no_flag_stands_in_two_tables() -> None:
    assert not set(NO_EFFECT) & set(REFUSED) | set(VALUE_HAS_NO_EFFECT) & set(NO_EFFECT | REFUSED)
    assert set(ALREADY_SO) <= set(REFUSED)


def test_underscores_and_dictionary_entries_are_read_as_vllm_reads_them() -> None:
    assert adopt(["M", "--max_model_len", "8_000"]).args == ("M", "--max-model-len", "8_000")
    with pytest.raises(ConfigError, match="--hf-overrides: cannot be honoured"):
        adopt(["M", "--hf_overrides.max_model_len", "5"])


def test_vllms_speculative_config_is_read(serve: Serve) -> None:
    engine, _ = serve("M", "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 3}')
    assert engine.speculative == SpeculativeConfig("mtp", 3)
    assert speculative_of('{"method": "qwen3_next_mtp"}') == SpeculativeConfig("mtp", 1)
    assert speculative_of("") is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "speculative_config: must be JSON"),
        ("[]", "speculative_config: must be an object"),
        ("{}", "speculative_config.method: must be given"),
        ('{"method": "eagle"}', "speculative_config.method: must be mtp or ngram"),
        ('{"method": "mtp", "num_speculative_tokens": 9}', "num_speculative_tokens: must be from 1 to 8"),
        ('{"method": "mtp", "num_speculative_tokens": "3"}', "num_speculative_tokens: must be from 1 to 8"),
        ('{"method": "mtp", "model": "x"}', "speculative_config.model: is not known"),
    ],
)
def test_a_speculative_config_that_cannot_be_honoured_is_named(text: str, named: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(named)):
        speculative_of(text)


def test_a_pasted_vllm_command_starts(serve: Serve) -> None:
    command = """a/b --gpu-memory-utilization 0.9 --max-model-len 8k --served-model-name x y --enforce-eager
        --tensor-parallel-size 1 --max_num_seqs 3 --no-enable-prefix-caching --api-key k1 k2 --trust-remote-code
        --kv-cache-memory-bytes 1G --enable-auto-tool-choice --tool-call-parser hermes"""
    engine, server = serve(*shlex.split(command))
    assert engine.model.path == "a/b"
    assert engine.model.max_model_len == 8000
    assert engine.model.enforce_eager
    assert engine.scheduler.max_num_seqs == 3
    assert not engine.cache.enable_prefix_caching
    assert engine.cache.memory_bytes == 1 << 30
    assert server.served_model_names == ("x", "y")
    assert server.api_key == ("k1", "k2")
    assert server.tool_format == "hermes"


def test_flags_before_the_model_and_the_model_as_a_flag(serve: Serve) -> None:
    assert serve("--gpu-memory-utilization", "0.9", "--enforce-eager", "a/b")[0].model.path == "a/b"
    assert serve("--api-key", "key", "a/b")[0].model.path == "a/b"
    assert serve("--model", "a/b", "--port", "9000")[0].model.path == "a/b"


def test_without_a_model_the_embedded_one_is_served_with_its_tool_format(serve: Serve) -> None:
    engine, server = serve()
    assert engine.model.path == ""
    assert (server.served_model_names, server.tool_format) == (("isotherm-embedded",), "qwen3_coder")
    assert (server.host, server.port, engine.cache.enable_prefix_caching) == ("127.0.0.1", 8000, True)


def test_a_key_may_come_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_API_KEY", "secret")
    assert serve()[1].api_key == ("secret",)


def test_our_log_is_at_info_and_that_of_libraries_is_not(serve: Serve) -> None:
    serve()
    assert logging.getLogger("isotherm.server").isEnabledFor(logging.INFO)
    assert not logging.getLogger("torch.some_module").isEnabledFor(logging.INFO)


@pytest.mark.parametrize(
    ("text", "value"),
    [("8192", 8192), ("32k", 32000), ("32K", 32768), ("1.5k", 1500), ("4G", 4 << 30), ("2GiB", 2 << 30)],
)
def test_counts_have_vllm_s_units(text: str, value: int) -> None:
    assert options.count("max_model_len", text) == value


def test_the_offloading_size_is_in_gib_as_vllm_has_it(serve: Serve) -> None:
    engine, _ = serve("M", "--kv_offloading_size", "0.5", "--kv-offloading-backend", "native")
    assert engine.cache.offload_bytes == 1 << 29
    assert serve("M")[0].cache.offload_bytes == 0


@pytest.mark.parametrize("text", ["", "k", "-1", "4G", "nan", "inf", "1e300"])
def test_an_offloading_size_that_is_none_names_its_option(text: str) -> None:
    with pytest.raises(ConfigError, match="kv_offloading_size"):
        options.gib_of("kv_offloading_size", text)


@pytest.mark.parametrize("text", ["", "k", "-1", "8x", "1 000", "auto"])
def test_a_count_that_is_none_names_its_option(text: str) -> None:
    with pytest.raises(ConfigError, match="max_model_len"):
        options.count("max_model_len", text)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("serve M --tensor-parallel-size 2", "--tensor-parallel-size: cannot be honoured"),
        ("serve --max-model-len abc", "max_model_len: expected a number"),
        ("serve --dtype float16", "dtype: must be one of"),
        ("serve --kv-offloading-size 4G", "kv_offloading_size: expected a number of GiB"),
        ("serve --kv-offloading-size 1 --numerics native", "kv_offloading_size: cannot be honoured"),
        ("serve --kernels cuda", "kernels: must be one of"),
        ("serve --tool-call-parser mistral", "tool_call_parser: must be one of"),
        ("serve M --enable-auto-tool-choice", "enable_auto_tool_choice: needs --tool-call-parser"),
        ("serve /no/such/folder --port 1", "no such folder"),
        ("checkpoint tiny --kind gpt2 --out /no/such/folder", "kind: must be one of"),
        ("generate /no/such/folder -p x", "no such folder"),
        ("doctor /no/such/folder", "no such folder"),
        (f"checkpoint tiny --kind qwen3_5 --out {__file__}", "out: "),
        ("generate -p x --json /no/such/folder/result", "json: /no/such/folder/result"),
        ("bench --lengths 1,x", "lengths: must be whole numbers"),
    ],
)
def test_an_error_is_one_line_and_exit_code_2(
    args: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launch, "bind", lambda host, port: socket.socket())
    code, err = run_main(monkeypatch, capsys, *args.split())
    assert code == 2
    assert err.startswith("isotherm: ") and err.count("\n") == 1
    assert says in err


@pytest.mark.parametrize("args", ["serve --bogus 3", "serve a/b c/d", "serve --port 99999", "chatt"])
def test_what_no_command_knows_is_exit_code_2(
    args: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = run_main(monkeypatch, capsys, *args.split())
    assert code == 2
    assert "Traceback" not in err and "--help" in err


def test_a_port_in_use_is_said_before_a_model_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, err = run_main(monkeypatch, capsys, "serve", "/no/such/folder", "--port", str(port))
    assert code == 2
    assert f"cannot listen on 127.0.0.1:{port}" in err and err.count("\n") == 1


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("isotherm ")


def test_help_loads_neither_torch_nor_the_server() -> None:
    code = (
        "import sys; from isotherm.cli.main import app; app(['--help'], standalone_mode=False);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'fastapi')))"
    )
    started = time.monotonic()
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0
    assert time.monotonic() - started < 5
