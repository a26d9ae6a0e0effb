"""The arms of speculative decoding: every number of drafts against none."""

import json

from isotherm.gate.arms import OFF_FLAGS, ON_FLAGS, Arm

COUNTS = (1, 3, 8)
AT_ONCE = 8
MIXED = (0, *COUNTS)


def speculative(method: str, count: int, **more: bool) -> tuple[str, str]:
    """The flag with which a server of ours guesses so many tokens ahead."""
    return "--speculative-config", json.dumps({"method": method, "num_speculative_tokens": count} | more)


DRAFTS = (
    Arm("off", "no drafts, caching off", OFF_FLAGS),
    Arm("off again", "control", OFF_FLAGS, control=True),
    Arm("on", "no drafts, caching on", ON_FLAGS, caching=True),
    *(Arm(f"mtp-{n}", f"on, {n} drafts by MTP", (*ON_FLAGS, *speculative("mtp", n)), caching=True) for n in COUNTS),
    Arm("ngram-3", "on, 3 drafts by n-gram", (*ON_FLAGS, *speculative("ngram", 3)), caching=True),
    Arm("mtp-3-off", "off, 3 drafts by MTP", (*OFF_FLAGS, *speculative("mtp", 3))),
    Arm(
        "mtp-3-8",
        f"on, 3 drafts, {AT_ONCE} at once",
        (*ON_FLAGS, *speculative("mtp", 3)),
        caching=True,
        concurrency=AT_ONCE,
    ),
    Arm(
        "mtp-mixed",
        f"on, {', '.join(map(str, MIXED))} drafts in turn, {AT_ONCE} at once",
        (*ON_FLAGS, *speculative("mtp", max(MIXED))),
        caching=True,
        concurrency=AT_ONCE,
        in_turn=tuple((("num_speculative_tokens", count),) for count in MIXED),
    ),
    Arm(
        "mtp-adaptive",
        f"on, as many of {max(MIXED)} drafts as are right, {AT_ONCE} at once",
        (*ON_FLAGS, *speculative("mtp", max(MIXED), adaptive=True)),
        caching=True,
        concurrency=AT_ONCE,
    ),
)
"""Each is compared with `off`: no drafts, caching off."""
