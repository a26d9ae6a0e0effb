"""The arms of speculative decoding, as data."""

import json

from isotherm.cli.speculative import speculative_of
from isotherm.gate.answer import Answer
from isotherm.gate.columns import COLUMNS
from isotherm.gate.compare import Comparison
from isotherm.gate.drafts import DRAFTS
from isotherm.gate.plan import ArmOptions, plan
from isotherm.gate.result import ArmResult, Response


def test_every_number_of_drafts_is_compared_with_none_and_caching_off() -> None:
    arms = plan(ArmOptions(arms="drafts"))
    assert arms == DRAFTS and arms[0].name == "off" and arms[1].control
    assert all(arm.against is None and not arm.may_differ for arm in arms)


def test_our_server_takes_their_flags() -> None:
    texts = [
        arm.flags[arm.flags.index("--speculative-config") + 1] for arm in DRAFTS if "--speculative-config" in arm.flags
    ]
    assert len(texts) == 8
    assert {json.loads(text)["num_speculative_tokens"] for text in texts} == {1, 3, 8}
    assert all(speculative_of(text) for text in texts)


def test_drafts_of_hits_stand_beside_those_of_the_same_requests() -> None:
    """What a drafter lacks after a hit: seven of a hit's tokens were drafts, and nine of the same request's without the hit."""

    def response(accepted: int, before: int, cached: int) -> Response:
        answer = Answer(drafts_accepted=accepted, cached_tokens=cached)
        return Response("case", 0, answer, Comparison(()), None, reference_drafts=before)

    result = ArmResult(DRAFTS[3], (response(7, 9, 64), response(5, 6, 0)))
    assert (result.drafts_accepted, result.drafts_of_hits) == (12, (7, 9))
    told = {column.name: column.value(result) for column in COLUMNS}
    assert (told["drafts"], told["in hits"]) == ("12", "7/9")
    assert ArmResult(DRAFTS[3], (response(5, 6, 0),)).drafts_of_hits is None


def test_one_arm_asks_for_every_number_of_drafts_in_one_batch() -> None:
    (mixed,) = (arm for arm in DRAFTS if arm.in_turn)
    counts = [dict(fields)["num_speculative_tokens"] for fields in mixed.in_turn]
    assert counts == [0, 1, 3, 8] and mixed.concurrency >= 2 * len(counts)
