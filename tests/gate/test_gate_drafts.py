"""The arms of speculative decoding, as data."""

import json

from isotherm.cli.speculative import speculative_of
from isotherm.gate.drafts import DRAFTS
from isotherm.gate.plan import ArmOptions, plan


def test_every_number_of_drafts_is_compared_with_none_and_caching_off() -> None:
    arms = plan(ArmOptions(arms="drafts"))
    assert arms == DRAFTS and arms[0].name == "off" and arms[1].control
    assert all(arm.against is None and not arm.may_differ for arm in arms)


def test_our_server_takes_their_flags() -> None:
    texts = [
        arm.flags[arm.flags.index("--speculative-config") + 1] for arm in DRAFTS if "--speculative-config" in arm.flags
    ]
    assert len(texts) == 6
    assert {json.loads(text)["num_speculative_tokens"] for text in texts} == {1, 3, 8}
    assert all(speculative_of(text) for text in texts)
