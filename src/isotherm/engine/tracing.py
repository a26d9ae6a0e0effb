"""Follows requests through passes and writes a trace file for each."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from isotherm.core.constants import BLOCK, block_floor
from isotherm.core.plan import PassPlan, PassResult, SampleRow, Segment
from isotherm.core.request import Output, Request
from isotherm.runner.ahead import without_rejected
from isotherm.runner.hashes import PassHashes, StateHashes
from isotherm.runner.runner import Runner
from isotherm.trace.folder import file_name, next_number
from isotherm.trace.hashing import RowHash
from isotherm.trace.record import Computed, Ended, Hashes, Header, Phase, Record, Restored
from isotherm.trace.writer import TraceWriter

log = logging.getLogger("isotherm")


@dataclass(slots=True)
class Followed:
    """A request on its way.

    position: where its next segment begins unless the cache is asked again. writer: from its first pass. lost: it failed.
    """

    number: int
    request: Request
    position: int = 0
    generated: list[int] = field(default_factory=list)
    writer: TraceWriter | None = None
    lost: bool = False


class Tracer:
    """Owns the trace files of one engine, in a folder claimed for it. It reads what passes compute and changes nothing."""

    def __init__(self, folder: Path, runner: Runner, build: dict[str, str]):
        self._folder = folder
        self._first_file = next_number(folder)
        self._runner = runner
        self._build = build
        self._hash = RowHash()
        self._state = StateHashes(runner.state, self._hash)
        self._passes = 0
        self._followed: dict[int, Followed] = {}
        self._numbers: dict[str, int] = {}

    def follow(self, number: int, request: Request) -> None:
        """A request was queued under this number."""
        self._followed[number] = Followed(number, request)
        self._numbers[request.id] = number

    def run(self, plan: PassPlan) -> PassResult:
        """The runner's result, and a record of each segment. What the plan moves was carried."""
        self._passes += 1
        hits = [self._restored(segment) for segment in plan.segments]
        hashes = PassHashes(self._hash)
        result = self._runner.run(plan, hashes)
        first, layers = 0, hashes.layers()
        for planned, hit, rows in zip(plan.segments, hits, result.rows, strict=True):
            segment = without_rejected(planned, rows)
            logits = [hashes.by_place[first + row.offset] for row in segment.rows]
            record = self._computed(segment, layers[:, first : first + len(segment.tokens)], logits, plan)
            followed = self._followed[segment.sequence]
            followed.position = segment.end
            self._write(followed, [record] if hit is None else [hit, record])
            first += len(planned.tokens)
        return result

    def note(self, outputs: Sequence[Output]) -> None:
        """What a step handed out; requests that have ended are closed."""
        for output in outputs:
            followed = self._followed[self._numbers[output.request_id]]
            followed.generated += output.tokens
            if output.finish_reason is not None:
                self._finish(followed, Ended(output.finish_reason, tuple(followed.generated)))

    def _finish(self, followed: Followed, ended: Ended) -> None:
        del self._followed[followed.number], self._numbers[followed.request.id]
        if followed.writer is not None and not followed.lost:
            with _Writing(followed):
                followed.writer.finish(ended)

    def _restored(self, segment: Segment) -> Restored | None:
        """The hit that the segment starts from, hashed before the pass: it did not go on from where the last one ended."""
        followed = self._followed[segment.sequence]
        expected = followed.position
        replay = _Replay.of(segment)
        begins_replay = replay.until > segment.start == replay.start
        if not begins_replay and (segment.start == expected or not segment.start):
            return None
        return Restored(
            number=self._passes,
            cached=segment.start,
            snapshot=block_floor(segment.start) if segment.start != replay.start else replay.start,
            states=self._state.slots([segment.state])[0],
            blocks=self._state.blocks(segment.blocks[: replay.reused(segment.start) // BLOCK]),
        )

    def _computed(self, segment: Segment, rows: Hashes, logits: list[int], plan: PassPlan) -> Computed:
        replay = _Replay.of(segment)
        filled = range(replay.reused(segment.start) // BLOCK, segment.end // BLOCK)
        return Computed(
            number=self._passes,
            phase=_phase(segment, len(self._followed[segment.sequence].request.prompt)),
            start=segment.start,
            tokens=np.array(segment.tokens, np.int32),
            replay=max(0, min(replay.until, segment.end) - segment.start),
            segments=len(plan.segments),
            rows_in_pass=plan.tokens,
            rows=rows,
            logit_offsets=np.array([row.offset for row in segment.rows], np.int32),
            logits=np.array(logits, np.uint64),
            boundaries=np.array([write.position for write in segment.writes], np.int32),
            states=self._state.slots([write.slot for write in segment.writes]),
            first_block=filled.start,
            blocks=self._state.blocks([segment.blocks[index] for index in filled]),
        )

    def _write(self, followed: Followed, records: list[Record]) -> None:
        if followed.lost:
            return
        with _Writing(followed):
            if followed.writer is None:
                followed.writer = TraceWriter(self._path(followed), self._header(followed.request))
            followed.writer.write(*records)

    def _path(self, followed: Followed) -> Path:
        return self._folder / file_name(self._first_file + followed.number, followed.request.id)

    def _header(self, request: Request) -> Header:
        return Header(
            request=request.id,
            prompt=request.prompt,
            layers=tuple(layer.mixer for layer in self._runner.decoder.spec.layers),
            states=self._state.slot_names,
            blocks=self._state.block_names,
            build=self._build,
            choice=request.choice,
            seed=request.seed,
        )


class _Writing:
    """A disk that is full costs the trace, not the answer."""

    def __init__(self, followed: Followed):
        self._followed = followed

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> bool:
        if not isinstance(error, OSError):
            return False
        log.error("trace of %s: %s; it stays unfinished", self._followed.request.id, error)
        self._followed.lost = True
        return True


@dataclass(frozen=True, slots=True)
class _Replay:
    """The segment's replay (native numerics): positions start..until are computed again; none in exact mode."""

    start: int = -1
    until: int = -1
    rewrites: bool = True

    @classmethod
    def of(cls, segment: Segment) -> "_Replay":
        plan = getattr(segment, "replay", None)
        return cls() if plan is None else cls(plan.start, plan.until, plan.rewrites)

    def reused(self, start: int) -> int:
        """Up to where a segment from `start` leaves the keys and values as it found them."""
        return start if self.rewrites else max(start, self.until)


def _phase(segment: Segment, prompt: int) -> Phase:
    """Several sampled rows verify drafts; one row after the prompt decodes; the rest is prefill, recomputation included."""
    if sum(isinstance(row, SampleRow) for row in segment.rows) > 1:
        return Phase.VERIFY
    return Phase.DECODE if len(segment.tokens) == 1 and segment.start >= prompt else Phase.PREFILL
