"""The seam between models and arithmetic: one protocol, a provider for each way to compute it.

Every operation obeys the contract: a row of the result depends on that row's inputs and on earlier positions of its own
sequence only. M is the number of rows of a pass; `dtype` is the provider's activation type (bfloat16 or float32). Tensors are
on `device`. Matrices are [rows, columns] with unit column stride; any row stride is accepted for inputs, so a column range of a
fused projection is an argument like any other. Results are fresh contiguous tensors.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.state import ConvShape, ConvState, DeltaShape, DeltaState, KVShape, KVStore
from isotherm.kernels.stream_api import StreamKernels
from isotherm.kernels.weight import Weight


@dataclass(frozen=True, slots=True)
class Linear:
    """A weight [N, K] in the provider's own packing."""

    n: int
    k: int
    data: Tensor


@dataclass(frozen=True, slots=True)
class Experts:
    """E weights [N, K] in the provider's own packing."""

    e: int
    n: int
    k: int
    data: Tensor


@dataclass(frozen=True, slots=True)
class Routing:
    """experts: [M, k] int32, ascending ids in each row. weights: [M, k] float32."""

    experts: Tensor
    weights: Tensor


@dataclass(frozen=True, slots=True)
class Groups:
    """The M*k (row, expert) pairs sorted by expert, rows ascending within one.

    rows: [P] int32 which row a pair reads. offsets: [E+1] int32 each expert's first pair. places: [M, k] int32 where a row's
    pairs went, in its routing's order.
    """

    rows: Tensor
    offsets: Tensor
    places: Tensor


@dataclass(frozen=True, slots=True)
class RopeTable:
    """cos, sin: float32 [positions, rotary_dim/2]; rotates the first rotary_dim columns of a head in halves."""

    cos: Tensor
    sin: Tensor


