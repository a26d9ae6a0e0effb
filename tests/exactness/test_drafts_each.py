"""How many tokens are guessed for each sequence: its own wish, its own experience, and where a block ends."""

from collections import defaultdict
from dataclasses import replace

import pytest
from harness import (
    EOS,
    GREEDY,
    ON_GPU,
    Answer,
    Setup,
    alone,
    assert_published_is_exact,
    drive,
    request,
    tokens,
)
from scripted import Scripted

from isotherm.core.config import SpeculativeConfig
from isotherm.core.errors import RequestError
from isotherm.core.plan import Segment
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.engine.engine import Engine

LONG = replace(GREEDY, max_tokens=90)
Segments = dict[int, list[Segment]]
"""By the number of the sequence."""


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    from isotherm.model.tiny import write_tiny

    folder = tmp_path_factory.mktemp("drafter")
    write_tiny("qwen3_next", folder, seed=1, drafter=True, vocab_size=512, eos_token_id=EOS)
    return Setup(folder, "c", "bfloat16" if ON_GPU else "float32")


@pytest.fixture(scope="module")
def known() -> list[Answer]:
    """What the requests of one test are answered without drafts; once is enough."""
    return []


def watched(engine: Engine) -> Segments:
    """Every segment that the engine computes from now on."""
    seen: Segments = defaultdict(list)
    run = engine.runner.run

    def noted(plan, *rest, **named):
        for segment in plan.segments:
            seen[segment.sequence].append(segment)
        return run(plan, *rest, **named)

    engine.runner.run = noted  # type: ignore[method-assign]
    return seen


def scripted(engine: Engine, items: list[Request], answers: list[Answer], chance: float) -> None:
    """From now on the drafter is right as often as that."""
    coming = {
        place: (*item.prompt, *answer.tokens) for place, (item, answer) in enumerate(zip(items, answers, strict=True))
    }
    engine.runner.drafter = Scripted(engine.runner.drafter, coming, chance)


@pytest.mark.parametrize("method", ["mtp", "ngram"])
def test_every_request_has_its_own_number_of_drafts_in_one_batch(
    method: str, setup: Setup, known: list[Answer]
) -> None:
    wanted = [0, 1, 3, 8, None]
    kinds = [LONG, SamplingParams(temperature=1.0, max_tokens=70, logprobs=5, ignore_eos=True, frequency_penalty=0.3)]
    items = [
        request(tokens(40 + 9 * place, place % 2), f"r{place}", params, seed=place, num_speculative_tokens=count)
        for place, (count, params) in enumerate((count, params) for count in wanted for params in kinds)
    ]
    expected = known or [alone(setup, replace(item, num_speculative_tokens=None)) for item in items]
    known[:] = expected
    engine = setup.engine(speculative=SpeculativeConfig(method, 8), seqs=10)
    if method == "mtp":
        scripted(engine, items, expected, 0.9)
    seen = watched(engine)
    answers = drive(engine, items)
    assert [answers[item.id].compared for item in items] == [answer.compared for answer in expected]
    most = [max(segment.drafts for segment in seen[number]) for number in range(len(items))]
    limits = [8 if count is None else count for count in wanted for _ in kinds]
    assert all(drafts <= limit for drafts, limit in zip(most, limits, strict=True))
    assert most == limits if method == "mtp" else max(most) > 1
    assert assert_published_is_exact(engine) > 0


def test_a_warm_turn_is_drafted_for_as_a_cold_one_after_a_turn_without_drafts(setup: Setup) -> None:
    """The drafter's entries are there though the first request wanted no drafts; so the second's are the same and as right."""
    first = request(tokens(150, 3), "first", LONG, num_speculative_tokens=0)
    told = alone(setup, replace(first, num_speculative_tokens=None)).tokens
    second = request((*first.prompt, *told, *tokens(20, 4)), "second", LONG)
    counts, cached = [], []
    for turns in ([first, second], [second]):
        engine = setup.engine(speculative=SpeculativeConfig("mtp", 3))
        seen = watched(engine)
        cached.append([drive(engine, [turn])[turn.id] for turn in turns][-1].cached)
        counts.append([(segment.start, segment.tokens) for segment in seen[len(turns) - 1] if segment.drafts])
    assert cached[0] and not cached[1]
    assert counts[0] == counts[1] and counts[0]


