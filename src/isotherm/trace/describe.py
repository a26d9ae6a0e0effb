"""A trace, and a comparison of two, as lines of text."""

from collections.abc import Iterator

from isotherm.trace.comparison import ABSENT, DIFFERENT, EQUAL, ONLY_A, ONLY_B, Comparison
from isotherm.trace.first import Difference, first_difference
from isotherm.trace.reader import Trace
from isotherm.trace.record import Phase
from isotherm.trace.values import Values, values_of

SIGNS = {ABSENT: " ", EQUAL: "=", DIFFERENT: "X", ONLY_A: "a", ONLY_B: "b"}
AROUND_POSITIONS, AROUND_LAYERS = 4, 3


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The verdict, what was compared, and, when something differs, the first place with its neighbourhood."""
    first = first_difference(comparison)
    yield "equal" if first is None else f"different: {place(first, comparison.layers)}"
    if first is not None:
        yield f"  A  {first.a}"
        yield f"  B  {first.b}"
        yield "  What it is computed from is equal in both, as far as both have it."
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
    if difference.kind == "logits":
        return f"first at position {difference.position}, logits"
    if difference.layer < 0:
        return f"first at position {difference.position}, the embedding row"
    layer = f"layer {difference.layer} ({printable(layers[difference.layer])})"
    if difference.kind == "state":
        return f"first at position {difference.position}, {layer}, state at the boundary ({tensors})"
    if difference.kind == "block":
        span = f"{difference.start}..{difference.end - 1}"
        return f"first at position {difference.position}, {layer}, KV block of positions {span} ({tensors})"
    return f"first at position {difference.position}, {layer}, {tensors} row"


def neighbourhood(comparison: Comparison, first: Difference) -> Iterator[str]:
    """Rows of a few layers at a few positions, around the first difference."""
    low, high = max(0, first.position - AROUND_POSITIONS), min(comparison.tokens, first.position + AROUND_POSITIONS + 1)
    yield "around it (= equal, X differs, a and b only in that one):"
    yield " " * 22 + "".join(f"{position:>7}" for position in range(low, high))
    lanes = range(len(comparison.rows))
    names = ("embedding", *(f"{i} {printable(name)}" for i, name in enumerate(comparison.layers)), "logits")
    for lane in lanes[max(0, first.layer + 1 - AROUND_LAYERS) : first.layer + 2 + AROUND_LAYERS]:
        yield f"{names[lane]:>22}" + "".join(f"{SIGNS[int(one)]:>7}" for one in comparison.rows[lane, low:high])


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


def printable(text: str) -> str:
    """Text from a file, with nothing in it that a terminal would obey."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
