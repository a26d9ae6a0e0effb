"""All that a model keeps between passes, layer by layer: one store a token mixer."""

from dataclasses import dataclass, replace

from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.state import ConvShape, ConvState, DeltaState, IndexedStore, KVStore
from isotherm.model.spec import LayerSpec, ModelSpec
from isotherm.model.support import check_support


@dataclass(frozen=True, slots=True)
class NgramState:
    """What a layer's n-gram embedding keeps: the tokens before, and the inputs of its convolution."""

    tokens: ConvState
    conv: ConvState


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """A recurrent layer's state and its aux state, the convolution's history, and that of its n-grams if it has any."""

    conv: ConvState
    delta: DeltaState
    ngram: NgramState | None = None


@dataclass(frozen=True, slots=True)
class DrafterState:
    """The drafter's keys and values, in the model's blocks, and the row it reads before a boundary and since, as aux state."""

    kv: KVStore | IndexedStore
    hidden: ConvState


LayerState = RecurrentState | KVStore | IndexedStore


@dataclass(frozen=True, slots=True)
class ModelState:
    """layers: a RecurrentState, a KVStore or an IndexedStore for each layer. drafter: None when there is none.

    `by_slot`, `by_block` and `by_lane` name every tensor by layer, with the id as its first dimension: whatever must be exact at
    a boundary is in `by_slot`, so that a snapshot is complete by construction.
    """

    layers: tuple[LayerState, ...]
    drafter: DrafterState | None = None

    def by_slot(self) -> dict[str, Tensor]:
        """State and aux state at a boundary, [slots, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, RecurrentState):
                named[f"{index}.conv"] = layer.conv.history
                named[f"{index}.delta"] = layer.delta.state
                if layer.ngram is not None:
                    named[f"{index}.ngram.tokens"] = layer.ngram.tokens.history
                    named[f"{index}.ngram.conv"] = layer.ngram.conv.history
        if self.drafter is not None:
            named["mtp.hidden"] = self.drafter.hidden.history
        return named

    def by_block(self) -> dict[str, Tensor]:
        """Keys and values, and those of indexers, [blocks, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, KVStore | IndexedStore):
                named |= _keys(str(index), layer)
        if self.drafter is not None:
            named |= _keys("mtp", self.drafter.kv)
        return named

    def by_lane(self) -> dict[str, Tensor]:
        """Rows since the last boundary, [lanes, ...]."""
        named: dict[str, Tensor] = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer, RecurrentState):
                named[f"{index}.conv.rows"] = layer.conv.rows
                named |= {f"{index}.delta.{name}": rows for name, rows in layer.delta.rows.items()}
                if layer.ngram is not None:
                    named[f"{index}.ngram.tokens.rows"] = layer.ngram.tokens.rows
                    named[f"{index}.ngram.conv.rows"] = layer.ngram.conv.rows
        if self.drafter is not None:
            named["mtp.hidden.rows"] = self.drafter.hidden.rows
        return named


def _keys(name: str, store: KVStore | IndexedStore) -> dict[str, Tensor]:
    named = {f"{name}.k": store.k, f"{name}.v": store.v}
    if isinstance(store, IndexedStore):
        named |= {f"{name}.index.keys": store.keys, f"{name}.index.pooled": store.pooled}
    return named


def allocate(
    spec: ModelSpec, kernels: Kernels, blocks: int, slots: int, lanes: int, drafter: bool = False
) -> ModelState:
    """Storage for `blocks` KV blocks, `slots` state slots and `lanes` live sequences, and a drafter's if there is one.

    Raises CheckpointError when these kernels cannot compute the model.
    """
    check_support(spec, kernels)
    layers = tuple(_layer_state(item, spec, kernels, blocks, slots, lanes) for item in spec.layers)
    if not drafter:
        return ModelState(layers)
    hidden = kernels.conv_state(ConvShape(spec.residual_size, 2), slots, lanes)
    return ModelState(layers, DrafterState(drafter_store(spec, kernels, blocks, skip=1), hidden))


def drafter_store(spec: ModelSpec, kernels: Kernels, blocks: int, skip: int) -> KVStore | IndexedStore:
    """Storage for `blocks` blocks of the drafter's keys and values. skip: 1 where its entry 0 stands for nothing."""
    if spec.index is None:
        return kernels.kv_store(spec.kv, blocks)
    return kernels.indexed_store(spec.kv, replace(spec.index.shape, skip=skip), blocks)


def _layer_state(
    layer: LayerSpec, spec: ModelSpec, kernels: Kernels, blocks: int, slots: int, lanes: int
) -> LayerState:
    if layer.mixer == "full_attention":
        return kernels.kv_store(spec.kv, blocks)
    if layer.mixer == "indexed_attention":
        assert spec.index is not None
        return kernels.indexed_store(spec.kv, spec.index.shape, blocks)
    conv = kernels.conv_state(ConvShape(spec.conv_channels, spec.conv_width), slots, lanes)
    delta = kernels.delta_state(spec.delta, slots, lanes)
    if layer.ngram is None:
        return RecurrentState(conv, delta)
    assert spec.streams is not None
    shape = ConvShape(spec.streams.count * spec.hidden_size, layer.ngram.conv_width, layer.ngram.order)
    tokens = kernels.ngram_state(layer.ngram.order, slots, lanes)
    return RecurrentState(conv, delta, NgramState(tokens, kernels.conv_state(shape, slots, lanes)))
