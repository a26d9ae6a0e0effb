"""What came out of an arm: its responses, and what they say together."""

from collections import Counter
from dataclasses import dataclass

from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.compare import Comparison
from isotherm.gate.times import Times, times
from isotherm.gate.verdict import GRAVITY, TEXT_KINDS, ArmVerdict, Kind, ResponseVerdict


@dataclass(frozen=True, slots=True)
class Response:
    """One response of an arm. turn, repeat: from 0.

    expected_cached_tokens: what the gate computed; None where it cannot, for servers whose policy is not known.
    reference_ttft_s: the time to first token of the same request in the arm that this one is compared with.
    expectation: why the answer is not what its case asks for; None when it is, or when nothing is asked (`has_expectation`).
    reference_drafts: how many of its reference's tokens were drafts first.
    at_most: the computed number is the most that there may be, since something may have been evicted.
    twin_differs: the arm's twin differs from the reference somewhere, so that this arm's setting is not to blame.
    """

    case: str
    turn: int
    answer: Answer
    comparison: Comparison
    expected_cached_tokens: int | None
    reference_ttft_s: float | None = None
    expectation: str | None = None
    has_expectation: bool = False
    repeat: int = 0
    twin_differs: bool = False
    at_most: bool = False
    reference_drafts: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """Case, turn and repeat: the same in every arm."""
        return self.case, self.turn, self.repeat

    @property
    def verdict(self) -> ResponseVerdict:
        """How it stands to the reference's."""
        return self.comparison.verdict

    @property
    def hit(self) -> bool:
        """Whether the server says that it took something from its cache."""
        return bool(self.answer.cached_tokens)

    @property
    def reached(self) -> bool:
        """Whether the server skipped exactly what the policy says, as far as that is known."""
        told, expected = self.answer.cached_tokens, self.expected_cached_tokens
        if told is None or expected is None:
            return True
        return told <= expected if self.at_most else told == expected


@dataclass(frozen=True, slots=True)
class ArmResult:
    """A finished arm. error: why it has no responses, or stopped before it had them all. seconds: without the server's start.

    checksums: states restored with the bytes that were saved, and states restored, where the server tells.
    not_compared: what this server does not give, in words.
    """

    arm: Arm
    responses: tuple[Response, ...] = ()
    error: str | None = None
    start_s: float = 0.0
    seconds: float = 0.0
    checksums: tuple[int, int] | None = None
    not_compared: tuple[str, ...] = ()

    def count(self, *kinds: Kind) -> int:
        """Responses with a difference of one of these kinds."""
        return sum(response.comparison.has(*kinds) for response in self.responses)

    @property
    def text_differs(self) -> int:
        """Responses in which a user would see a difference."""
        return self.count(*TEXT_KINDS)

    @property
    def drafts_accepted(self) -> int:
        """Tokens that were drafts first, by the server's own count."""
        return sum(response.answer.drafts_accepted for response in self.responses)

    @property
    def drafts_of_hits(self) -> tuple[int, int] | None:
        """Drafts accepted in the hits, and in the same requests of the arm that this one is compared with.

        What a drafter lacks after a hit shows here. None without hits or drafts.
        """
        hits = [response for response in self.responses if response.hit]
        found = sum(hit.answer.drafts_accepted for hit in hits), sum(hit.reference_drafts for hit in hits)
        return found if any(found) else None

    @property
    def verdicts(self) -> dict[ResponseVerdict, int]:
        """How many responses got each verdict, gravest last."""
        found = Counter(response.verdict for response in self.responses)
        return {verdict: found[verdict] for verdict in GRAVITY if found[verdict]}

    @property
    def worst(self) -> Response | None:
        """The first of the responses with the gravest verdict; None when all are equal."""
        unequal = [response for response in self.responses if response.verdict != "equal"]
        return max(unequal, key=lambda response: GRAVITY.index(response.verdict), default=None)

    @property
    def meets(self) -> tuple[int, int]:
        """Responses that are what their case asks for, and responses of which something is asked."""
        asked = [response for response in self.responses if response.has_expectation]
        return sum(response.expectation is None for response in asked), len(asked)

    @property
    def cached_tokens(self) -> int | None:
        """Tokens that the server says it skipped; None when it never says."""
        told = [r.answer.cached_tokens for r in self.responses if r.answer.cached_tokens is not None]
        return sum(told) if told else None

    @property
    def expected_cached_tokens(self) -> int | None:
        """Tokens that it should have skipped; None when that is not known."""
        known = [r.expected_cached_tokens for r in self.responses if r.expected_cached_tokens is not None]
        return sum(known) if known else None

    @property
    def hits(self) -> int:
        """Responses for which something was skipped."""
        return sum(response.hit for response in self.responses)

    @property
    def expected_hits(self) -> int | None:
        """Responses for which something should have been; None when that is not known."""
        if self.expected_cached_tokens is None:
            return None
        return sum(bool(response.expected_cached_tokens) for response in self.responses)

    @property
    def unreached(self) -> tuple[Response, ...]:
        """Responses whose number of cached tokens is not the computed one."""
        return tuple(response for response in self.responses if not response.reached)

    @property
    def findings(self) -> tuple[ArmVerdict, ...]:
        """All that is to be said against the arm, gravest first."""
        differing = [r for r in self.responses if r.comparison.text_differs or r.comparison.has("bits")]
        differs = any(not response.twin_differs for response in differing)
        found: tuple[tuple[ArmVerdict, bool], ...] = (
            ("error", self.error is not None or self.count("error") > 0),
            ("differs", differs),
            ("twin differs", bool(differing) and not differs),
            ("must differ", self.arm.must_differ_bits and not differing),
            ("missing", self.count("missing") > 0),
            ("checksums", self.checksums is not None and self.checksums[0] != self.checksums[1]),
            ("reach", bool(self.unreached)),
            ("no hits", self.arm.caching and self.arm.hits and self.cached_tokens == 0),
        )
        return tuple(verdict for verdict, true in found if true)

    @property
    def verdict(self) -> ArmVerdict:
        """The gravest finding."""
        return self.findings[0] if self.findings else "pass"

    @property
    def exit_code(self) -> int:
        """0: as it should be, differences that it may or must have included. 1: red. 2: it could not be carried out."""
        allowed = {"twin differs"} | ({"differs"} if self.arm.may_differ or self.arm.must_differ_bits else set())
        if "error" in self.findings:
            return 2
        return 1 if set(self.findings) - allowed else 0

    @property
    def ttft(self) -> Times | None:
        """Times to first token of all responses."""
        return times(response.answer.ttft_s for response in self.responses)

    @property
    def ttft_warm(self) -> Times | None:
        """Those of the hits."""
        return times(response.answer.ttft_s for response in self.responses if response.hit)

    @property
    def ttft_cold(self) -> Times | None:
        """Those of the same requests as the hits in the arm that this one is compared with; its own when nothing hit."""
        if self.hits:
            return times(response.reference_ttft_s for response in self.responses if response.hit)
        return self.ttft
