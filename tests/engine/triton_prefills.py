"""Padded prefills against plain ones, which test_triton_engine.py runs in a process of its own. Not a test by itself."""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy
import torch
from played_checks import GREEDY, Sequences, check, runner, start
from triton_engine import shape_of

from isotherm.core.plan import PassPlan
from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.tiny import write_tiny


@torch.inference_mode()
def main(kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_tiny(kind, Path(folder), seed=1, **shape_of(kind))
        decoder = load_decoder(Path(folder), load_kernels("triton", "auto", 1), 1024)
    played, plain, sequences = runner(decoder), runner(decoder), Sequences(1, [40, 3], more=200)
    assert played.graphs is not None
    played.graphs._wait = False
    start(sequences, played, plain)
    prompt = sequences.segment(0, 40, (replace(GREEDY, offset=39),))  # across a boundary, and so with rows kept late
    check(played, plain, PassPlan((prompt, sequences.segment(1, 1, (GREEDY,)))))
    (size,) = played.graphs._records
    assert size.alone and size.late and size.asked, size  # type: ignore[attr-defined]


if __name__ == "__main__":
    try:
        int(numpy.zeros(1))
    except TypeError:
        print("NUMPY_TOO_NEW")
        sys.exit(1)
    torch.set_num_threads(1)
    main(sys.argv[1])
