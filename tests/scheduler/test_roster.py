"""Lanes and queues keep the order of arrival."""

from fake_runner import letters
from rig import request

from isotherm.scheduler.roster import Roster
from isotherm.scheduler.sequence import Sequence


def arrivals(count: int) -> list[Sequence]:
    return [Sequence(i, request(str(i), (1,)), letters()) for i in range(count)]


def numbers(sequences: list[Sequence]) -> list[int]:
    return [sequence.number for sequence in sequences]


def test_whoever_has_to_wait_again_waits_at_the_place_of_its_arrival() -> None:
    roster, everyone = Roster(3), arrivals(5)
    for sequence in everyone:
        roster.wait(sequence)
    for sequence in everyone[:3]:
        roster.start(sequence)
    for sequence in (everyone[1], everyone[2]):
        roster.stop(sequence)
        roster.wait(sequence)
    assert (numbers(roster.running), numbers(roster.waiting)) == ([0], [1, 2, 3, 4])


def test_whoever_runs_again_runs_at_the_place_of_its_arrival() -> None:
    roster, everyone = Roster(3), arrivals(3)
    for sequence in everyone:
        roster.wait(sequence)
        roster.start(sequence)
    roster.stop(everyone[0])
    roster.wait(everyone[0])
    roster.start(everyone[0])
    assert numbers(roster.running) == [0, 1, 2]


def test_there_are_as_many_lanes_as_were_asked_for_and_each_is_given_once() -> None:
    roster, everyone = Roster(2), arrivals(3)
    for sequence in everyone:
        roster.wait(sequence)
    roster.start(everyone[0])
    roster.start(everyone[1])
    assert (sorted(s.lane for s in roster.running), roster.has_lane) == ([0, 1], False)
    roster.stop(everyone[0])
    roster.start(everyone[2])
    assert (everyone[0].is_running, sorted(s.lane for s in roster.running)) == (False, [0, 1])
