"""The torch provider: exact without a compiler, slower, and with other bits than the C provider."""

import hashlib
from pathlib import Path

import torch
from torch import Tensor

from isotherm.kernels.activation import torch_form as activation
from isotherm.kernels.api import Experts, Groups, Linear, RopeTable, Routing
from isotherm.kernels.attention import torch_form as attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution import torch_form as convolution
from isotherm.kernels.experts import torch_form as experts_t
from isotherm.kernels.gated_delta import torch_form as delta
from isotherm.kernels.indexed import store as index
from isotherm.kernels.indexed import torch_form as indexed
from isotherm.kernels.linear import torch_form as linear
from isotherm.kernels.ngram import torch_form as ngram
from isotherm.kernels.norm import torch_form as norm
from isotherm.kernels.rope import torch_form as rope
from isotherm.kernels.routing import torch_form as routing_t
from isotherm.kernels.routing.group import group
from isotherm.kernels.sampling import torch_form as sampling
from isotherm.kernels.shift.torch_form import shift
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
from isotherm.kernels.streams import torch_form as streams_t
from isotherm.kernels.weight import Weight


def _source_hash() -> str:
    root = Path(__file__).parent
    digest = hashlib.sha256()
    shared = (
        *(root / name for name in ("fixed.py", "segments.py", "weight.py")),
        root / "sampling" / "noise.py",
        root / "indexed" / "store.py",
    )
    for path in sorted((*root.glob("*/torch_form.py"), *root.glob("*/reference.py"), *shared)):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class TorchKernels:
    """Every operation of `Kernels` in torch, in calls of one fixed shape within one thread. `threads` is held and not used."""

    def __init__(self, dtype: torch.dtype, threads: int):
        self.dtype = dtype
        self.threads = threads
        self.device = torch.device("cpu")

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits: torch's own build and the instruction set that it chose."""
        return {
            "kernels": "torch",
            "sources": _source_hash(),
            "compiler": "none",
            "isa": torch.backends.cpu.get_cpu_capability(),
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    def placed(self, batch: Batch, tokens: Tensor) -> tuple[Batch, Tensor]:
        return batch, tokens

    # weights

    def pack(self, weight: Weight) -> Linear:
        return linear.pack(self.dtype, weight)

    def pack_experts(self, weight: Weight) -> Experts:
        return experts_t.pack_experts(self.dtype, weight)

    def embed(self, tokens: Tensor, table: Linear) -> Tensor:
        return linear.embed(self.dtype, tokens, table)

    def linear(self, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
        return linear.linear(self.dtype, x, weight, residual)

    def logits(self, x: Tensor, weight: Linear) -> Tensor:
        return linear.logits(x, weight)

    # rows

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.rms_norm(self.dtype, x, weight, eps)

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.gated_rms_norm(self.dtype, x, gate, weight, eps)

    def silu_mul(self, gate_up: Tensor) -> Tensor:
        return activation.silu_mul(self.dtype, gate_up)

    def sigmoid_mul(self, x: Tensor, gate: Tensor) -> Tensor:
        return activation.sigmoid_mul(self.dtype, x, gate)

    # experts

    def route(self, logits: Tensor, k: int, renormalize: bool) -> Routing:
        return routing_t.route(logits, k, renormalize)

    def group(self, experts: Tensor, count: int) -> Groups:
        return group(experts, count)

    def grouped_linear(self, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
        return experts_t.grouped_linear(self.dtype, x, experts, groups, gather)

    def combine(
        self,
        pairs: Tensor,
        routing: Routing,
        groups: Groups,
        shared: Tensor | None,
        shared_gate: Tensor | None,
        residual: Tensor,
    ) -> Tensor:
        return routing_t.combine(self.dtype, pairs, routing, groups, shared, shared_gate, residual)

    # operations over a sequence

    def conv_state(self, shape: ConvShape, slots: int, lanes: int) -> ConvState:
        return convolution.conv_state(self.dtype, shape, slots, lanes)

    def delta_state(self, shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
        return delta.delta_state(shape, slots, lanes)

    def kv_store(self, shape: KVShape, blocks: int) -> KVStore:
        return attention.kv_store(self.dtype, shape, blocks)

    def norm_rope(self, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
        return rope.norm_rope(x, weight, eps, positions, table)

    def causal_conv(self, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
        return convolution.causal_conv(batch, x, weight, state)

    def join(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.cat((a, b), dim=1)

    def shift(self, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
        return shift(batch, x, state)

    def gated_delta(
        self, batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
    ) -> Tensor:
        return delta.gated_delta(batch, qkv, b, a, decay, dt_bias, state)

    def write_kv(self, batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
        attention.write_kv(batch, k, v, store)

    def attention(self, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
        return attention.attention(batch, q, store, scale, skip)

    # residual streams, n-grams, indexed attention

    def stream_norm(self, x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
        return streams_t.stream_norm(self.dtype, x, weight, eps, streams)

    def stream_mix(self, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
        return streams_t.stream_mix(self.dtype, normed, gate, streams)

    def stream_add(self, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
        return streams_t.stream_add(self.dtype, x, y, gate)

    def scaled_silu(self, x: Tensor, divisor: int) -> Tensor:
        return streams_t.scaled_silu(self.dtype, x, divisor)

    def stream_gate(self, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
        return streams_t.stream_gate(self.dtype, key, query, value, streams)

    def stream_sum(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return streams_t.stream_sum(self.dtype, x, a, b)

    def sigmoid_gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.sigmoid_gated_rms_norm(self.dtype, x, gate, weight, eps)

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
        return indexed.select(batch, q, store, most)

    def indexed_attention(self, batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float) -> Tensor:
        return indexed.indexed_attention(batch, q, store, chosen, scale)

    # the choice of a token

    def log_sum_exp(self, logits: Tensor) -> Tensor:
        return sampling.log_sum_exp(logits)

    def top(self, logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return sampling.top(logits, k)

    def sample(
        self, logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
    ) -> int:
        return sampling.sample(logits, temperature, top_k, top_p, min_p, key)
