"""Playing a script on an engine, and what came of it."""

import random
import struct
from dataclasses import dataclass, field

from isotherm.core.request import Output, Request, TokenLogprob
from isotherm.fuzz.script import Ask, Piece, Script
from isotherm.fuzz.subject import Subject

Bits = tuple[int, bytes, int, tuple[tuple[int, bytes], ...]]

MOST_STEPS = 200_000


@dataclass(slots=True)
class Answer:
    """Everything that a request was answered: token ids, and log-probabilities as float32 bit patterns."""

    tokens: list[int] = field(default_factory=list)
    bits: list[Bits] = field(default_factory=list)
    prompt_bits: list[Bits] = field(default_factory=list)
    finish: str | None = None
    cached: int = 0

    def add(self, output: Output) -> None:
        """One step's output."""
        self.tokens += output.tokens
        self.bits += [bits_of(entry) for entry in output.logprobs]
        self.prompt_bits += [bits_of(entry) for entry in output.prompt_logprobs or ()]
        self.cached = output.cached_tokens or self.cached
        self.finish = output.finish_reason or self.finish


@dataclass(slots=True)
class Played:
    """requests: as they were added, prompts resolved. answers: by request id. stuck: it did not end."""

    requests: dict[str, Request] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    stuck: bool = False


def play(script: Script, subject: Subject) -> Played:
    """Add and cancel as the script says, and step until nothing is left. Raises AssertionError from the checks within."""
    played = Played()
    waiting = sorted(script.asks, key=lambda ask: (ask.at, ask.number))
    cancels: dict[int, list[str]] = {}
    step = 0
    while waiting or subject.has_work:
        if not subject.has_work:
            step = max(step, waiting[0].at)
        while waiting and waiting[0].at <= step:
            ask = waiting.pop(0)
            request = resolve(ask, played, subject.model.longest, subject.model.decoder.spec.vocab_size)
            subject.add(request)
            played.requests[ask.id], played.answers[ask.id] = request, Answer()
            if ask.cancel_after is not None:
                cancels.setdefault(step + ask.cancel_after, []).append(ask.id)
        for request_id in cancels.pop(step, ()):
            subject.cancel(request_id)
        for output in subject.step() if subject.has_work else ():
            played.answers[output.request_id].add(output)
        step += 1
        if step > MOST_STEPS:
            played.stuck = True
            return played
    return played


def resolve(ask: Ask, played: Played, longest: int, vocabulary: int) -> Request:
    """The request, its prompt made of what is known now; at least one token, and short enough to be served."""
    prompt = tuple(token for piece in ask.pieces for token in _tokens(piece, played, vocabulary))
    prompt = prompt[: longest - 1] or (0,)
    hint = min(ask.hint, len(prompt))
    return Request(ask.id, prompt, ask.sampling, ask.seed, ask.choice, hint, ask.salt, ask.skip_cache, ask.drafts)


def _tokens(piece: Piece, played: Played, vocabulary: int) -> tuple[int, ...]:
    if piece.source == "request":
        request = played.requests.get(f"r{piece.number}")
        if request is None:
            return ()
        told = request.prompt + tuple(played.answers[request.id].tokens)
        return told[: piece.length] if piece.length else told
    rng = random.Random(f"{piece.source} {piece.number}")
    return tuple(rng.randrange(vocabulary) for _ in range(piece.length))


def bits_of(entry: TokenLogprob) -> Bits:
    """A log-probability entry with its floats as bit patterns."""
    top = tuple((token, struct.pack("<f", value)) for token, value in entry.top)
    return (entry.token, struct.pack("<f", entry.logprob), entry.rank, top)
