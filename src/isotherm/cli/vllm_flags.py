"""Flags of a pasted vLLM command that are not ours: those that change nothing here, and those that cannot be honoured."""

from isotherm.core.errors import ConfigError

NO_EFFECT = {
    "--trust-remote-code": "code from a checkpoint is never run, and none is needed",
    "--enforce-eager": "there is no compiled graph to turn off",
    "--enable-chunked-prefill": "it is always on",
    "--disable-log-requests": "one line a request is logged",
    "--no-enable-log-requests": "one line a request is logged",
    "--disable-log-stats": "statistics are at /metrics only",
    "--uvicorn-log-level": "the log has one level",
    "--disable-uvicorn-access-log": "there is no access log",
    "--gpu-memory-utilization": "there is no GPU backend yet; --kv-cache-memory-bytes bounds the cache",
    "--swap-space": "nothing is swapped",
    "--generation-config": "the checkpoint's generation_config.json is used",
    "--load-format": "safetensors is the one format",
    "--block-size": "a block is 64 tokens",
}
"""Accepted with a notice. Those with a value take it along."""

REFUSED = {
    "--tensor-parallel-size": "one process on one device serves a model",
    "-tp": "one process on one device serves a model",
    "--pipeline-parallel-size": "one process on one device serves a model",
    "--data-parallel-size": "one process on one device serves a model",
    "--quantization": "quantised weights are not implemented",
    "-q": "quantised weights are not implemented",
    "--kv-cache-dtype": "keys and values are kept in the model's dtype",
    "--speculative-config": "speculative decoding is not implemented yet",
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
    "--device": "the CPU is the one device yet",
}


def explain(extra: list[str]) -> list[str]:
    """Notices for the flags that change nothing; ConfigError for the first that cannot be honoured, or is not known."""
    notices, index = [], 0
    while index < len(extra):
        flag = extra[index].split("=", 1)[0]
        if flag in REFUSED:
            raise ConfigError(flag, f"cannot be honoured: {REFUSED[flag]}")
        if flag not in NO_EFFECT:
            raise ConfigError(flag, "unknown option; `isotherm serve --help` lists them")
        notices.append(f"{flag} has no effect: {NO_EFFECT[flag]}")
        index += 1
        if index < len(extra) and "=" not in extra[index - 1] and not extra[index].startswith("-"):
            index += 1
    return notices
