"""LLM: the engine in this process, with text in and text out."""

import itertools
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isotherm.core.config import (
    CacheConfig,
    Device,
    DType,
    EngineConfig,
    ModelConfig,
    Provider,
    SchedulerConfig,
    SpeculativeConfig,
    gib,
)
from isotherm.core.errors import RequestError
from isotherm.core.numerics import NativeConfig, Numerics
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.engine.collector import Collector
from isotherm.engine.engine import Engine
from isotherm.engine.outputs import RequestOutput
from isotherm.model.source import locate
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer
from isotherm.trace.folder import claim_folder

PLAIN = NativeConfig()
Prompt = str | Sequence[int]
Messages = Sequence[dict[str, Any]]


class LLM:
    """A model loaded in this process. `model`: a folder, a hub id, or "" for the embedded model.

    Parameters bear vLLM's names. kv_offloading_size: GiB of the host's memory for what is evicted. trace: a folder for a trace of
    each request (docs/trace.md). numerics="native" measures
    what exactness costs, with the switches of `native` (docs/native.md).
    Raises ConfigError or CheckpointError when the model or a setting cannot be honoured.
    """

    def __init__(
        self,
        model: str = "",
        *,
        revision: str | None = None,
        dtype: DType = "auto",
        max_model_len: int = 0,
        max_num_seqs: int = 16,
        max_num_batched_tokens: int = 2048,
        enable_prefix_caching: bool = True,
        kv_cache_memory_bytes: int = 0,
        snapshot_interval: int = 2048,
        kernels: Provider = "auto",
        threads: int = 0,
        speculative_config: SpeculativeConfig | None = None,
        trace: str = "",
        numerics: Numerics = "exact",
        native: NativeConfig = PLAIN,
        device: Device = "auto",
        gpu_memory_utilization: float = 0.9,
        kv_offloading_size: float = 0.0,
        enforce_eager: bool = False,
    ):
        folder = locate(model, revision)
        config = EngineConfig(
            ModelConfig(str(folder), None, dtype, max_model_len, kernels, threads, device, enforce_eager),
            CacheConfig(
                enable_prefix_caching,
                kv_cache_memory_bytes,
                snapshot_interval=snapshot_interval,
                gpu_memory_utilization=gpu_memory_utilization,
                offload_bytes=gib("kv_offloading_size", kv_offloading_size),
            ),
            SchedulerConfig(max_num_seqs, max_num_batched_tokens, max_waiting=1 << 30),
            trace,
            numerics,
            native,
            speculative_config,
        )
        self._open(config, folder)

    @classmethod
    def from_config(cls, config: EngineConfig, folder: Path) -> "LLM":
        """An LLM with every setting of EngineConfig, from a local folder."""
        llm = cls.__new__(cls)
        llm._open(config, folder)
        return llm

    def _open(self, config: EngineConfig, folder: Path) -> None:
        if config.trace:
            claim_folder(Path(config.trace))
        self.tokenizer = Tokenizer.load(folder)
        self.template = ChatTemplate.load(folder, self.tokenizer, None)
        self.engine = Engine(config, folder, self.tokenizer.vocabulary)
        self._ids = itertools.count()

    @property
    def info(self) -> EngineInfo:
        """What is fixed at load, the build's fingerprint included."""
        return self.engine.info

    def stats(self) -> EngineStats:
        """Gauges and counters."""
        return self.engine.stats()

    def generate(
        self,
        prompts: Prompt | Sequence[Prompt],
        sampling_params: SamplingParams | None = None,
        *,
        n: int = 1,
        cache_salt: str = "",
        skip_reading_prefix_cache: bool = False,
        num_speculative_tokens: int | None = None,
    ) -> list[RequestOutput]:
        """Continue each prompt (text, or token ids) n times. num_speculative_tokens: at most, where there are drafts at all.

        Raises RequestError naming the parameter at fault.
        """
        many = [prompts] if isinstance(prompts, str) or (prompts and isinstance(prompts[0], int)) else prompts
        tokens = [self._tokens(prompt) for prompt in many]  # type: ignore[arg-type]
        asked = [(prompt, 0) for prompt in tokens]
        return self._run(asked, sampling_params, n, cache_salt, skip_reading_prefix_cache, num_speculative_tokens)

    def chat(
        self,
        messages: Messages | Sequence[Messages],
        sampling_params: SamplingParams | None = None,
        *,
        tools: Sequence[dict[str, Any]] | None = None,
        chat_template_kwargs: dict[str, Any] | None = None,
        n: int = 1,
        cache_salt: str = "",
    ) -> list[RequestOutput]:
        """Answer one conversation, or each of several. Messages and tools have the OpenAI API's shape."""
        many = [messages] if not messages or isinstance(messages[0], dict) else messages
        prompts = [
            self.template.prompt(list(item), list(tools) if tools else None, True, chat_template_kwargs)  # type: ignore[arg-type]
            for item in many
        ]
        return self._run([(item.tokens, item.hint) for item in prompts], sampling_params, n, cache_salt, False)

    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Log-probabilities of each prompt's tokens from the second on, given those before them."""
        params = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)
        outputs = self._run([(self._tokens(prompt), 0) for prompt in prompts], params, 1, "", False)
        return [[entry.logprob for entry in output.prompt_logprobs or ()] for output in outputs]

    def _tokens(self, prompt: Prompt) -> tuple[int, ...]:
        return self.tokenizer.encode(prompt) if isinstance(prompt, str) else tuple(prompt)

    def _run(
        self,
        prompts: Sequence[tuple[tuple[int, ...], int]],
        sampling: SamplingParams | None,
        n: int,
        cache_salt: str,
        skip_cache: bool,
        drafts: int | None = None,
    ) -> list[RequestOutput]:
        sampling = sampling or SamplingParams()
        if n < 1:
            raise RequestError("n", f"must be at least 1, got {n}")
        running: dict[str, Collector] = {}
        groups: list[list[Collector]] = []
        for tokens, hint in prompts:
            seed = sampling.seed if sampling.seed is not None else secrets.randbits(63)
            group = []
            for choice in range(n):
                request = Request(
                    f"llm-{next(self._ids)}", tokens, sampling, seed, choice, hint, cache_salt, skip_cache, drafts
                )
                self.engine.add(request)
                running[request.id] = Collector(request)
                group.append(running[request.id])
            groups.append(group)
        self._drain(running)
        return [self._output(group) for group in groups]

    def _drain(self, running: dict[str, Collector]) -> None:
        try:
            while self.engine.has_work:
                for output in self.engine.step():
                    running[output.request_id].add(output)
        except BaseException:
            for request_id in running:
                self.engine.cancel(request_id)
            raise

    def _output(self, group: list[Collector]) -> RequestOutput:
        lead = group[0]
        return RequestOutput(
            prompt_token_ids=lead.request.prompt,
            outputs=tuple(item.completion(self.tokenizer) for item in group),
            prompt_logprobs=lead.prompt_logprobs,
            cached_tokens=lead.cached_tokens,
            first_token_s=lead.first,
            total_s=lead.ended,
        )
