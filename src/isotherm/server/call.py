"""One API call: what the client asked for, as engine requests."""

import secrets
import time
from dataclasses import dataclass

from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.server.body import GenerationBody
from isotherm.server.sampling import choices, draw_seed


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as tokens, with the parameters it is continued with.

    hint: tokens before the first user message. text: as the caller wrote it, for `echo`. in_reasoning: whether the answer
    begins inside the model's reasoning.
    """

    tokens: tuple[int, ...]
    sampling: SamplingParams
    hint: int = 0
    text: str = ""
    in_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Choice i of prompt p is request p * n + i, which is also its index in the response. n: choices a prompt.

    arrived: time.perf_counter() when the body had been read. created: Unix seconds.
    """

    id: str
    arrived: float
    created: int
    model: str
    n: int
    prompts: tuple[Prompt, ...]
    requests: tuple[Request, ...]

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts, each counted once."""
        return sum(len(prompt.tokens) for prompt in self.prompts)

    def prompt(self, index: int) -> Prompt:
        """The prompt that the choice `index` continues."""
        return self.prompts[index // self.n]


def make_call(kind: str, arrived: float, model: str, body: GenerationBody, prompts: tuple[Prompt, ...]) -> Call:
    """kind: the prefix of the call's id. All choices share one seed, drawn here when the caller gave none."""
    call_id, n, seed = f"{kind}-{secrets.token_hex(16)}", choices(body), draw_seed(body)
    requests = tuple(
        Request(
            id=f"{call_id}-{place * n + choice}",
            prompt=prompt.tokens,
            sampling=prompt.sampling,
            seed=seed,
            choice=choice,
            hint=prompt.hint,
            cache_salt=body.cache_salt or "",
            skip_reading_prefix_cache=bool(body.skip_reading_prefix_cache),
            num_speculative_tokens=body.num_speculative_tokens,
        )
        for place, prompt in enumerate(prompts)
        for choice in range(n)
    )
    return Call(call_id, arrived, int(time.time()), model, n, prompts, requests)
