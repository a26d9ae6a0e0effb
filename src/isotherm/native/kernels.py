"""The native kernel set: every operation by torch, in the shape that a pass happens to have."""

import hashlib
import os
from pathlib import Path

import torch
from torch import Tensor

from isotherm.core.numerics import NativeConfig, ReplayKernel
from isotherm.kernels.api import Experts, Groups, Linear, RopeTable, Routing
from isotherm.kernels.batch import Batch
from isotherm.kernels.routing.group import group
from isotherm.kernels.sampling import torch_form as sampling
from isotherm.kernels.shift.torch_form import shift
from isotherm.kernels.state import ConvShape, ConvState, DeltaShape, DeltaState, KVShape, KVStore
from isotherm.kernels.weight import Weight, dequantized
from isotherm.native import activation, attention, convolution, gated_delta, linear, mixture, norm


def native_kernels(config: NativeConfig, threads: int, drafts: int = 0) -> "NativeKernels":
    """The kernel set on so many of torch's threads, 0 for one a core. The number is torch's own, of the whole process."""
    count = threads or len(os.sched_getaffinity(0))
    torch.set_num_threads(count)
    return NativeKernels(count, config.replay, drafts)


def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class NativeKernels:
    """Every operation of `Kernels`, in bfloat16. Bits follow the number of rows, the segments and the threads.

    replay: the kernel of the delta rule's rows between a snapshot and the match. drafts: the most that a segment may have.
    """

    def __init__(self, threads: int, replay: ReplayKernel = "chunked", drafts: int = 0):
        self.dtype = linear.DTYPE
        self.threads = threads
        self.device = torch.device("cpu")
        self.replay: ReplayKernel = replay
        self.drafts = drafts

    def fingerprint(self) -> dict[str, str]:
        """What fixes the bits of one pass; how a sequence is cut into passes is not in it."""
        return {
            "numerics": "native",
            "kernels": "torch operators",
            "sources": _source_hash(),
            "compiler": "none",
            "isa": torch.backends.cpu.get_cpu_capability(),
            "threads": str(self.threads),
            "dtype": str(self.dtype).removeprefix("torch."),
            "torch": torch.__version__,
        }

    def placed(self, batch: Batch, tokens: Tensor) -> tuple[Batch, Tensor]:
        return batch, tokens

    # weights

    def pack(self, weight: Weight) -> Linear:
        return linear.pack(dequantized(weight))

    def pack_experts(self, weight: Weight) -> Experts:
        return mixture.pack_experts(dequantized(weight))

    def embed(self, tokens: Tensor, table: Linear) -> Tensor:
        return linear.embed(tokens, table)

    def linear(self, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
        return linear.linear(x, weight, residual)

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
        return mixture.route(logits, k, renormalize)

    def group(self, experts: Tensor, count: int) -> Groups:
        return group(experts, count)

    def grouped_linear(self, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
        return mixture.grouped_linear(x, experts, groups, gather)

    def combine(
        self,
        pairs: Tensor,
        routing: Routing,
        groups: Groups,
        shared: Tensor | None,
        shared_gate: Tensor | None,
        residual: Tensor,
    ) -> Tensor:
        return mixture.combine(pairs, routing, groups, shared, shared_gate, residual)

    # operations over a sequence

    def conv_state(self, shape: ConvShape, slots: int, lanes: int) -> ConvState:
        return convolution.conv_state(shape, slots, lanes, self.drafts)

    def delta_state(self, shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
        return gated_delta.delta_state(shape, slots, lanes, self.drafts)

    def kv_store(self, shape: KVShape, blocks: int) -> KVStore:
        return attention.kv_store(shape, blocks)

    def norm_rope(self, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
        places = positions.long()
        return norm.rotated(x, weight, eps, table.cos[places], table.sin[places])

    def causal_conv(self, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
        return convolution.causal_conv(batch, x, weight, state)

    def join(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.cat((a, b), dim=1)

    def shift(self, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
        return shift(batch, x, state)

    def gated_delta(
        self, batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
    ) -> Tensor:
        return gated_delta.gated_delta(batch, qkv, b, a, decay, dt_bias, state, self.replay)

    def write_kv(self, batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
        attention.write_kv(batch, k, v, store)

    def attention(self, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
        assert not skip, "a drafter's attention is DrafterKernels'"
        return attention.attention(batch, q, store, scale)

    # the choice of a token: not what this mode is about, so torch's form of exact mode's

    def log_sum_exp(self, logits: Tensor) -> Tensor:
        return torch.logsumexp(logits, dim=-1)

    def top(self, logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return sampling.top(logits, k)

    def sample(
        self, logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
    ) -> int:
        if temperature == 0:
            return int(torch.argmax(logits))
        return sampling.sample(logits, temperature, top_k, top_p, min_p, key)
