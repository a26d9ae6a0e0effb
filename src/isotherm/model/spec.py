"""What a checkpoint's config.json says about the text model, as one frozen value."""

from dataclasses import dataclass
from typing import Literal

from isotherm.kernels.state import DeltaShape, IndexShape, KVShape

Mixer = Literal["linear_attention", "full_attention", "indexed_attention"]
OutputGate = Literal["silu", "sigmoid"]


@dataclass(frozen=True, slots=True)
class RopeSpec:
    """Rotary positions: `rotary_dim` columns of a head are rotated; frequencies theta^(-2i/rotary_dim), times 1/factor."""

    theta: float
    rotary_dim: int
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class MoeSpec:
    """A sparse feed-forward: `experts` of width `intermediate`, `active` a token, and a shared expert (0 for none)."""

    experts: int
    active: int
    intermediate: int
    shared_intermediate: int
    renormalize: bool


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """Hyper-connections: `count` residual streams, mixed through `rank` columns."""

    count: int
    rank: int


@dataclass(frozen=True, slots=True)
class NgramSpec:
    """A layer's n-gram embedding: orders 2..`order`, `heads` of each, `dim` columns in all; the table is stored in `shards`.

    multipliers, sizes: of the hash, as isotherm.kernels.ngram has them. rows: of the table, padding included. end: token id.
    """

    order: int
    heads: int
    dim: int
    multipliers: tuple[int, ...]
    sizes: tuple[int, ...]
    rows: int
    shards: int
    end: int
    conv_width: int


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """The indexer of attention layers: query heads, key shape, and how many groups of keys a row may choose."""

    heads: int
    shape: IndexShape
    most: int


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One decoder layer: its token mixer, `moe` when its feed-forward is sparse, `ngram` when it has an n-gram embedding."""

    mixer: Mixer
    moe: MoeSpec | None
    ngram: NgramSpec | None = None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The text model of one checkpoint. Sizes are in elements, lengths in tokens.

    interleaved_projections: GDN projections are stored grouped by key head (qwen3_next), not one matrix a use.
    streams, index: of Flash-Next, None for the others. output_gate: the activation of GDN's gated norm.
    """

    kind: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    layers: tuple[LayerSpec, ...]
    query_heads: int
    kv: KVShape
    delta: DeltaShape
    conv_width: int
    norm_eps: float
    rope: RopeSpec
    max_positions: int
    tied_embeddings: bool
    interleaved_projections: bool
    streams: StreamSpec | None = None
    index: IndexSpec | None = None
    output_gate: OutputGate = "silu"

    @property
    def residual_size(self) -> int:
        """Columns of a hidden row: all residual streams side by side."""
        return self.hidden_size * (1 if self.streams is None else self.streams.count)

    @property
    def conv_channels(self) -> int:
        """Columns of the convolution: q, k and v side by side."""
        delta = self.delta
        return 2 * delta.key_heads * delta.key_dim + delta.value_heads * delta.value_dim

    @property
    def delta_layers(self) -> int:
        """How many layers are recurrent."""
        return sum(layer.mixer == "linear_attention" for layer in self.layers)

    @property
    def attention_layers(self) -> int:
        """How many layers keep keys and values."""
        return len(self.layers) - self.delta_layers