class Kernels(StreamKernels, Protocol):
    """One provider. Weights are packed once, at load; nothing is chosen or tuned at run time."""

    dtype: torch.dtype
    threads: int
    device: torch.device

    def fingerprint(self) -> dict[str, str]:
        """What fixes this provider's bits: name, source hash, compiler, flags, instruction set, dtype."""
        ...

    def placed(self, batch: Batch, tokens: Tensor) -> tuple[Batch, Tensor]:
        """A batch and its tokens [M] int32, both as laid out on the CPU, where the kernels read them."""
        ...

    def pack(self, weight: Weight) -> Linear:
        """weight [N, K], any float dtype, rounded to `dtype`; or FP8, which `linear` and `logits` dequantise in their tiles."""
        ...

    def pack_experts(self, weight: Weight) -> Experts:
        """weight [E, N, K], as `pack` takes it."""
        ...

    def conv_state(self, shape: ConvShape, slots: int, lanes: int) -> ConvState:
        """Storage for one convolution; slot 0 is zeros."""
        ...

    def delta_state(self, shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
        """Storage for one gated delta rule layer; slot 0 is zeros."""
        ...

    def kv_store(self, shape: KVShape, blocks: int) -> KVStore:
        """Storage for one attention layer."""
        ...

    def embed(self, tokens: Tensor, table: Linear) -> Tensor:
        """tokens [M] int32 -> [M, K] `dtype`, rows of the table."""
        ...

    def linear(self, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
        """x [M, K] `dtype` -> round(residual + x W^T) [M, N] `dtype`; one float32 accumulator an output over ascending k."""
        ...

    def logits(self, x: Tensor, weight: Linear) -> Tensor:
        """x [M, K] `dtype` -> x W^T [M, N] float32, not rounded."""
        ...

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """round(x / sqrt(mean(x^2) + eps) * weight); x [M, D], weight [D] float32 -> [M, D]."""
        ...

    def gated_rms_norm(self, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
        """round(rms_norm(x) * weight * silu(gate)) over each D columns; x, gate [M, H*D], weight [D] float32."""
        ...

    def silu_mul(self, gate_up: Tensor) -> Tensor:
        """gate_up [M, 2I] -> round(silu(gate) * up) [M, I]."""
        ...

    def sigmoid_mul(self, x: Tensor, gate: Tensor) -> Tensor:
        """x, gate [M, D] -> round(x * sigmoid(gate))."""
        ...

    def norm_rope(self, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
        """x [M, H*D], weight [D] float32, positions [M] -> per-head RMS norm, then rotation, rounded once. [M, H*D]."""
        ...

    def causal_conv(self, batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
        """round(silu(depthwise causal convolution)); x [M, channels], weight [channels, width] float32 -> [M, channels].

        Taps are state.shape.dilation positions apart.
        Reads history from the lane and the segment's slot; keeps the inputs in the lane, and writes batch.write_slots.
        """
        ...

    def join(self, a: Tensor, b: Tensor) -> Tensor:
        """a [M, A], b [M, B] -> side by side [M, A+B]."""
        ...

    def shift(self, batch: Batch, x: Tensor, state: ConvState) -> Tensor:
        """x [M, channels] -> each row's predecessor in its sequence, zeros for position 0. state: of width 2, kept as a
        convolution's is."""
        ...

    def gated_delta(
        self, batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
    ) -> Tensor:
        """Gated delta rule. qkv [M, 2*Hk*DK + Hv*DV], b and a [M, Hv]; decay [Hv] float32 is -exp(A_log), dt_bias [Hv] float32.

        beta = sigmoid(b), g = decay * softplus(a + dt_bias); q and k are L2-normalised (eps 1e-6), q scaled by DK^-0.5.
        Value head h reads key head h // (Hv/Hk). Keeps rows in the lane; writes batch.write_slots. -> [M, Hv*DV].
        """
        ...

    def write_kv(self, batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
        """k, v [M, H*D] `dtype` into the blocks of their positions."""
        ...

    def attention(self, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
        """Causal attention of q [M, Hq*D] over the blocks, positions 0..t for the row at t. -> [M, Hq*D].

        Query head h reads key-value head h // (Hq/H). skip: 1 leaves key 0 out for every row but the one at position 0.
        """
        ...

    def route(self, logits: Tensor, k: int, renormalize: bool) -> Routing:
        """Softmax of logits [M, E] float32, the k likeliest experts (ties to the lower id), optionally renormalised."""
        ...

    def group(self, experts: Tensor, count: int) -> Groups:
        """experts [M, k] int32, each below `count` -> the M*k pairs sorted by expert, rows ascending within one."""
        ...

    def grouped_linear(self, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
        """Pair p times its expert's weight; x is [M, K] read through groups.rows if `gather`, else [P, K]. -> [P, N] `dtype`."""
        ...

    def combine(
        self,
        pairs: Tensor,
        routing: Routing,
        groups: Groups,
        shared: Tensor | None,
        shared_gate: Tensor | None,
        residual: Tensor,
    ) -> Tensor:
        """round(residual + (sum over ascending experts of weight * pair) + sigmoid(shared_gate) * shared), in float32.

        pairs [P, N] `dtype`, shared and residual [M, N] `dtype`, shared_gate [M, 1] `dtype`.
        """
        ...

    def log_sum_exp(self, logits: Tensor) -> Tensor:
        """logits [R, V] float32 -> [R] float32, summed in one fixed order."""
        ...

    def top(self, logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """The k largest of each row of [R, V], largest first, ties to the lower id -> ids int32 [R, k], values float32 [R, k]."""
        ...

    def sample(
        self, logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
    ) -> int:
        """One token from logits [V] float32 by Gumbel-max; key is (seed, choice, absolute position of the new token).

        temperature 0 is the largest logit, ties to the lowest id. The noise of a token is a function of key and token id.
        top_k, top_p and min_p keep tokens in the order (logit descending, id ascending), sums taken in that order.
        """
        ...
