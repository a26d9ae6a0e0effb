"""All that a model keeps between passes, layer by layer: one store a token mixer."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.state import ConvShape, ConvState, DeltaState, KVStore
from isotherm.model.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """A recurrent layer's state and its aux state, the convolution's history."""

    conv: ConvState
    delta: DeltaState


@dataclass(frozen=True, slots=True)
class DrafterState:
    """The drafter's keys and values, in the model's blocks, and the model's row before a boundary and since, as aux state."""

    kv: KVStore
    hidden: ConvState


@dataclass(frozen=True, slots=True)
class ModelState:
    """layers: a RecurrentState or a KVStore for each layer. drafter: None when there is none.

    `by_slot`, `by_block` and `by_lane` name every tensor by layer, with the id as its first dimension: whatever must be exact at
    a boundary is in `by_slot`, so that a snapshot is complete by construction.
    """

    layers: tuple[RecurrentState | KVStore, ...]
    drafter: DrafterState | None = None

    def by_slot(self) -> dict[str, Tensor]:
        """State and aux state at a boundary, [slots, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, RecurrentState):
                named[f"{index}.conv"] = layer.conv.history
                named[f"{index}.delta"] = layer.delta.state
        if self.drafter is not None:
            named["mtp.hidden"] = self.drafter.hidden.history
        return named

    def by_block(self) -> dict[str, Tensor]:
        """Keys and values, [blocks, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, KVStore):
                named[f"{index}.k"] = layer.k
                named[f"{index}.v"] = layer.v
        if self.drafter is not None:
            named |= {"mtp.k": self.drafter.kv.k, "mtp.v": self.drafter.kv.v}
        return named

    def by_lane(self) -> dict[str, Tensor]:
        """Rows since the last boundary, [lanes, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, RecurrentState):
                named[f"{index}.conv.rows"] = layer.conv.rows
                named |= {f"{index}.delta.{name}": rows for name, rows in layer.delta.rows.items()}
        if self.drafter is not None:
            named["mtp.hidden.rows"] = self.drafter.hidden.rows
        return named


def allocate(
    spec: ModelSpec, kernels: Kernels, blocks: int, slots: int, lanes: int, drafter: bool = False
) -> ModelState:
    """Storage for `blocks` KV blocks, `slots` state slots and `lanes` live sequences, and a drafter's if there is one."""
    conv = ConvShape(spec.conv_channels, spec.conv_width)

    def layer(mixer: str) -> RecurrentState | KVStore:
        if mixer == "full_attention":
            return kernels.kv_store(spec.kv, blocks)
        return RecurrentState(kernels.conv_state(conv, slots, lanes), kernels.delta_state(spec.delta, slots, lanes))

    layers = tuple(layer(item.mixer) for item in spec.layers)
    if not drafter:
        return ModelState(layers)
    hidden = kernels.conv_state(ConvShape(spec.hidden_size, 2), slots, lanes)
    return ModelState(layers, DrafterState(kernels.kv_store(spec.kv, blocks), hidden))
