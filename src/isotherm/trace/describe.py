"""A trace, and a comparison of two, as lines of text."""

from collections.abc import Iterator, Sequence

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.trace.comparison import ABSENT, DIFFERENT, EQUAL, ONLY_A, ONLY_B, Comparison
from isotherm.trace.first import Difference, unexplained
from isotherm.trace.maker import maker_of
from isotherm.trace.printable import printable
from isotherm.trace.reader import Trace
from isotherm.trace.record import Phase
from isotherm.trace.values import Values, values_of

SIGNS = {ABSENT: " ", EQUAL: "=", DIFFERENT: "X", ONLY_A: "a", ONLY_B: "b"}
LEGEND = {"=": "equal", "X": "differs", "a": "only in A", "b": "only in B"}
AROUND_POSITIONS, AROUND_LAYERS = 4, 3
MOST_OTHERS = 4


def comparison_lines(
    comparison: Comparison, beside_a: Sequence[Trace] = (), beside_b: Sequence[Trace] = ()
) -> Iterator[str]:
    """The verdict, what was compared, and, when something differs, the first place with its neighbourhood.

    beside_a, beside_b: traces of the same runs, in which what the cache gave may have been computed.
    """
    found = unexplained(comparison)
    first = found[0] if found else None
    yield "equal" if first is None else f"different, first at {place(first, comparison.layers)}"
    if first is not None:
        for side, origin, values, beside in (
            ("A", first.a, comparison.a, beside_a),
            ("B", first.b, comparison.b, beside_b),
        ):
            yield f"  {side}  {origin}"
            if maker := maker_of(first, values, beside):
                yield f"     which {printable(maker.name)} had computed: {maker.origin}"
        yield "  What it is computed from is equal in both, as far as both have it."
    if len(found) > 1:
        yield "  Also not explained by anything before it:"
        yield from (f"    {place(item, comparison.layers)}" for item in found[1 : 1 + MOST_OTHERS])
        yield from ([f"    and {len(found) - 1 - MOST_OTHERS} more"] if len(found) > 1 + MOST_OTHERS else [])
    yield ""
    for side, values in (("A", comparison.a), ("B", comparison.b)):
        yield from (f"{side if not line.startswith(' ') else ' '}  {line}" for line in _trace_lines(values))
    yield ""
    yield f"{comparison.tokens:,} tokens in common" + (", other tokens after them" if comparison.diverged else "")
    for what, tally in comparison.tallies.items():
        yield (
            f"{what:>14}  {tally.different:,} of {tally.both:,} differ; {tally.only_a:,} only in A, {tally.only_b:,} only in B"
        )
    if first is not None:
        yield ""
        yield from neighbourhood(comparison, first)


def place(difference: Difference, layers: tuple[str, ...]) -> str:
    """Where it is: position, layer, tensor."""
    tensors = printable(", ".join(difference.tensors))
    at = f"position {difference.position}"
    if difference.kind == "logits":
        return f"{at}, logits"
    if difference.layer < 0:
        return f"{at}, the embedding row"
    at = f"{at}, layer {difference.layer} ({printable(layers[difference.layer])})"
    if difference.kind == "state":
        over = f", computed from {difference.start} on" if difference.start < difference.end else ""
        return f"{at}: state at the boundary {difference.end} ({tensors}){over}"
    if difference.kind == "block":
        return f"{at}: KV block of positions {difference.start}..{difference.end - 1} ({tensors})"
    return f"{at}: {tensors} row"


def neighbourhood(comparison: Comparison, first: Difference) -> Iterator[str]:
    """What is kept by the layer of the first difference, then the rows around the first row that differs."""
    yield f"around it ({', '.join(f'{sign} {what}' for sign, what in LEGEND.items())}):"
    yield from _kept(comparison, first)
    different = comparison.rows == DIFFERENT
    positions = np.flatnonzero(different.any(axis=0))
    position = int(positions[0]) if len(positions) else first.position
    lane = int(np.argmax(different[:, position])) if len(positions) else first.layer + 1
    low, high = max(0, position - AROUND_POSITIONS), min(comparison.tokens, position + AROUND_POSITIONS + 1)
    names = ("embedding", *(f"{i} {printable(name)}" for i, name in enumerate(comparison.layers)), "logits")
    yield f"{'position':>22}" + "".join(f"{position:>7}" for position in range(low, high))
    for near in range(max(0, lane - AROUND_LAYERS), min(len(names), lane + AROUND_LAYERS + 1)):
        yield f"{names[near]:>22}" + "".join(f"{SIGNS[int(one)]:>7}" for one in comparison.rows[near, low:high])


def _kept(comparison: Comparison, first: Difference) -> Iterator[str]:
    """States and blocks of one layer, those next to the first difference."""
    header = comparison.a.trace.header
    for what, names, kept, size in (
        ("state at", header.states, comparison.states, 1),
        ("block from", header.blocks, comparison.blocks, BLOCK),
    ):
        columns = {i: name for i, name in enumerate(names) if name.startswith(f"{first.layer}.")}
        near = [at for at in kept if abs(at * size - first.end) <= AROUND_POSITIONS * BLOCK]
        if columns and near:
            yield f"{what:>22}" + "".join(f"{at * size:>7}" for at in near)
        for column, name in columns.items() if near else ():
            yield f"{printable(name):>22}" + "".join(f"{SIGNS[int(kept[at][column])]:>7}" for at in near)


def summary_lines(trace: Trace) -> Iterator[str]:
    """Everything but the hashes."""
    header, values = trace.header, values_of(trace)
    yield from _trace_lines(values)
    yield f"   layers  {len(header.layers)}: {', '.join(dict.fromkeys(map(printable, header.layers)))}"
    yield f"    build  {', '.join(f'{printable(name)} {printable(value)}' for name, value in header.build.items())}"
    if values.repeated:
        yield f" repeated  {values.repeated:,} rows were computed more than once, {values.unequal:,} with another hash"
    yield f"   passes  {_passes(trace)}"


def _trace_lines(values: Values) -> Iterator[str]:
    trace = values.trace
    ended = "unfinished" if trace.ended is None else f"ended: {printable(trace.ended.reason)}"
    prompt, computed = len(trace.header.prompt), int((values.made >= 0).sum())
    yield f"{printable(trace.name)}: request {printable(trace.header.request)}, {ended}"
    generated = len(trace.tokens) - prompt
    yield f"   tokens  {prompt:,} of the prompt, {generated:,} generated, {computed:,} computed"
    for hit in trace.restored:
        state = f"state at {hit.snapshot}" if hit.snapshot else "no state"
        yield f"      hit  before pass {hit.number}: {hit.cached:,} tokens skipped, {state}, {len(hit.blocks)} KV blocks"


def _passes(trace: Trace) -> str:
    counts = {phase: sum(1 for item in trace.computed if item.phase == phase) for phase in Phase}
    parts = [f"{count} {phase.name.lower()}" for phase, count in counts.items() if count]
    cuts = [f"{item.start}..{item.end - 1}" for item in trace.computed if item.phase != Phase.DECODE]
    return f"{', '.join(parts) or 'none'}" + (f" (cut at {' '.join(cuts)})" if cuts else "")
