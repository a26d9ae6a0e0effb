"""The n-gram rows of a recorded pass: hashed and read on the CPU, and sent with the pass's numbers, in one copy."""

from dataclasses import replace

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan
from isotherm.kernels.gpu.upload import Ints, offsets_of
from isotherm.kernels.ngram.device_form import GivenRows, given_key
from isotherm.kernels.ngram.torch_form import ngrams
from isotherm.model.decoder import Decoder
from isotherm.model.ngram_layer import NgramLayer
from isotherm.model.state import ModelState, RecurrentState
from isotherm.model.stream_layer import StreamLayer
from isotherm.runner.layout import lay_out


class GivenNgrams:
    """Of every layer that has n-grams. They lie one after the other, as int32, in a part of a record's memory."""

    def __init__(self, decoder: Decoder, state: ModelState):
        self._dtype = decoder.kernels.dtype
        self._layers: list[tuple[NgramLayer, RecurrentState]] = []
        for layer, kept in zip(decoder.layers, state.layers, strict=True):
            if isinstance(layer, StreamLayer) and layer.ngram is not None:
                assert isinstance(kept, RecurrentState)
                self._layers.append((layer.ngram, kept))

    def size(self, rows: int) -> int:
        """How much memory they take."""
        return self._offsets(rows)[-1]

    def plans(self, memory: Tensor, rows: int) -> dict[object, object]:
        """Where a pass of so many rows finds them, for its batch."""
        parts = zip(self._layers, self._offsets(rows), strict=False)
        return {
            given_key(layer.hashing): GivenRows(self._rows(layer, memory[start:], rows)) for (layer, _), start in parts
        }

    def write(self, plan: PassPlan, space: Ints, rows: int) -> None:
        """The pass's rows, and zeros for those that are added."""
        if not self._layers:
            return
        batch, tokens = lay_out(PassPlan(tuple(replace(item, blocks=()) for item in plan.segments)))
        memory = torch.from_numpy(space)
        for (layer, kept), start in zip(self._layers, self._offsets(rows), strict=False):
            assert kept.ngram is not None
            given = self._rows(layer, memory[start:], rows)
            given[: len(tokens)] = layer.table.rows(ngrams(batch, tokens, layer.hashing, kept.ngram.tokens))
            given[len(tokens) :] = 0

    def _offsets(self, rows: int) -> list[int]:
        return offsets_of([rows * self._words(layer) for layer, _ in self._layers])

    def _words(self, layer: NgramLayer) -> int:
        return layer.table.columns * len(layer.hashing.sizes) * self._dtype.itemsize // 4

    def _rows(self, layer: NgramLayer, memory: Tensor, rows: int) -> Tensor:
        words = self._words(layer)
        return memory[: rows * words].view(self._dtype).view(rows, -1)
