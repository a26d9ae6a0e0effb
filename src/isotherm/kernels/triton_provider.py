"""The Triton provider: kernels for CUDA devices. In Triton's interpreter it runs on the CPU, for tests of its logic."""

import hashlib
from pathlib import Path

import torch
import triton
from torch import Tensor

from isotherm.kernels.activation import triton_form as activation
from isotherm.kernels.api import Experts, Groups, Linear, RopeTable, Routing
from isotherm.kernels.attention import triton_form as attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution import triton_form as convolution
from isotherm.kernels.experts import triton_form as experts_t
from isotherm.kernels.gated_delta import triton_form as delta
from isotherm.kernels.gpu.launch import interpreted
from isotherm.kernels.gpu.upload import Upload
from isotherm.kernels.indexed import triton_form as indexed
from isotherm.kernels.linear import triton_form as linear
from isotherm.kernels.linear.tiles import load_table
from isotherm.kernels.ngram import device_form as ngram
from isotherm.kernels.ngram.torch_form import NgramHash
from isotherm.kernels.norm import triton_form as norm
from isotherm.kernels.rope import triton_form as rope
from isotherm.kernels.routing import triton_form as routing_t
from isotherm.kernels.sampling import triton_form as sampling
from isotherm.kernels.shift import triton_form as shift_t
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
from isotherm.kernels.streams import triton_form as streams_t
from isotherm.kernels.weight import Weight

_NO_BITS = ("bench.py", "tiles.py", "tune.py", "c.py", "torch_form.py")


def _source_hash() -> str:
    """Of what these kernels are made of. The tables of tiles change no bit."""
    root = Path(__file__).parent
    folders = sorted({path.parent for path in root.glob("*/triton_*.py")} | {root / "gpu"})
    digest = hashlib.sha256()
    for path in (path for folder in folders for path in sorted(folder.glob("*.py")) if path.name not in _NO_BITS):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class TritonKernels:
    """Every operation of `Kernels` and of `StreamKernels`, on one device. `threads` is held and not used."""

    def __init__(self, dtype: torch.dtype, device: torch.device, threads: int = 1):
        self.dtype = dtype
        self.device = device
        self.threads = threads
        self.upload = Upload(device)
        self.split = attention.SPLIT
        self.table = load_table("interpreter" if interpreted() else torch.cuda.get_device_name(device))

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits: the sources, Triton with the assembler that it brings, and the GPU's architecture."""
        architecture = "interpreter"
        if not interpreted():
            major, minor = torch.cuda.get_device_capability(self.device)
            architecture = f"sm_{major}{minor}"
        return {
            "kernels": "triton",
            "sources": _source_hash(),
            "compiler": f"triton {triton.__version__}",
            "isa": architecture,
            "vendor": "NVIDIA",
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    def placed(self, batch: Batch, tokens: Tensor) -> tuple[Batch, Tensor]:
        return self.upload.batch(batch, tokens)

    # weights

    def pack(self, weight: Weight) -> Linear:
        return linear.pack(self.dtype, weight, self.device)

    def pack_experts(self, weight: Weight) -> Experts:
        return experts_t.pack_experts(self.dtype, weight, self.device)

    def embed(self, tokens: Tensor, table: Linear) -> Tensor:
        return linear.embed(tokens, table)

    def linear(self, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
        return linear.linear(self.table, x, weight, residual)

    def logits(self, x: Tensor, weight: Linear) -> Tensor:
        return linear.logits(x, weight)

    # rows

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.rms_norm(x, weight, eps)

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.gated_rms_norm(x, gate, weight, eps)

    def silu_mul(self, gate_up: Tensor) -> Tensor:
        return activation.silu_mul(gate_up)

    def sigmoid_mul(self, x: Tensor, gate: Tensor) -> Tensor:
        return activation.sigmoid_mul(x, gate)

    # experts

    def route(self, logits: Tensor, k: int, renormalize: bool) -> Routing:
        return routing_t.route(logits, k, renormalize)

    def group(self, experts: Tensor, count: int) -> Groups:
        return routing_t.group(experts, count)

    def grouped_linear(self, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
        return experts_t.grouped_linear(x, experts, groups, gather)

    def combine(
        self,
        pairs: Tensor,
        routing: Routing,
        groups: Groups,
        shared: Tensor | None,
        shared_gate: Tensor | None,
        residual: Tensor,
    ) -> Tensor:
        return routing_t.combine(pairs, routing, groups, shared, shared_gate, residual)

    # operations over a sequence

    def conv_state(self, shape: ConvShape, slots: int, lanes: int) -> ConvState:
        return convolution.conv_state(self.dtype, shape, slots, lanes, self.device)

    def delta_state(self, shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
        return delta.delta_state(self.dtype, shape, slots, lanes, self.device)

    def kv_store(self, shape: KVShape, blocks: int) -> KVStore:
        return attention.kv_store(self.dtype, shape, blocks, self.device)

    def norm_rope(self, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
        return rope.norm_rope(x, weight, eps, positions, table)

    def causal_conv(self, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
        return convolution.causal_conv(batch, x, weight, state)

    def join(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.cat((a, b), dim=1)

    def shift(self, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
        return shift_t.shift(batch, x, state)

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
        return streams_t.stream_norm(x, weight, eps, streams)

    def stream_mix(self, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
        return streams_t.stream_mix(normed, gate, streams)

    def stream_add(self, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
        return streams_t.stream_add(x, y, gate)

    def scaled_silu(self, x: Tensor, divisor: int) -> Tensor:
        return streams_t.scaled_silu(x, divisor)

    def stream_gate(self, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
        return streams_t.stream_gate(key, query, value, streams)

    def stream_sum(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return streams_t.stream_sum(x, a, b)

    def sigmoid_gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        return norm.sigmoid_gated_rms_norm(x, gate, weight, eps)

    def ngram_state(self, order: int, slots: int, lanes: int) -> ConvState:
        return ngram.ngram_state(order, slots, lanes)

    def ngrams(self, batch: Batch, tokens: Tensor, hashing: NgramHash, state: ConvState) -> Tensor:
        return ngram.on_host(batch, tokens, hashing, state)

    def ngram_rows(
        self, batch: Batch, tokens: Tensor, hashing: NgramHash, table: NgramRows, state: ConvState
    ) -> Tensor:
        return ngram.ngram_rows(self.upload, batch, tokens, hashing, table, state)

    def indexed_store(self, kv: KVShape, index_shape: IndexShape, blocks: int) -> IndexedStore:
        return indexed.indexed_store(self.dtype, kv, index_shape, blocks, self.device)

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
        indexed.write_indexed(batch, k, v, index_key, weight, eps, table, store)

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

    def greedy(self, logits: Tensor) -> Tensor:
        """Each row's largest logit, ties to the lowest id, [R] int32; -1 where one is not finite. Waits for nothing."""
        ids, finite = sampling.greedy_rows(logits)
        return torch.where(finite, ids, -1)
