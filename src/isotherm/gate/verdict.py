"""The words for how a response stands to the reference arm's, and for an arm as a whole."""

import json
from collections.abc import Iterable
from typing import Any, Literal

from isotherm.gate.answer import ToolCall
from isotherm.gate.expect import same_json

ResponseVerdict = Literal[
    "equal", "bits differ", "wording differs", "tool arguments differ", "repeats the call", "missing", "error"
]
"""What a response is found to be, gravest last; a response gets the gravest that is true of it.

bits differ: the same text, but other token ids or log-probabilities.
wording differs: other text, reasoning or finish reason.
tool arguments differ: other tool calls: their number, names, order or raw argument text.
repeats the call: after the tool's result it makes a call that was answered already, and the reference does not.
missing: it lacks something that this server gives elsewhere, so that equal would mean nothing.
error: it did not come.
"""

Kind = Literal["bits", "wording", "arguments", "repeat", "missing", "error"]
"""A single difference's kind, gravest last; the first three words after "bits" are what a user sees."""

VERDICT_OF: dict[Kind, ResponseVerdict] = {
    "bits": "bits differ",
    "wording": "wording differs",
    "arguments": "tool arguments differ",
    "repeat": "repeats the call",
    "missing": "missing",
    "error": "error",
}

GRAVITY: tuple[ResponseVerdict, ...] = ("equal", *VERDICT_OF.values())
"""The verdicts in the order of their gravity."""

TEXT_KINDS: frozenset[Kind] = frozenset({"wording", "arguments", "repeat"})
"""Differences that a user sees."""

ArmVerdict = Literal[
    "pass", "differs", "twin differs", "must differ", "missing", "reach", "no hits", "checksums", "error"
]
"""What an arm is found to be.

differs: some response's text or bits differ. twin differs: they do, and the arm's twin with caching off differs too, so that
batching is to blame; the twin's own verdict counts. must differ: it is there to differ, and nothing does. missing: something
is not there to be compared. reach: all equal, but the cache did not skip what the policy says. no hits: nothing was taken from
the cache, so nothing was tested. checksums: a state was not restored as it was saved. error: a response or the server did not
come.
"""


def gravest(kinds: Iterable[Kind]) -> ResponseVerdict:
    """The verdict of a response with differences of these kinds."""
    found = set(kinds)
    return next((verdict for kind, verdict in reversed(VERDICT_OF.items()) if kind in found), "equal")


def repeated_calls(made: Iterable[ToolCall], answered: Iterable[ToolCall]) -> list[ToolCall]:
    """Those of the calls `made` whose name and arguments (as JSON values) are those of one already `answered`."""
    known = list(answered)
    return [call for call in made if any(same_call(call, other) for other in known)]


def same_call(left: ToolCall, right: ToolCall) -> bool:
    """Whether two calls ask for the same thing: the arguments are compared as JSON values, or as text when they are not JSON."""
    if left.name != right.name:
        return False
    return left.arguments == right.arguments or same_json(_value(left.arguments), _value(right.arguments))


def _value(arguments: str) -> Any:
    """The arguments' value; the text itself, in a box that equals no JSON value, when they cannot be read."""
    try:
        return json.loads(arguments)
    except ValueError:
        return (object(),)
