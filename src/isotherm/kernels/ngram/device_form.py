"""Hashed n-grams for a model on a device: tokens are hashed on the CPU, where their histories and the table stay."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.upload import Upload
from isotherm.kernels.ngram.torch_form import NgramHash, ngrams
from isotherm.kernels.ngram.torch_form import ngram_state as ngram_state  # one layout, and always the CPU's memory
from isotherm.kernels.state import ConvState
from isotherm.kernels.stream_api import NgramRows


@dataclass(frozen=True, slots=True)
class GivenRows:
    """rows: [M, dim] on the device, of a recorded pass; whoever plays it has written them."""

    rows: Tensor


def given_key(hashing: NgramHash) -> object:
    """Under which a batch's plans have GivenRows."""
    return "ngram rows", hashing


def ngram_rows(
    upload: Upload, batch: Batch, tokens: Tensor, hashing: NgramHash, table: NgramRows, state: ConvState
) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.ngram_rows."""
    if isinstance(batch, DeviceBatch) and isinstance(given := batch.plans.get(given_key(hashing)), GivenRows):
        return given.rows
    return upload.rows(table.rows(on_host(batch, tokens, hashing, state)))


def on_host(batch: Batch, tokens: Tensor, hashing: NgramHash, state: ConvState) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.ngrams. The device is not waited for where the tokens are known."""
    if isinstance(batch, DeviceBatch):
        assert batch.host is not None
        known = tokens.cpu() if batch.tokens is None else batch.tokens
        return ngrams(batch.host, known, hashing, state)
    return ngrams(batch, tokens, hashing, state)
