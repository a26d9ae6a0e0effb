"""Where a value is from, in words: which pass computed it, as what, or which hit brought it."""

from dataclasses import dataclass

from isotherm.trace.reader import Trace
from isotherm.trace.record import Computed, Phase
from isotherm.trace.values import Values


@dataclass(frozen=True, slots=True)
class Origin:
    """how: "prefill", "decode", "verify", "replay" or "restored"; "skipped" and "absent" when the trace does not have the value.

    number: the pass. start, end: positions of the segment, or of the replay. segments, rows: of the whole pass.
    cached, snapshot: of the hit, for what was restored or skipped.
    """

    how: str
    number: int = 0
    start: int = 0
    end: int = 0
    segments: int = 0
    rows: int = 0
    cached: int = 0
    snapshot: int = 0

    def __str__(self) -> str:
        if self.how == "absent":
            return "not computed"
        if self.how in ("restored", "skipped"):
            state = f"the state at {self.snapshot} restored" if self.snapshot else "no state restored"
            return f"{self.how}: before pass {self.number} the cache gave {self.cached} tokens, {state}"
        many = self.end - self.start
        span = f"position {self.start}" if many == 1 else f"positions {self.start}..{self.end - 1}"
        alone = "alone" if self.segments == 1 else f"one of {self.segments} segments, {self.rows} rows"
        return f"pass {self.number}, {self.how} of {span} ({_count(many)}, {alone})"


def origin_of(trace: Trace, record: int, position: int) -> Origin:
    """Of a value at `position` that record number `record` holds."""
    item = trace.records[record]
    if not isinstance(item, Computed):
        return Origin("restored", item.number, cached=item.cached, snapshot=item.snapshot)
    replayed = item.start + item.replay
    if position < replayed:
        return Origin("replay", item.number, item.start, replayed, item.segments, item.rows_in_pass)
    how = Phase(item.phase).name.lower()
    return Origin(how, item.number, replayed, item.end, item.segments, item.rows_in_pass)


def row_origin(values: Values, position: int) -> Origin:
    """Of the rows at a position: the pass that computed them, or the hit that spared it."""
    record = int(values.made[position]) if position < len(values.made) else -1
    if record >= 0:
        return origin_of(values.trace, record, position)
    hit = next((item for item in values.trace.restored if position < item.cached), None)
    return Origin("absent") if hit is None else Origin("skipped", hit.number, cached=hit.cached, snapshot=hit.snapshot)


def _count(tokens: int) -> str:
    return "1 token" if tokens == 1 else f"{tokens} tokens"
