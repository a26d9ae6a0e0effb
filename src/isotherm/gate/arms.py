"""Arms: what is compared. An arm is data; running it is `run.py`'s business."""

from dataclasses import dataclass
from typing import Any, Literal

CONCURRENCY = 8
PORT = "{port}"
"""In a launch command and its URL: a free port."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A server that is started for the arm alone and ended after it.

    command: its words, never given to a shell. url: where it will answer. In both, `{port}` becomes a free port.
    env: added to our environment.
    """

    command: tuple[str, ...]
    url: str = "http://127.0.0.1:{port}"
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Url:
    """A server that is up already and cannot be started afresh. base_url: without /v1."""

    base_url: str


Target = Launch | Url


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of serving the battery.

    setting: what the table says about it. flags: added to the launch command of our own server. caching: whether hits are
    expected. concurrency: requests sent at once. kind: "chat" sends the battery; "rescore" sends the reference arm's sequences
    to that arm's server, each in one prefill.
    target: where its server is; None for our own, started with `flags`. extra_body: added to every request.
    in_turn: fields that requests are given in turn, the first of these to the first request, and again from the beginning.
    repeat: how often the battery is sent. pressure: requests of long unique prompts sent between rounds, for evictions.
    against: name of the earlier arm that it is compared with; None for the first arm, its own name for none.
    twin: name of the arm with caching off at the same concurrency: what differs there is not charged to this one.
    control: a difference ends the run, since nothing else means anything then.
    hits: something must be taken from the cache, when it is on.
    may_differ: a difference is shown and does not fail the run. must_differ_bits: finding none fails it.
    """

    name: str
    setting: str
    flags: tuple[str, ...] = ()
    caching: bool = False
    concurrency: int = 1
    kind: Literal["chat", "rescore"] = "chat"
    target: Target | None = None
    extra_body: tuple[tuple[str, Any], ...] = ()
    in_turn: tuple[tuple[tuple[str, Any], ...], ...] = ()
    repeat: int = 1
    pressure: int = 0
    against: str | None = None
    twin: str | None = None
    control: bool = False
    hits: bool = True
    may_differ: bool = False
    must_differ_bits: bool = False

    @property
    def fresh(self) -> bool:
        """Whether its server is started for it."""
        return not isinstance(self.target, Url)


OFF_FLAGS = ("--no-enable-prefix-caching",)
ON_FLAGS = ("--enable-prefix-caching",)

REFERENCE = Arm("off", "caching off", OFF_FLAGS)
CONTROL = Arm("off again", "control", OFF_FLAGS, control=True)
RESCORED = Arm("rescored", "one prefill", OFF_FLAGS, kind="rescore")

FIRST_FORM = (
    REFERENCE,
    CONTROL,
    RESCORED,
    Arm("on", "caching on", ON_FLAGS, caching=True),
    Arm("off-8", "off, 8 at once", OFF_FLAGS, concurrency=CONCURRENCY),
    Arm("on-8", "on, 8 at once", ON_FLAGS, caching=True, concurrency=CONCURRENCY, twin="off-8"),
)
"""The reference comes first and the control second: nothing else means anything before they agree."""


def budget_arms(tokens: int) -> tuple[Arm, Arm]:
    """Caching off and on with passes of at most `tokens` rows."""
    budget = ("--max-num-batched-tokens", str(tokens))
    return (
        Arm(f"off-{tokens}t", f"off, {tokens} a pass", OFF_FLAGS + budget),
        Arm(f"on-{tokens}t", f"on, {tokens} a pass", ON_FLAGS + budget, caching=True),
    )
