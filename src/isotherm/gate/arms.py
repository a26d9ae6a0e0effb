"""Arms: what is compared. An arm is data; running it is `run.py`'s business."""

from dataclasses import dataclass
from typing import Literal

CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of serving the battery, on a server of its own.

    setting: what the table says about it. flags: added to the launch command. caching: whether hits are expected.
    concurrency: requests sent at once. kind: "chat" sends the battery; "rescore" sends the reference arm's sequences to that
    arm's server, each in one prefill.
    """

    name: str
    setting: str
    flags: tuple[str, ...] = ()
    caching: bool = False
    concurrency: int = 1
    kind: Literal["chat", "rescore"] = "chat"


OFF_FLAGS = ("--no-enable-prefix-caching",)
ON_FLAGS = ("--enable-prefix-caching",)

REFERENCE = Arm("off", "caching off", OFF_FLAGS)
CONTROL = Arm("off again", "control", OFF_FLAGS)
RESCORED = Arm("rescored", "one prefill", OFF_FLAGS, kind="rescore")

FIRST_FORM = (
    REFERENCE,
    CONTROL,
    RESCORED,
    Arm("on", "caching on", ON_FLAGS, caching=True),
    Arm("off-8", "off, 8 at once", OFF_FLAGS, concurrency=CONCURRENCY),
    Arm("on-8", "on, 8 at once", ON_FLAGS, caching=True, concurrency=CONCURRENCY),
)
"""The reference comes first and the control second: nothing else means anything before they agree."""


def budget_arms(tokens: int) -> tuple[Arm, Arm]:
    """Caching off and on with passes of at most `tokens` rows."""
    budget = ("--max-num-batched-tokens", str(tokens))
    return (
        Arm(f"off-{tokens}t", f"off, {tokens} a pass", OFF_FLAGS + budget),
        Arm(f"on-{tokens}t", f"on, {tokens} a pass", ON_FLAGS + budget, caching=True),
    )


def arms_for(full: bool) -> tuple[Arm, ...]:
    """The arms of a run, reference and control first; `full` adds token budgets of 64 and 500, off and on."""
    return FIRST_FORM + (budget_arms(64) + budget_arms(500) if full else ())