def test_more_drafts_than_the_engine_makes_are_refused(setup: Setup) -> None:
    for config, most in ((None, 0), (SpeculativeConfig("mtp", 3), 3)):
        engine = setup.engine(speculative=config)
        drive(engine, [request(tokens(20), num_speculative_tokens=most)])
        for wrong in (most + 1, -1):
            with pytest.raises(RequestError, match=f"from 0 to {most}"):
                engine.add(request(tokens(20), num_speculative_tokens=wrong))


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_adaptive_drafts_follow_the_sequences_own_luck_and_change_nothing(chance: float, setup: Setup) -> None:
    items = [request(tokens(30 + 40 * place, place), f"r{place}", replace(LONG, max_tokens=120)) for place in range(2)]
    expected = [alone(setup, item) for item in items]
    drafted = {}
    for adaptive in (False, True):
        engine = setup.engine(speculative=SpeculativeConfig("mtp", 8, adaptive))
        scripted(engine, items, expected, chance)
        answers = drive(engine, items)
        assert [answers[item.id].compared for item in items] == [answer.compared for answer in expected]
        stats = engine.stats()
        drafted[adaptive] = stats.drafted_tokens, sum(stats.accepted_by_position), stats.passes
    assert assert_published_is_exact(engine) > 0
    (plain, plain_right, plain_passes), (fewer, right, passes) = drafted[False], drafted[True]
    if chance == 0:
        assert fewer < plain / 10
    elif chance == 1:
        assert right > 0.9 * plain_right and passes <= plain_passes + 5
    else:
        assert fewer < plain and right / fewer > plain_right / plain


def test_adaptive_drafts_do_not_depend_on_company(setup: Setup) -> None:
    items = [request(tokens(30 + 7 * place, place), f"r{place}", LONG) for place in range(4)]
    together = setup.engine(speculative=SpeculativeConfig("mtp", 4, adaptive=True))
    seen = watched(together)
    drive(together, items)
    for number, item in enumerate(items):
        by_itself = setup.engine(speculative=SpeculativeConfig("mtp", 4, adaptive=True))
        one = watched(by_itself)
        drive(by_itself, [item])
        assert [(part.start, part.tokens) for part in one[0]] == [(part.start, part.tokens) for part in seen[number]]


@pytest.mark.parametrize("chance", [0.3, 1.0])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_drafts_go_on_past_a_boundary_whose_state_is_of_known_tokens(count: int, chance: float, setup: Setup) -> None:
    """And a state never comes from a guess: a boundary in a segment lies at or before its first draft."""
    items = [request(tokens(63 + place, place), f"r{place}", replace(LONG, max_tokens=140)) for place in range(3)]
    expected = [alone(setup, item) for item in items]
    engine = setup.engine(speculative=SpeculativeConfig("mtp", count))
    scripted(engine, items, expected, chance)
    seen = watched(engine)
    answers = drive(engine, items)
    assert [answers[item.id].compared for item in items] == [answer.compared for answer in expected]
    drafted = [segment for parts in seen.values() for segment in parts if segment.drafts]
    crossing = [segment for segment in drafted if segment.writes]
    assert len(crossing) >= 3
    assert all(segment.writes[-1].position <= segment.end - segment.drafts for segment in crossing)
    assert all(len(segment.blocks) * 64 >= segment.end for segment in drafted)
    assert all(segment.end % 64 or not segment.drafts for segment in drafted)
    assert assert_published_is_exact(engine) > 0
