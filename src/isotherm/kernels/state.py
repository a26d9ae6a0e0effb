"""Where state lives: tensors by name, indexed by block, slot or lane in their first dimension.

What the other dimensions mean is the provider's affair. Whoever owns the tensors may copy, hash or poison a whole block, slot
or lane without knowing.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class ConvShape:
    """A depthwise causal convolution: channels, taps (width), and how far apart the taps are."""

    channels: int
    width: int
    dilation: int = 1

    @property
    def history(self) -> int:
        """Inputs before a position that its output reads."""
        return (self.width - 1) * self.dilation


@dataclass(frozen=True, slots=True)
class DeltaShape:
    """A gated delta rule layer: head counts and head dimensions."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True)
class KVShape:
    """An attention layer's cache: key-value heads and head dimension."""

    heads: int
    dim: int


@dataclass(frozen=True, slots=True)
class IndexShape:
    """An attention layer's index: dimension of a key, and tokens a pooled key stands for; they divide 64.

    skip: 1 leaves token 0 out of its group's pooled key, and its key out for every row but its own; the ratio is then at least 2.
    """

    dim: int
    ratio: int
    skip: int = 0


@dataclass(frozen=True, slots=True)
class ConvState:
    """history: [slots, shape.history, channels] inputs before a boundary, oldest first. rows: [lanes, 64, channels] since it."""

    shape: ConvShape
    history: Tensor
    rows: Tensor


@dataclass(frozen=True, slots=True)
class DeltaState:
    """state: [slots, ...] float32, the recurrent state at a boundary. rows: what the canonical form keeps a token since it,
    each [lanes, ...]."""

    shape: DeltaShape
    state: Tensor
    rows: dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class KVStore:
    """k, v: [blocks, ...] the rounded keys and values of 64 tokens a block."""

    shape: KVShape
    k: Tensor
    v: Tensor


@dataclass(frozen=True, slots=True)
class IndexedStore:
    """As KVStore, with an index: keys [blocks, ...] a raw key a token, pooled [blocks, ...] a key for `index.ratio` tokens."""

    kv: KVShape
    index: IndexShape
    k: Tensor
    v: Tensor
    keys: Tensor
    pooled: Tensor
