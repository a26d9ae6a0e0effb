"""A script: everything that happens to one engine, as a value. It can be written down, replayed and made smaller."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from isotherm.core.sampling import SamplingParams

Source = Literal["family", "own", "request"]


@dataclass(frozen=True, slots=True)
class Piece:
    """`length` tokens of a prompt.

    source: "family" `number` (many prompts share a family's beginning), "own" tokens drawn from `number`, or "request": what the
    request of that number was asked and has answered so far.
    """

    source: Source
    number: int
    length: int


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. at: the step before which it arrives. cancel_after: steps later it is cancelled, None for never.

    drafts: guesses at once for it, at most; None for as many as the engine makes.
    """

    number: int
    at: int
    pieces: tuple[Piece, ...]
    sampling: SamplingParams
    seed: int = 0
    choice: int = 0
    hint: int = 0
    salt: str = ""
    skip_cache: bool = False
    drafts: int | None = None
    cancel_after: int | None = None

    @property
    def id(self) -> str:
        """The request's id in the engine."""
        return f"r{self.number}"


@dataclass(frozen=True, slots=True)
class Setting:
    """How the engine is set up. spare_blocks, slots: beyond the least that the limits need, so 0 is the tiniest pool.

    drafts: how many tokens are guessed ahead at most, by `method`; 0 for none. adaptive: fewer where they were wrong.
    host_blocks, host_slots: of the host tier, 0 for none.
    """

    caching: bool = True
    budget: int = 2048
    seqs: int = 8
    spare_blocks: int = 64
    slots: int = 64
    snapshot_interval: int = 2048
    threads: int = 1
    drafts: int = 0
    method: str = "mtp"
    adaptive: bool = False
    host_blocks: int = 0
    host_slots: int = 0


@dataclass(frozen=True, slots=True)
class Script:
    """One engine's life. seed: where it came from, if it was drawn."""

    seed: int
    setting: Setting = field(default_factory=Setting)
    asks: tuple[Ask, ...] = ()

    def to_json(self) -> str:
        """As text, one field after the other."""
        return json.dumps(asdict(self), indent=1)


def script_from(text: str) -> Script:
    """The script that `to_json` wrote."""
    record = json.loads(text)
    return Script(record["seed"], Setting(**record["setting"]), tuple(_ask(ask) for ask in record["asks"]))


def _ask(record: dict[str, Any]) -> Ask:
    sampling = dict(record["sampling"])
    for name in ("stop", "stop_token_ids"):
        sampling[name] = tuple(sampling[name])
    sampling["logit_bias"] = tuple((token, bias) for token, bias in sampling["logit_bias"])
    pieces = tuple(Piece(**piece) for piece in record["pieces"])
    return Ask(**record | {"pieces": pieces, "sampling": SamplingParams(**sampling)})
