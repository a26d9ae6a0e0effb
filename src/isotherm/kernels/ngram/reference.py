"""Hashed n-grams of a whole sequence, in Python's integers."""

from collections.abc import Sequence

from isotherm.kernels.ngram.torch_form import NgramHash


def ngrams(tokens: Sequence[int], hashing: NgramHash) -> list[list[int]]:
    """The places of every token, one a head."""
    rows = []
    for t in range(len(tokens)):
        mixed, row, token = tokens[t] * hashing.multipliers[0], [], tokens[t]
        for k in range(1, len(hashing.multipliers)):
            reset = k > 1 and token == hashing.end
            token = tokens[t - k] if t - k >= 0 and not reset else hashing.end
            mixed ^= token * hashing.multipliers[k]
            heads = range((k - 1) * hashing.heads, k * hashing.heads)
            row += [mixed % hashing.sizes[head] + hashing.offsets[head] for head in heads]
        rows.append(row)
    return rows
