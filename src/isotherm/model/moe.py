"""The sparse feed-forward: a router, grouped expert projections, a shared expert, one combination."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Experts, Kernels, Linear
from isotherm.kernels.weight import Weight, concatenated, stacked
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.mlp import Mlp, load_mlp
from isotherm.model.spec import MoeSpec


@dataclass(frozen=True, slots=True)
class Moe:
    """router: [E, hidden]. gate_up: E of [2*I, hidden]. down: E of [hidden, I]. shared_gate: [1, hidden]."""

    spec: MoeSpec
    router: Linear
    gate_up: Experts
    down: Experts
    shared: Mlp | None
    shared_gate: Linear | None

    def forward(self, kernels: Kernels, x: Tensor, residual: Tensor) -> Tensor:
        """x (normed) and residual [M, hidden] -> residual + experts(x) + gated shared expert(x)."""
        routing = kernels.route(kernels.logits(x, self.router), self.spec.active, self.spec.renormalize)
        groups = kernels.group(routing.experts, self.spec.experts)
        hidden = kernels.silu_mul(kernels.grouped_linear(x, self.gate_up, groups, gather=True))
        pairs = kernels.grouped_linear(hidden, self.down, groups, gather=False)
        shared = None if self.shared is None else self.shared.forward(kernels, x, None)
        gate = None if self.shared_gate is None else kernels.linear(x, self.shared_gate)
        return kernels.combine(pairs, routing, groups, shared, gate, residual)


def load_moe(checkpoint: Checkpoint, at: str, hidden: int, spec: MoeSpec, kernels: Kernels) -> Moe:
    """Reads `at`gate, experts (packed or one by one) and shared_expert."""
    gate_up, down = _packed(checkpoint, at, hidden, spec) or _stacked(checkpoint, at, hidden, spec)
    shared = shared_gate = None
    if spec.shared_intermediate:
        shared = load_mlp(checkpoint, f"{at}shared_expert.", hidden, spec.shared_intermediate, kernels)
        shared_gate = kernels.pack(checkpoint.take(f"{at}shared_expert_gate.weight", 1, hidden))
    return Moe(
        spec=spec,
        router=kernels.pack(checkpoint.take(f"{at}gate.weight", spec.experts, hidden)),
        gate_up=kernels.pack_experts(gate_up),
        down=kernels.pack_experts(down),
        shared=shared,
        shared_gate=shared_gate,
    )


def _packed(checkpoint: Checkpoint, at: str, hidden: int, spec: MoeSpec) -> tuple[Weight, Weight] | None:
    if f"{at}experts.gate_up_proj" not in checkpoint:
        return None
    gate_up = checkpoint.take_weight(f"{at}experts.gate_up_proj", spec.experts, 2 * spec.intermediate, hidden)
    return gate_up, checkpoint.take_weight(f"{at}experts.down_proj", spec.experts, hidden, spec.intermediate)


def _stacked(checkpoint: Checkpoint, at: str, hidden: int, spec: MoeSpec) -> tuple[Weight, Weight]:
    wide, tall = (spec.intermediate, hidden), (hidden, spec.intermediate)

    def take(expert: int, name: str, shape: tuple[int, int]) -> Weight:
        return checkpoint.take_weight(f"{at}experts.{expert}.{name}_proj.weight", *shape)

    gate_up = [concatenated([take(e, "gate", wide), take(e, "up", wide)]) for e in range(spec.experts)]
    return stacked(gate_up), stacked([take(e, "down", tall) for e in range(spec.experts)])
