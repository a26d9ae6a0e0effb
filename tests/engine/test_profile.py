"""The profile: every call of a pass counted once, with the work that bounds it."""

from pathlib import Path

from isotherm.engine.profile import Operation, lines, profile
from isotherm.kernels.load import load_kernels
from isotherm.kernels.native.roof import Roof
from isotherm.model.load import load_decoder


def test_every_call_of_a_pass_is_counted_once(checkpoints: dict[str, Path]) -> None:
    decoder = load_decoder(checkpoints["qwen3_5"], load_kernels("c", "float32", 1), 256)
    found = profile(decoder, 100, 2, 0.0)
    mixers = [layer.mixer for layer in decoder.spec.layers]
    deltas, attentions = mixers.count("linear_attention"), mixers.count("full_attention")
    assert len(found["gated_delta"].times) == len(found["causal_conv"].times) == deltas
    assert len(found["attention"].times) == attentions
    assert len(found["rms_norm"].times) == 2 * len(mixers) + 1
    weights = sum(op.bytes * len(op.times) for label, op in found.items() if label.startswith(("linear", "logits")))
    layers = [*(layer.feed.down for layer in decoder.layers), *(layer.feed.gate_up for layer in decoder.layers)]
    layers += [weight for layer in decoder.layers for weight in (*layer.mixer.project, layer.mixer.out)]
    assert weights == sum(weight.data.nbytes for weight in (*layers, decoder.head))


def test_the_bound_is_the_longer_of_reading_and_multiplying() -> None:
    roof = Roof(read=1e9, multiply=2e9)
    table = lines({"a": Operation(1000, 500, [2e-6, 2e-6]), "b": Operation(100, 1000, [1e-6])}, roof)
    assert table[1].endswith("50% reading") and table[2].endswith("50% multiplying")
    assert table[1].split()[:2] == ["a", "2"] and table[-1].endswith("50%")
