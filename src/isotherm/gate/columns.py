"""The columns of the gate's table: what each says of an arm, in words that terminal and page share."""

from collections.abc import Callable
from dataclasses import dataclass

from isotherm.gate.result import ArmResult
from isotherm.gate.times import Times

NOT_KNOWN = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """name: its heading. value: its text for an arm. width: characters that it needs in a terminal, the least where it may grow.

    leaves: columns with higher numbers are the first to leave a narrow terminal; 0 always stays.
    """

    name: str
    value: Callable[[ArmResult], str]
    width: int
    leaves: int = 0
    number: bool = True

    @property
    def words(self) -> str:
        """The heading where there is room, and where a font may lack the sign."""
        return self.name.replace("text≠", "text differs").replace("bits≠", "bits differ")


def _text_differs(result: ArmResult) -> str:
    return NOT_KNOWN if result.arm.kind == "rescore" else str(result.text_differs)


def _bits_differ(result: ArmResult) -> str:
    """A server that gives neither token ids nor log-probabilities has no bits to compare: that is not 0."""
    given = any(response.answer.token_ids or response.answer.scores for response in result.responses)
    return str(result.count("bits")) if given or result.arm.kind == "rescore" else NOT_KNOWN


def _hits(result: ArmResult) -> str:
    if result.cached_tokens is None:
        return NOT_KNOWN
    return str(result.hits) if result.expected_hits is None else f"{result.hits}/{_bound(result)}{result.expected_hits}"


def _cached(result: ArmResult) -> str:
    if result.cached_tokens is None:
        return NOT_KNOWN
    expected = result.expected_cached_tokens
    if not result.cached_tokens and not expected:
        return ""
    return str(result.cached_tokens) if expected is None else f"{result.cached_tokens}/{_bound(result)}{expected}"


def _bound(result: ArmResult) -> str:
    """Under pressure, what was computed is the most that there may be."""
    return "≤" if result.arm.pressure else ""


def _meets(result: ArmResult) -> str:
    met, asked = result.meets
    return f"{met}/{asked}" if asked else ""


def _over(pair: tuple[int, int] | None) -> str:
    return "" if pair is None else f"{pair[0]}/{pair[1]}"


def _drafts(result: ArmResult) -> str:
    return str(result.drafts_accepted) if result.drafts_accepted else ""


def pair(found: Times | None) -> str:
    """Median and 95th percentile, in milliseconds, or in seconds when they are long."""
    if found is None:
        return ""
    if found.p95 >= 10_000:
        return f"{found.p50 / 1e3:.1f}/{found.p95 / 1e3:.1f}s"
    digits = 1 if found.p95 < 100 else 0
    return f"{found.p50:.{digits}f}/{found.p95:.{digits}f}ms"


ARM = Column("arm", lambda result: result.arm.name, 12, number=False)
SETTING = Column("setting", lambda result: result.arm.setting, 20, leaves=6, number=False)
VERDICT = Column("verdict", lambda result: result.verdict, 11, number=False)

COLUMNS = (
    ARM,
    SETTING,
    Column("resp.", lambda result: str(len(result.responses)), 5, leaves=4),
    Column("text≠", _text_differs, 5),
    Column("bits≠", _bits_differ, 5),
    Column("hits", _hits, 7, leaves=1),
    Column("cached", _cached, 13, leaves=5),
    Column("TTFT cold", lambda result: pair(result.ttft_cold), 11, leaves=3),
    Column("TTFT warm", lambda result: pair(result.ttft_warm), 11, leaves=2),
    Column("meets", _meets, 5, leaves=3),
    Column("states", lambda result: _over(result.checksums), 7, leaves=7),
    Column("drafts", _drafts, 6, leaves=8),
    Column("in hits", lambda result: _over(result.drafts_of_hits), 9, leaves=9),
    VERDICT,
)
