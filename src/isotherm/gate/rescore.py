"""Is a generated token's log-probability the one that a single prefill over the whole sequence gives it?"""

from collections.abc import Iterator
from typing import Any

from isotherm.gate.answer import Answer, TokenScore, float32_bits
from isotherm.gate.compare import Comparison, Difference, score_difference

TOP = 20


def compare_rescored(sampled: Answer, scored: list[Any]) -> Comparison:
    """Compare the scores a sequence was sampled with to `scored`, the `prompt_logprobs` of its prompt and tokens together.

    scored: one entry a position, {token id: {logprob, rank, decoded_token}}; the first is null. Chosen tokens are compared by
    id and bits; the likeliest, which a chat response names by text only, by bits in order of rank.
    """
    return Comparison(tuple(_differences(sampled, scored)))


def _differences(sampled: Answer, scored: list[Any]) -> Iterator[Difference]:
    wanted = len(sampled.prompt_ids) + len(sampled.token_ids)
    if len(scored) != wanted:
        yield Difference("missing", "prompt_logprobs", f"{wanted} entries", f"{len(scored)} entries")
        return
    entries = scored[len(sampled.prompt_ids) :]
    for place, (token, expected, entry) in enumerate(zip(sampled.token_ids, sampled.scores, entries, strict=False)):
        if str(token) not in (entry or {}):
            yield Difference("missing", "prompt_logprobs", f"an entry for token {token}", "none", place)
            return
        actual = _score(entry, token, len(expected.top))
        if difference := score_difference(expected, actual, place, by_name=False):
            yield difference
            return


def _score(entry: dict[str, Any], token: int, top: int) -> TokenScore:
    likeliest = sorted(entry.values(), key=lambda value: value["rank"])[:top]
    pairs = tuple((str(value.get("decoded_token")), float32_bits(value["logprob"])) for value in likeliest)
    chosen = entry[str(token)]
    return TokenScore(str(chosen.get("decoded_token")), float32_bits(chosen["logprob"]), pairs)
