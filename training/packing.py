"""Batches of packed conversations. A batch is a function of (seed, number) alone, so workers and resumed runs agree."""

import random
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import Dataset

from training.conversation import conversation
from training.delta_rule import CHUNK
from training.scene import Scene
from training.template import EMBEDDED, pieces

PROMPT_WEIGHT = 0.08
"""What a prompt's token counts in the loss, against 1 for what the assistant writes."""


@dataclass
class Batch:
    """tokens, position, document int64 [B, T]; weight float32 [B, T], of each token as a target; fresh bool [B, T/64].

    A document begins on a multiple of 64; padding has weight 0 and is a document of its own kind only in that nothing reads it.
    """

    tokens: Tensor
    weight: Tensor
    document: Tensor
    position: Tensor
    fresh: Tensor

    def to(self, device: str) -> "Batch":
        """The batch on a device, copied without waiting."""
        return Batch(*(getattr(self, f.name).to(device, non_blocking=True) for f in fields(self)))


@cache
def load_tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))


def encode(scene: Scene) -> tuple[list[int], list[float]]:
    """A conversation's tokens and their weights."""
    tokens: list[int] = []
    weights: list[float] = []
    parts = pieces(scene.messages, scene.schemas)
    for encoding, (_, written) in zip(
        load_tokenizer().encode_batch([text for text, _ in parts], add_special_tokens=False), parts, strict=True
    ):
        tokens += encoding.ids
        weights += [1.0 if written else PROMPT_WEIGHT] * len(encoding.ids)
    return tokens, weights


class Row:
    """A row being filled."""

    def __init__(self, length: int) -> None:
        self.tokens = np.zeros(length, np.int64)
        self.weight = np.zeros(length, np.float32)
        self.document = np.zeros(length, np.int64)
        self.position = np.zeros(length, np.int64)
        self.used = 0
        self.count = 0

    def add(self, tokens: list[int], weights: list[float]) -> None:
        """Append a document, padded to a multiple of 64."""
        start, end = self.used, self.used + len(tokens)
        self.used += -(-len(tokens) // CHUNK) * CHUNK
        self.tokens[start:end], self.weight[start:end] = tokens, weights
        self.weight[start] = 0.0
        self.document[start : self.used] = self.count
        self.position[start : self.used] = np.arange(self.used - start)
        self.count += 1


def stack(rows: list[Row]) -> Batch:
    """The batch of filled rows; what is left of a row is one more document."""
    for row in rows:
        row.document[row.used :] = row.count
        row.position[row.used :] = np.arange(len(row.tokens) - row.used)
    position = np.stack([row.position for row in rows])
    return Batch(
        torch.from_numpy(np.stack([row.tokens for row in rows])),
        torch.from_numpy(np.stack([row.weight for row in rows])),
        torch.from_numpy(np.stack([row.document for row in rows])),
        torch.from_numpy(position),
        torch.from_numpy(position[:, ::CHUNK] == 0),
    )


def make_batch(seed: int, number: int, rows: int, length: int, long_share: float) -> Batch:
    """Conversations packed into rows; a share of the rows begins with a long document.

    Filling ends when sixteen conversations found no room.
    """
    rng = random.Random(f"{seed}/{number}")
    made = [Row(length) for _ in range(rows)]
    for row in made:
        if rng.random() < long_share:
            tokens, weights = encode(conversation(seed, rng.getrandbits(40), long=True))
            if len(tokens) <= length:
                row.add(tokens, weights)
    misses = 0
    while misses < 16:
        tokens, weights = encode(conversation(seed, rng.getrandbits(40)))
        size = -(-len(tokens) // CHUNK) * CHUNK
        room = [row for row in made if length - row.used >= size]
        if room:
            min(room, key=lambda row: row.used).add(tokens, weights)
        else:
            misses += 1
    return stack(made)


@dataclass
class Plan(Dataset[Batch]):
    """Which batches a run sees; long documents come from batch `long_from` on."""

    seed: int
    steps: int
    rows: int
    length: int
    long_share: float
    long_from: int

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, number: int) -> Batch:
        torch.set_num_threads(1)
        return make_batch(
            self.seed, number, self.rows, self.length, self.long_share if number >= self.long_from else 0.0
        )
