"""A comparison as JSON."""

from dataclasses import asdict
from typing import Any

from isotherm.trace.comparison import Comparison
from isotherm.trace.first import first_difference
from isotherm.trace.values import Values

SCHEMA = "isotherm.trace.diff/1"


def to_record(comparison: Comparison) -> dict[str, Any]:
    """first: null when the traces are equal."""
    first = first_difference(comparison)
    return {
        "schema": SCHEMA,
        "equal": first is None,
        "first": None if first is None else asdict(first),
        "tokens": comparison.tokens,
        "diverged": comparison.diverged,
        "layers": list(comparison.layers),
        "tallies": {name: asdict(tally) for name, tally in comparison.tallies.items()},
        "a": _side(comparison.a),
        "b": _side(comparison.b),
    }


def _side(values: Values) -> dict[str, Any]:
    trace = values.trace
    return {
        "file": trace.name,
        "request": trace.header.request,
        "prompt_tokens": len(trace.header.prompt),
        "computed": int((values.made >= 0).sum()),
        "finished": trace.ended is not None,
        "build": trace.header.build,
        "hits": [{"pass": hit.number, "cached": hit.cached, "snapshot": hit.snapshot} for hit in trace.restored],
    }
