"""Token counts of one call."""

from typing import Any

from isotherm.core.request import Output
from isotherm.server.call import Call


class Usage:
    """Counts as outputs arrive.

    prompt: each prompt once. cached: prompt tokens skipped by choice 0 of each prompt. generated: over all choices, every
    token that was generated, the one that ended a choice included. guessed: those of them that were drafts first.
    """

    def __init__(self, call: Call):
        self._n = call.n
        self.prompt = call.prompt_tokens
        self.cached = 0
        self.generated = 0
        self.guessed = 0

    def read(self, index: int, output: Output) -> None:
        """Count an output of choice `index`."""
        self.generated += len(output.tokens)
        self.guessed += output.guessed
        if output.cached_tokens and index % self._n == 0:
            self.cached += output.cached_tokens

    def body(self) -> dict[str, Any]:
        """OpenAI's `usage`."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.generated,
            "total_tokens": self.prompt + self.generated,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"accepted_prediction_tokens": self.guessed},
        }
