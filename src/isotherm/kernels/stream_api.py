"""Operations that only Flash-Next needs; as isotherm.kernels.api has the others, and under its rules."""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.ngram.torch_form import NgramHash
from isotherm.kernels.state import ConvState, IndexedStore, IndexShape, KVShape

if TYPE_CHECKING:
    from isotherm.kernels.api import RopeTable


class NgramRows(Protocol):
    """A table of n-gram embeddings, on the CPU wherever the model is."""

    def rows(self, places: Tensor) -> Tensor:
        """places [M, heads] int64 -> the heads' rows side by side, [M, heads * columns] in the activation type."""
        ...


@runtime_checkable
class StreamKernels(Protocol):
    """A row of streams is [S*H], one stream after the other. Formulas and rounding: isotherm.kernels.streams, ngram, indexed."""

    def stream_norm(self, x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
        """x [M, S*H], weight [S*H] float32 -> each stream after its RMS norm [M, S*H]."""
        ...

    def stream_mix(self, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
        """normed, gate [M, S*H] -> round(mean over streams of sigmoid(gate) * normed) [M, H]."""
        ...

    def stream_add(self, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
        """x [M, S*H], y [M, H], gate [M, S] -> round(x_s + y * 2 sigmoid(gate_s / S)) [M, S*H]."""
        ...

    def scaled_silu(self, x: Tensor, divisor: int) -> Tensor:
        """x [M, R] -> round(silu(x / divisor))."""
        ...

    def stream_gate(self, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
        """key, query [M, S*H], value [M, H] -> round(sigmoid(signed root of key_s . query_s / sqrt(H)) * value) [M, S*H]."""
        ...

    def stream_sum(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """round(x + (a + b)), all [M, S*H]."""
        ...

    def sigmoid_gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        """round(rms_norm(x) * weight * sigmoid(gate)) over each D columns; x, gate [M, H*D], weight [D] float32."""
        ...

    def ngram_state(self, order: int, slots: int, lanes: int) -> ConvState:
        """Storage for the order - 1 tokens before; slot 0 is an empty history."""
        ...

    def ngrams(self, batch: Batch, tokens: Tensor, hashing: NgramHash, state: ConvState) -> Tensor:
        """tokens [M] int32 -> places in the table [M, heads] int64. Keeps tokens in the lane; writes batch.write_slots."""
        ...

    def ngram_rows(
        self, batch: Batch, tokens: Tensor, hashing: NgramHash, table: NgramRows, state: ConvState
    ) -> Tensor:
        """table.rows(ngrams(batch, tokens, hashing, state)), where the model is."""
        ...

    def indexed_store(self, kv: KVShape, index_shape: IndexShape, blocks: int) -> IndexedStore:
        """Storage for one indexed attention layer."""
        ...

    def write_indexed(
        self,
        batch: Batch,
        k: Tensor,
        v: Tensor,
        index_key: Tensor,
        weight: Tensor,
        eps: float,
        table: "RopeTable",
        store: IndexedStore,
    ) -> None:
        """k, v [M, H*D] and raw index keys [M, DI] into the blocks of their positions; pools the groups that are complete.

        weight: [DI] float32 of the pooled keys' norm. table: rotates them. store.index.skip: 1 pools the first group without its
        first key.
        """
        ...

    def select(self, batch: Batch, q: Tensor, store: IndexedStore, most: int) -> Tensor:
        """q [M, heads*DI], normed and rotated -> which groups each row attends to, for `indexed_attention`.

        On the CPU [M, groups] uint8, groups beyond its own 0; on the GPU a list of blocks (isotherm.kernels.indexed).
        """
        ...

    def indexed_attention(self, batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float) -> Tensor:
        """Attention of q [M, Hq*D] over the keys of its chosen groups up to its own position. -> [M, Hq*D].

        store.index.skip: 1 leaves key 0 out for every row but the one at position 0.
        """
        ...
