"""Making a failing script smaller while it goes on failing."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from isotherm.core.sampling import SamplingParams
from isotherm.fuzz.script import Ask, Script, Setting

PLAIN = SamplingParams(temperature=0.0, logprobs=20, ignore_eos=True)
ROUNDS = 40


def shrink(script: Script, fails: Callable[[Script], bool], tries: int = 400) -> Script:
    """The smallest script found, in at most so many tries, for which `fails` holds; `script` must be such a one."""
    for _ in range(ROUNDS):
        for smaller in _smaller(script):
            tries -= 1
            if fails(smaller):
                script = smaller
                break
            if not tries:
                return script
        else:
            return script
    return script


def _smaller(script: Script) -> Iterator[Script]:
    """Simpler scripts, the boldest cuts first."""
    asks = script.asks
    size = len(asks) // 2
    while size:
        for start in range(0, len(asks), size):
            yield replace(script, asks=asks[:start] + asks[start + size :])
        size //= 2
    for setting in _settings(script.setting):
        yield replace(script, setting=setting)
    for i, ask in enumerate(asks):
        for simpler in _simpler(ask):
            yield replace(script, asks=(*asks[:i], simpler, *asks[i + 1 :]))


def _settings(setting: Setting) -> Iterator[Setting]:
    usual = Setting()
    for name in Setting.__dataclass_fields__:
        if getattr(setting, name) != getattr(usual, name):
            yield replace(setting, **{name: getattr(usual, name)})


def _simpler(ask: Ask) -> Iterator[Ask]:
    plain = replace(PLAIN, max_tokens=ask.sampling.max_tokens)
    if ask.sampling != plain:
        yield replace(ask, sampling=plain)
    for name, value in (
        ("cancel_after", None),
        ("hint", 0),
        ("salt", ""),
        ("skip_cache", False),
        ("choice", 0),
        ("at", 0),
    ):
        if getattr(ask, name) != value:
            yield replace(ask, **{name: value})  # type: ignore[arg-type]
    most = ask.sampling.max_tokens or 1
    for fewer in {most // 2, most - 1} - {0, most}:
        yield replace(ask, sampling=replace(ask.sampling, max_tokens=fewer, min_tokens=0))
    for i, piece in enumerate(ask.pieces):
        rest = ask.pieces[:i], ask.pieces[i + 1 :]
        if len(ask.pieces) > 1:
            yield replace(ask, pieces=rest[0] + rest[1])
        for length in {piece.length // 2, piece.length - 1} - {0, -1, piece.length}:
            yield replace(ask, pieces=(*rest[0], replace(piece, length=length), *rest[1]))
