"""A pasted vLLM command in our terms: flags that change nothing here are dropped, those that cannot be honoured are refused."""

from dataclasses import dataclass

from isotherm.core.errors import ConfigError

NO_EFFECT = {
    "--trust-remote-code": "code from a checkpoint is never run, and none is needed",
    "--enable-chunked-prefill": "it is always on",
    "--disable-log-requests": "one line a request is logged",
    "--no-enable-log-requests": "one line a request is logged",
    "--disable-log-stats": "statistics are at /metrics only",
    "--disable-uvicorn-access-log": "there is no access log",
    "--no-async-scheduling": "passes run one after the other",
}
"""Accepted with a notice; they take no value."""

VALUE_HAS_NO_EFFECT = {
    "--uvicorn-log-level": "the log has one level",
    "--swap-space": "nothing is swapped",
    "--generation-config": "the checkpoint's generation_config.json is used",
    "--load-format": "safetensors is the one format",
    "--block-size": "a block is 64 tokens",
}
"""Accepted with a notice, together with the one value that they take."""

ONE_PROCESS = "one process on one device serves a model"
REFUSED = {
    "--tensor-parallel-size": ONE_PROCESS,
    "-tp": ONE_PROCESS,
    "--pipeline-parallel-size": ONE_PROCESS,
    "-pp": ONE_PROCESS,
    "--data-parallel-size": ONE_PROCESS,
    "-dp": ONE_PROCESS,
    "--enable-expert-parallel": ONE_PROCESS,
    "--quantization": "quantised weights are not implemented",
    "-q": "quantised weights are not implemented",
    "--kv-cache-dtype": "keys and values are kept in the model's dtype",
    "--enable-lora": "adapters are not implemented",
    "--lora-modules": "adapters are not implemented",
    "--no-enable-chunked-prefill": "a prompt may always be cut; it never changes an answer",
    "--mamba-ssm-cache-dtype": "recurrent state is float32: 16 bits go wrong within two chunks",
    "--mamba-cache-mode": "a state is kept where the policy says (docs/cache-policy.md)",
    "--rope-scaling": "it would change the checkpoint",
    "--hf-overrides": "it would change the checkpoint",
    "--tokenizer": "the tokenizer is the checkpoint's own",
    "--limit-mm-per-prompt": "images are not served",
    "--ssl-keyfile": "put a TLS proxy in front",
    "--ssl-certfile": "put a TLS proxy in front",
    "--root-path": "put a proxy in front",
    "--async-scheduling": "passes run one after the other",
    "--cpu-offload-gb": "weights stay in memory",
    "--kv-offloading-backend": "there is one host tier, our own",
    "--kv-transfer-config": "one process serves a model; what is evicted may go to --kv-offloading-size",
}

ALREADY_SO = {
    "--tensor-parallel-size": ("1",),
    "-tp": ("1",),
    "--pipeline-parallel-size": ("1",),
    "-pp": ("1",),
    "--data-parallel-size": ("1",),
    "-dp": ("1",),
    "--kv-cache-dtype": ("auto",),
    "--mamba-ssm-cache-dtype": ("auto", "float32"),
    "--cpu-offload-gb": ("0",),
    "--kv-offloading-backend": ("native",),
}
"""Values of refused flags that ask for what is so anyway."""

SEVERAL_VALUES = ("--served-model-name", "--api-key")
"""Our options that vLLM gives several values after one flag."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """What our own parser reads, and what to tell the user."""

    args: tuple[str, ...]
    notices: tuple[str, ...]


def adopt(pasted: list[str]) -> Adopted:
    """The arguments after `serve` as ours: `--model X` becomes X, underscores in flags hyphens, and, where MODEL came first,
    one flag with several values one flag each. Raises ConfigError for the first flag that cannot be honoured; flags known
    to neither are left to our parser, which says so.
    """
    args: list[str] = []
    notices: list[str] = []
    rest = list(pasted)
    model_came_first = bool(pasted) and not pasted[0].startswith("-")
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if not flag.startswith("-"):
            args.append(flag + equals + value)
            continue
        flag = flag.replace("_", "-") if flag.startswith("--") else flag
        name = flag.partition(".")[0]  # --hf-overrides.max_model_len 5: one entry of a dictionary
        values = [value] if equals else _values(rest)
        if flag in NO_EFFECT:
            notices.append(f"{flag} has no effect: {NO_EFFECT[flag]}")
        elif flag in VALUE_HAS_NO_EFFECT:
            notices.append(f"{flag} has no effect: {VALUE_HAS_NO_EFFECT[flag]}")
            rest = rest if equals else rest[1:]
        elif name in REFUSED:
            if not values or values[0] not in ALREADY_SO.get(flag, ()):
                raise ConfigError(name, f"cannot be honoured: {REFUSED[name]}")
            rest = rest if equals else rest[1:]
        elif flag in SEVERAL_VALUES and len(values) > 1 and model_came_first:
            args += [part for value in values for part in (flag, value)]
            rest = rest[len(values) :]
        elif flag == "--model" and values:
            args.append(values[0])
            rest = rest if equals else rest[1:]
        else:
            args.append(flag + equals + value)
    return Adopted(tuple(args), tuple(notices))


def _values(rest: list[str]) -> list[str]:
    """The arguments before the next flag."""
    following = next((index for index, arg in enumerate(rest) if arg.startswith("-")), len(rest))
    return rest[:following]
