"""The dense feed-forward: down(silu(gate(x)) * up(x)), gate and up in one projection."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Kernels, Linear
from isotherm.kernels.weight import concatenated
from isotherm.model.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Mlp:
    """gate_up: [2*I, hidden], gate rows first. down: [hidden, I]."""

    gate_up: Linear
    down: Linear

    def forward(self, kernels: Kernels, x: Tensor, residual: Tensor | None) -> Tensor:
        """x [M, hidden] -> residual + mlp(x), or mlp(x) alone, [M, hidden]."""
        return kernels.linear(kernels.silu_mul(kernels.linear(x, self.gate_up)), self.down, residual)


def load_mlp(checkpoint: Checkpoint, at: str, hidden: int, intermediate: int, kernels: Kernels) -> Mlp:
    """Reads `at`{gate,up,down}_proj.weight."""
    gate = checkpoint.take_weight(f"{at}gate_proj.weight", intermediate, hidden)
    up = checkpoint.take_weight(f"{at}up_proj.weight", intermediate, hidden)
    down = checkpoint.take_weight(f"{at}down_proj.weight", hidden, intermediate)
    return Mlp(kernels.pack(concatenated([gate, up])), kernels.pack(down))
