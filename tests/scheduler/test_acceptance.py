"""How many guesses are worth checking."""

import random

from isotherm.scheduler.acceptance import MOST, WORTH, Acceptance


def after(chance: float, passes: int = 400) -> list[int]:
    """How many guesses were worth checking, pass by pass, when each is right with this chance."""
    acceptance, rng, counts = Acceptance(), random.Random(1), []
    for _ in range(passes):
        counts.append(acceptance.worth())
        right = next((place for place in range(counts[-1]) if rng.random() >= chance), counts[-1])
        acceptance.learn(counts[-1], right)
    return counts


def test_at_first_a_few_guesses_are_worth_it() -> None:
    assert 0 < Acceptance().worth() < MOST


def test_guesses_that_are_always_right_become_as_many_as_there_can_be() -> None:
    assert after(1.0)[-1] == MOST


def test_guesses_that_are_always_wrong_are_given_up_and_tried_again_now_and_then() -> None:
    counts = after(0.0)
    late = counts[100:]
    assert 0 < sum(late) < len(late) / 8 and max(late) == 1


def test_between_them_there_are_as_many_as_are_likely_enough_to_be_right() -> None:
    counts = after(0.8, 2000)[200:]
    fair = next(count for count in range(MOST) if 0.8 ** (count + 1) < WORTH)
    assert abs(sum(counts) / len(counts) - fair) < 1.5


def test_a_text_that_becomes_easy_to_guess_is_guessed_again() -> None:
    acceptance = Acceptance()
    for _ in range(100):
        acceptance.learn(acceptance.worth(), 0)
    worth = []
    for _ in range(100):
        worth.append(acceptance.worth())
        acceptance.learn(worth[-1], worth[-1])
    assert worth[-1] == MOST
