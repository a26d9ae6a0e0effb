"""Drawing scripts at random. What is likely is what has broken engines: offsets around 64, tiny pools, late arrivals."""

import random
from dataclasses import replace

from isotherm.core.constants import BLOCK
from isotherm.core.sampling import SamplingParams
from isotherm.fuzz.script import Ask, Piece, Script, Setting

BUDGETS = (1, 7, 63, 64, 65, 100, 130, 500, 2048)
INTERVALS = (0, 64, 128, 512, 2048)
FAMILIES = 2


def draw(seed: int, longest: int, vocabulary: int) -> Script:
    """The script of `seed`. longest: tokens that the engine serves; vocabulary: token ids."""
    rng = random.Random(seed)
    setting = Setting(
        caching=rng.random() < 0.95,
        budget=rng.choice(BUDGETS),
        seqs=rng.randint(1, 8),
        spare_blocks=rng.choice((0, 0, 1, 5, 20, 100)),
        slots=rng.choice((2, 2, 3, 5, 12, 64)),
        snapshot_interval=rng.choice(INTERVALS),
        threads=rng.choice((1, 1, 1, 2)),
        drafts=rng.choice((0, 0, 1, 2, 3, 8)),
        method=rng.choice(("mtp", "mtp", "ngram")),
        adaptive=rng.random() < 0.3,
    )
    host_blocks, host_slots = _host(random.Random(f"host {seed}"))
    setting = replace(setting, host_blocks=host_blocks, host_slots=host_slots)
    asks: list[Ask] = []
    step = 0
    for number in range(rng.randint(3, 14)):
        step += rng.choice((0, 0, 1, 2, 5, 20, 80))
        asks.append(_ask(rng, number, step, longest, vocabulary, setting.drafts))
    return Script(seed, setting, tuple(asks))


def _host(rng: random.Random) -> tuple[int, int]:
    """Blocks and slots of a host tier, every second time: too small for a path, tiny, or large. With chances of its own, so
    that a seed draws the same requests as before there was one."""
    return (0, 0) if rng.random() < 0.5 else (rng.choice((1, 4, 12, 30, 200)), rng.choice((1, 2, 5, 40)))


def _ask(rng: random.Random, number: int, at: int, longest: int, vocabulary: int, drafts: int) -> Ask:
    sampling = _sampling(rng, longest, vocabulary)
    pieces = _pieces(rng, number, longest - (sampling.max_tokens or 1) // 2)
    return Ask(
        number=number,
        at=at,
        pieces=pieces,
        sampling=sampling,
        seed=rng.randrange(1 << 32),
        choice=rng.choice((0, 0, 0, 1)),
        hint=rng.choice((0, 0, pieces[0].length, rng.randrange(200))),
        salt=rng.choice(("", "", "", "", "other")),
        skip_cache=rng.random() < 0.05,
        drafts=rng.choice((None, None, 0, rng.randint(0, drafts))),
        cancel_after=rng.choice((None,) * 6 + (1, 2, 3, rng.randint(1, 60))),
    )


def _pieces(rng: random.Random, number: int, room: int) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    if number and rng.random() < 0.5:
        pieces.append(Piece("request", rng.randrange(number), rng.choice((0, 0, _length(rng, room)))))
    elif rng.random() < 0.8:
        pieces.append(Piece("family", rng.randrange(FAMILIES), _length(rng, room)))
    if not pieces or rng.random() < 0.8:
        pieces.append(Piece("own", rng.randrange(1 << 30), rng.choice((1, 1, 2, 63, 64, 65, rng.randint(1, 200)))))
    return tuple(pieces)


def _length(rng: random.Random, room: int) -> int:
    """Often near a multiple of 64, at every offset from it now and then."""
    near = BLOCK * rng.randint(1, max(1, min(room // BLOCK, 8))) + rng.choice((-1, 0, 1, rng.randrange(-BLOCK, BLOCK)))
    return max(1, min(room, near))


def _sampling(rng: random.Random, longest: int, vocabulary: int) -> SamplingParams:
    greedy = rng.random() < 0.5
    some = rng.random() < 0.3
    most = rng.choice((1, 2, 8, 24, 70, min(140, longest // 3)))
    return SamplingParams(
        temperature=0.0 if greedy else rng.choice((0.5, 1.0, 1.7)),
        top_p=rng.choice((1.0, 1.0, 0.9, 0.3)),
        top_k=rng.choice((0, 0, 1, 5, 50)),
        min_p=rng.choice((0.0, 0.0, 0.1)),
        presence_penalty=rng.choice((-1.0, 0.7)) if some else 0.0,
        frequency_penalty=rng.choice((0.0, 0.4)) if some else 0.0,
        repetition_penalty=rng.choice((1.0, 1.3)) if some else 1.0,
        max_tokens=most,
        min_tokens=rng.choice((0, 0, min(most, 3))),
        stop=rng.choice(((), (), ("a",), ("e", " t"))),
        stop_token_ids=rng.choice(((), (), (rng.randrange(vocabulary),))),
        ignore_eos=rng.random() < 0.7,
        logprobs=rng.choice((20, 20, 20, 0, None)),
        prompt_logprobs=5 if rng.random() < 0.08 else None,
        logit_bias=((rng.randrange(vocabulary), rng.choice((-8.0, 4.0))),) if rng.random() < 0.1 else (),
    )
