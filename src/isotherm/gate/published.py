"""The arms of a published investigation, then its fixes one by one, then exact mode (docs/native.md)."""

from isotherm.gate.arms import OFF_FLAGS, ON_FLAGS, Arm
from isotherm.gate.drafts import speculative

PASS = 32768
"""Rows that a pass may have: every prompt of the batteries is one pass, so that only the layout in question cuts it."""

GRID, FINE = 1024, 64
"""The published fix has 4,096 tokens, and 1,024 for short prompts; ours are shorter, and many end before one fine step there."""

KERNELS = ("--kernels", "auto", "--dtype", "auto", "--threads", "1")
"""Bits of native numerics follow the number of threads, and torch's wait long for one another where cores are shared."""

NATIVE = ("--numerics", "native", *KERNELS, "--max-num-batched-tokens", str(PASS))
OFF = (*NATIVE, *OFF_FLAGS)
ON = (*NATIVE, *ON_FLAGS)
UNRESTORED = ("--native-restore", "never")
TAIL = ("--native-tail-split",)
BELOW = ("--native-restore", "below")
REUSED = ("--native-kv", "reuse")
PARTS = ("--native-match-unit", "1")
SEQUENTIAL = ("--native-replay", "sequential")
ON_GRID = ("--native-grid", str(GRID), "--native-fine-grid", str(FINE))
DRAFTED = speculative("mtp", 3)
ANCHORED = ("--native-drafter-anchor",)

PUBLISHED = (
    Arm("native-off", "caching off", OFF),
    Arm("A0", "caching off, again", OFF, control=True),
    Arm("A1", "on, never restored", (*ON, *UNRESTORED), caching=True, hits=False),
    Arm("A2", "A1, tail split", (*ON, *UNRESTORED, *TAIL), caching=True, hits=False, must_differ_bits=True),
    Arm(
        "A3",
        "tail split, restored below the match, KV reused, sequential replay, parts of blocks matched",
        (*ON, *TAIL, *BELOW, *REUSED, *PARTS, *SEQUENTIAL),
        caching=True,
        must_differ_bits=True,
    ),
    Arm("A4", "A3, whole blocks", (*ON, *TAIL, *BELOW, *REUSED, *SEQUENTIAL), caching=True, may_differ=True),
    Arm("kv-rewritten", "A4, KV recomputed", (*ON, *TAIL, *BELOW, *SEQUENTIAL), caching=True, may_differ=True),
    Arm("grid-off", "caching off, on a grid", (*OFF, *ON_GRID), against="grid-off", may_differ=True),
    Arm(
        "grid",
        "KV recomputed, on a grid",
        (*ON, *BELOW, *SEQUENTIAL, *ON_GRID),
        caching=True,
        against="grid-off",
        may_differ=True,
    ),
    Arm("grid-chunked", "grid, chunked replay", (*ON, *BELOW, *ON_GRID), caching=True, against="grid-off"),
    Arm(
        "grid-4",
        "the same, 4 at once",
        (*ON, *BELOW, *ON_GRID),
        caching=True,
        concurrency=4,
        against="grid-off",
        hits=False,
        may_differ=True,
    ),
    Arm(
        "mtp-off",
        "caching off, on a grid, 3 drafts",
        (*OFF, *ON_GRID, *DRAFTED),
        against="mtp-off",
        may_differ=True,
    ),
    Arm(
        "mtp",
        "grid, chunked replay, 3 drafts",
        (*ON, *BELOW, *ON_GRID, *DRAFTED),
        caching=True,
        against="mtp-off",
        may_differ=True,
    ),
    Arm(
        "mtp-anchored",
        "the same with the drafter anchor",
        (*ON, *BELOW, *ON_GRID, *DRAFTED, *ANCHORED),
        caching=True,
        against="mtp-off",
    ),
    Arm("exact-off", "exact, caching off", OFF_FLAGS, against="exact-off", may_differ=True),
    Arm("exact-on", "exact, caching on", ON_FLAGS, caching=True, against="exact-off"),
)
"""Each arm is compared with `native-off`, but for those on a grid, with drafts and in exact mode, which have their own off."""
