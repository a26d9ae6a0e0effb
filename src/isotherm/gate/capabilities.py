"""What a server can give to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from isotherm.gate.answer import Answer


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Which parts of a response the run's reference server gave at least once.

    What is absent here is said once a run (`not_compared`) and held against nobody; what is present must be in every response.
    usage: counts of generated tokens. hints: POST /tokenize told where the first user message begins. policy: GET /version told
    the cache's policy, so that hits can be computed. tools: requests with tools are accepted.
    streaming: it was streamed. unnamed: responses in which some tokens have neither id nor log-probability, as llama.cpp's
    that end inside a character.
    """

    token_ids: bool = True
    prompt_ids: bool = True
    logprobs: bool = True
    cached_tokens: bool = True
    hints: bool = True
    policy: bool = True
    usage: bool = True
    tools: bool = True
    streaming: bool = True
    unnamed: int = 0

    @property
    def not_compared(self) -> tuple[str, ...]:
        """What could not be compared or checked, in words."""
        told = (
            (self.token_ids, "token ids: the server does not give them"),
            (self.prompt_ids, "prompt token ids: the server does not give them"),
            (self.logprobs, "log-probabilities: the server does not give them, so only what a user sees is compared"),
            (self.tools, "tool calls: the server refuses requests with tools, so they were sent without"),
            (
                self.cached_tokens,
                "hits: the server does not say cached_tokens, so nothing shows that its cache was used",
            ),
            (
                self.streaming,
                "time to first token: the server gives log-probabilities beside tools in whole responses only",
            ),
            (self.policy, "reach: the server does not say its cache's policy, so hits are shown and not checked"),
        )
        unnamed = (
            f"some tokens: in {self.unnamed} of the responses the server gives them neither ids nor log-probabilities"
        )
        return (*(words for present, words in told if not present), *([unnamed] if self.unnamed else []))


OURS = Capabilities()
"""Everything, as our own server gives."""


def seen(answers: Sequence[Answer], *, hints: bool, policy: bool, tools: bool, streaming: bool = True) -> Capabilities:
    """The capabilities that a server has shown in its answers."""
    whole = [answer for answer in answers if answer.error is None]
    return Capabilities(
        token_ids=any(answer.token_ids for answer in whole),
        prompt_ids=any(answer.prompt_ids for answer in whole),
        logprobs=any(answer.scores for answer in whole),
        cached_tokens=any(answer.cached_tokens is not None for answer in whole),
        hints=hints,
        policy=policy,
        usage=any(answer.completion_tokens for answer in whole),
        tools=tools,
        streaming=streaming,
        unnamed=sum(bool(answer.token_ids) and len(answer.token_ids) < answer.completion_tokens for answer in whole),
    )
