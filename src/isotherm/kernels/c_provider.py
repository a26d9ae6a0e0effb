"""The C provider: kernels compiled for this processor."""

import torch
from torch import Tensor

from isotherm.kernels.activation import c as activation
from isotherm.kernels.api import Experts, Groups, Linear, RopeTable, Routing
from isotherm.kernels.attention import c as attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution import c as convolution
from isotherm.kernels.experts import c as experts_c
from isotherm.kernels.gated_delta import c as delta
from isotherm.kernels.indexed import c as indexed
from isotherm.kernels.indexed import store as index
from isotherm.kernels.join.c import join
from isotherm.kernels.linear import c as linear
from isotherm.kernels.native.library import Library
from isotherm.kernels.ngram import torch_form as ngram
from isotherm.kernels.norm import c as norm
from isotherm.kernels.rope import c as rope
from isotherm.kernels.routing import c as routing_c
from isotherm.kernels.routing.group import group
from isotherm.kernels.sampling import c as sampling
from isotherm.kernels.shift.c import shift
from isotherm.kernels.state import (
    ConvShape,
    ConvState,
    DeltaShape,
    DeltaState,
    IndexedStore,
    IndexShape,
    KVShape,
    KVStore,
)
from isotherm.kernels.stream_api import NgramRows
from isotherm.kernels.streams import c as streams_c
from isotherm.kernels.weight import Weight


class CKernels:
    """Every operation of `Kernels` in C. `native` holds the library, the activation dtype and the number of threads."""

    def __init__(self, native: Library):
        self.native = native
        self.dtype = native.dtype
        self.threads = native.threads
        self.device = torch.device("cpu")

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits. The number of threads does not."""
        build = self.native.build
        return {
            "kernels": "c",
            "sources": build.sources,
            "compiler": build.compiler,
            "flags": build.flags,
            "isa": build.isa,
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    def placed(self, batch: Batch, tokens: Tensor) -> tuple[Batch, Tensor]:
        return batch, tokens

    # weights

    def pack(self, weight: Weight) -> Linear:
        return linear.pack(self.native, weight)

    def pack_experts(self, weight: Weight) -> Experts:
        return experts_c.pack_experts(self.native, weight)

    def embed(self, tokens: Tensor, table: Linear) -> Tensor:
        return linear.embed(self.native, tokens, table)

    def linear(self, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
        return linear.linear(self.native, x, weight, residual)

    def logits(self, x: Tensor, weight: Linear) -> Tensor:
        return linear.logits(self.native, x, weight)

    # rows

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.rms_norm(self.native, x, weight, eps)

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.gated_rms_norm(self.native, x, gate, weight, eps)

    def silu_mul(self, gate_up: Tensor) -> Tensor:
        return activation.silu_mul(self.native, gate_up)

    def sigmoid_mul(self, x: Tensor, gate: Tensor) -> Tensor:
        return activation.sigmoid_mul(self.native, x, gate)

    # experts

    def route(self, logits: Tensor, k: int, renormalize: bool) -> Routing:
        return routing_c.route(self.native, logits, k, renormalize)

    def group(self, experts: Tensor, count: int) -> Groups:
        return group(experts, count)

    def grouped_linear(self, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
        return experts_c.grouped_linear(self.native, x, experts, groups, gather)

    def combine(
        self,
        pairs: Tensor,
        routing: Routing,
        groups: Groups,
        shared: Tensor | None,
        shared_gate: Tensor | None,
        residual: Tensor,
    ) -> Tensor:
        return routing_c.combine(self.native, pairs, routing, groups, shared, shared_gate, residual)

    # operations over a sequence

    def conv_state(self, shape: ConvShape, slots: int, lanes: int) -> ConvState:
        return convolution.conv_state(self.dtype, shape, slots, lanes)

    def delta_state(self, shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
        return delta.delta_state(shape, slots, lanes)

    def kv_store(self, shape: KVShape, blocks: int) -> KVStore:
        return attention.kv_store(self.native, shape, blocks)

    def norm_rope(self, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
        return rope.norm_rope(self.native, x, weight, eps, positions, table)

    def causal_conv(self, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
        return convolution.causal_conv(self.native, batch, x, weight, state)

    def join(self, a: Tensor, b: Tensor) -> Tensor:
        return join(self.native, a, b)

    def shift(self, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
        return shift(self.native, batch, x, state)

    def gated_delta(
        self, batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
    ) -> Tensor:
        return delta.gated_delta(self.native, batch, qkv, b, a, decay, dt_bias, state)

    def write_kv(self, batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
        attention.write_kv(self.native, batch, k, v, store)

    def attention(self, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
        return attention.attention(self.native, batch, q, store, scale, skip)

    # residual streams, n-grams, indexed attention

    def stream_norm(self, x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
        return streams_c.stream_norm(self.native, x, weight, eps, streams)

    def stream_mix(self, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
        return streams_c.stream_mix(self.native, normed, gate, streams)

    def stream_add(self, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
        return streams_c.stream_add(self.native, x, y, gate)

    def scaled_silu(self, x: Tensor, divisor: int) -> Tensor:
        return streams_c.scaled_silu(self.native, x, divisor)

    def stream_gate(self, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
        return streams_c.stream_gate(self.native, key, query, value, streams)

    def stream_sum(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return streams_c.stream_sum(self.native, x, a, b)

    def sigmoid_gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.sigmoid_gated_rms_norm(self.native, x, gate, weight, eps)

    def ngram_state(self, order: int, slots: int, lanes: int) -> ConvState:
        return ngram.ngram_state(order, slots, lanes)

    def ngrams(self, batch: Batch, tokens: Tensor, hashing: ngram.NgramHash, state: ConvState) -> Tensor:
        return ngram.ngrams(batch, tokens, hashing, state)

    def ngram_rows(
        self, batch: Batch, tokens: Tensor, hashing: ngram.NgramHash, table: NgramRows, state: ConvState
    ) -> Tensor:
        return table.rows(self.ngrams(batch, tokens, hashing, state))

    def indexed_store(self, kv: KVShape, index_shape: IndexShape, blocks: int) -> IndexedStore:
        return index.indexed_store(self.dtype, kv, index_shape, blocks)

    def write_indexed(
        self,
        batch: Batch,
        k: Tensor,
        v: Tensor,
        index_key: Tensor,
        weight: Tensor,
        eps: float,
        table: RopeTable,
        store: IndexedStore,
    ) -> None:
        index.write_indexed(self.norm_rope, batch, k, v, index_key, weight, eps, table, store)

    def select(self, batch: Batch, q: Tensor, store: IndexedStore, most: int) -> Tensor:
        return indexed.select(self.native, batch, q, store, most)

    def indexed_attention(self, batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float) -> Tensor:
        return indexed.indexed_attention(self.native, batch, q, store, chosen, scale)

    # the choice of a token

    def log_sum_exp(self, logits: Tensor) -> Tensor:
        return sampling.log_sum_exp(self.native, logits)

    def top(self, logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return sampling.top(self.native, logits, k)

    def sample(
        self, logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
    ) -> int:
        return sampling.sample(self.native, logits, temperature, top_k, top_p, min_p, key)

    def choose(self, logits: Tensor, choices: Tensor) -> Tensor:
        """logits [R, V], choices as sampling.c.as_tensor gives them -> [R] int32: see sampling.c.choose."""
        return sampling.choose(self.native, logits, choices)
