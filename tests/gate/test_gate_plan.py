"""From options and TOML files to arms, without a server."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from textwrap import dedent

import pytest

from isotherm.core.errors import ConfigError
from isotherm.gate.arms import FIRST_FORM, Arm, Launch, Url, budget_arms
from isotherm.gate.battery import Slot
from isotherm.gate.case import Case
from isotherm.gate.plan import ArmOptions, plan
from isotherm.gate.reach import Policy
from isotherm.gate.recording import Recording, Wave
from isotherm.gate.replay import filler

OFF_CMD, ON_CMD = "serve --port {port} --off", "serve --port {port} --on"


def by_name(arms: tuple[Arm, ...]) -> dict[str, Arm]:
    return {arm.name: arm for arm in arms}


def test_without_options_the_arms_are_those_of_the_demo() -> None:
    assert plan(ArmOptions()) == FIRST_FORM
    assert plan(ArmOptions(full=True)) == FIRST_FORM + budget_arms(64) + budget_arms(500)


def test_concurrency_repeat_and_pressure_shape_our_own_arms() -> None:
    arms = by_name(plan(ArmOptions(concurrency=4, repeat=3, pressure=5)))
    assert list(arms) == ["off", "off again", "rescored", "on", "off-4", "on-4", "on-pressure"]
    assert [arm.repeat for arm in arms.values()] == [1, 3, 1, 3, 3, 3, 3]
    assert arms["on-4"].twin == "off-4" and arms["on-4"].against is None
    assert arms["on-pressure"].pressure == 5 and arms["on-pressure"].caching
    assert "off-1" not in by_name(plan(ArmOptions(concurrency=1)))


def test_two_servers_give_a_reference_a_control_and_caching_on() -> None:
    arms = by_name(plan(ArmOptions(off="http://a:1", on="http://b:2")))
    assert list(arms) == ["off", "off again", "on"]
    assert arms["off again"].control and not arms["off"].control and not arms["off"].fresh
    assert (arms["off"].target, arms["on"].target) == (Url("http://a:1"), Url("http://b:2"))
    more = by_name(plan(ArmOptions(off_cmd=OFF_CMD, on_cmd=ON_CMD, concurrency=8, pressure=2)))
    assert list(more) == ["off", "off again", "on", "off-8", "on-8", "on-pressure"]
    assert more["on-8"].twin == "off-8" and more["off-8"].target == more["off"].target


@pytest.mark.parametrize(
    ("command", "url", "launch"),
    [
        (
            "vllm serve m --port {port}",
            "",
            Launch(("vllm", "serve", "m", "--port", "{port}"), "http://127.0.0.1:{port}"),
        ),
        ("x --port 9000", "", Launch(("x", "--port", "9000"), "http://127.0.0.1:9000")),
        ("x --port=9000", "", Launch(("x", "--port=9000"), "http://127.0.0.1:9000")),
        ("x -f 'a b.yml; rm $HOME'", "http://h:1", Launch(("x", "-f", "a b.yml; rm $HOME"), "http://h:1")),
    ],
)
def test_a_command_is_split_into_words_and_its_address_is_found(command: str, url: str, launch: Launch) -> None:
    arms = plan(ArmOptions(off_cmd=command, off=url, on_cmd=ON_CMD))
    assert arms[0].target == launch


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ArmOptions(off="http://a"), "on: say where its server is"),
        (ArmOptions(on_cmd=ON_CMD), "off: say where its server is"),
        (ArmOptions(off="a:1", on="http://b"), "off: expected a URL"),
        (ArmOptions(off_cmd="serve", on_cmd=ON_CMD), "off_cmd: where does it answer?"),
        (ArmOptions(off_cmd="serve 'x", on_cmd=ON_CMD), "off_cmd: cannot be split"),
        (ArmOptions(off="http://a", on="http://a"), "on: it is the same server"),
        (ArmOptions(off="http://a", on="http://b", full=True), "full: "),
        (ArmOptions(arms="x.toml", repeat=2), "arms: the file says it all"),
        (ArmOptions(arms="there/is/none.toml"), "arms: there/is/none.toml: "),
    ],
)
def test_options_that_cannot_be_honoured_are_refused_by_name(options: ArmOptions, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan(options)
    assert str(caught.value).startswith(message)


TOML = """
[[arm]]
name = "off"
cmd = "llama-server -m m.gguf --port {port}"
env = { OMP_NUM_THREADS = 2 }
extra_body = { cache_prompt = false }

[[arm]]
name = "on"
url = "http://127.0.0.1:8080/v1"
caching = true
concurrency = 4
twin = "off"
extra_body = { cache_prompt = true }

[[arm]]
name = "ours"
flags = ["--no-enable-prefix-caching"]
against = "ours"
may_differ = true
setting = "our own"
"""


def test_a_file_names_any_arms_and_the_control_is_added_when_it_has_none(tmp_path: Path) -> None:
    path = tmp_path / "arms.toml"
    path.write_text(TOML)
    off, again, on, ours = plan(ArmOptions(arms=str(path)))
    assert off.target == Launch(("llama-server", "-m", "m.gguf", "--port", "{port}"), env=(("OMP_NUM_THREADS", "2"),))
    assert again == replace(off, name="off again", setting="control", control=True)
    assert on.target == Url("http://127.0.0.1:8080/v1") and on.setting == "caching on, 4 at once"
    assert (on.concurrency, on.twin, on.extra_body) == (4, "off", (("cache_prompt", True),))
    assert ours.target is None and ours.flags == ("--no-enable-prefix-caching",) and ours.setting == "our own"
    assert ours.against == "ours" and ours.may_differ


def test_the_examples_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    lines = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8").splitlines()
    blocks = [
        list(block) for indented, block in groupby(lines, lambda line: line.startswith("    ") or not line) if indented
    ]
    examples = [dedent("\n".join(block)) for block in blocks if any(line == "    [[arm]]" for line in block)]
    assert len(examples) == 3
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.toml"
        path.write_text(example)
        arms = plan(ArmOptions(arms=str(path)))
        assert [arm.name for arm in arms][:3] == ["off", "off again", "on"] and arms[2].caching


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[arm]\n", "Expected"),
        ("x = 1\n", "expected tables [[arm]]"),
        ("[arm]\nname = 'a'\n", "expected tables [[arm]]"),
        ("[[arm]]\nname = 'a'\ncaching = 1\n", "'a': caching is 1"),
        ("[[arm]]\nname = 'a'\nconcurrency = true\n", "'a': concurrency is True"),
        ("[[arm]]\nname = 'a'\nurll = 'x'\n", "'a': unknown 'urll'"),
        ("[[arm]]\nname = 'a'\nurl = 'x'\n", "expected a URL"),
        ("[[arm]]\nname = 'a'\n[[arm]]\nname = 'a'\n", "'a': every arm needs a name of its own"),
        ("[[arm]]\nurl = 'http://a'\n", "every arm needs a name"),
        ("[[arm]]\nname = 'a'\nconcurrency = 2\n", "'a' comes first"),
        ("[[arm]]\nname = 'a'\n[[arm]]\nname = 'b'\nagainst = 'c'\n", "'b': 'c' is no arm before it"),
        ("[[arm]]\nname = 'a'\n[[arm]]\nname = 'b'\nrepeat = 0\n", "'b': concurrency and repeat are at least 1"),
        ("[[arm]]\nname = 'a'\nkind = 'b'\n", "'a': kind must be chat or rescore"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_the_arm(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "arms.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        plan(ArmOptions(arms=str(path)))
    assert message in str(caught.value)


def recording(*turns: int) -> Recording:
    slots = tuple(Slot(Case(f"c{i}", (), ()), turn) for i, turn in enumerate(turns))
    return Recording(slots, ({},) * len(slots), (), (0,) * len(slots))


def places(waves: list[Wave]) -> list[tuple[tuple[int, ...], int]]:
    return [(wave.places, wave.fillers) for wave in waves]


def test_fillers_come_before_every_round_but_the_first_and_no_wave_spans_two() -> None:
    arm = Arm("on", "", concurrency=2, pressure=3, repeat=2)
    assert places(recording(0, 0, 0, 1).waves(arm, None)) == [
        ((0, 1), 0),
        ((2,), 0),
        ((3,), 3),
        ((0, 1), 3),
        ((2,), 0),
        ((3,), 3),
    ]


def test_without_pressure_waves_are_full_whatever_the_turn() -> None:
    assert places(recording(0, 0, 0, 1, 1).waves(Arm("on", "", concurrency=4), None)) == [((0, 1, 2, 3), 0), ((4,), 0)]
    assert places(recording(0, 1).waves(Arm("on", "", repeat=2), Policy())) == [((0,), 0), ((1,), 0)] * 2


def test_fillers_share_no_beginning_and_are_the_same_in_every_run() -> None:
    texts = [filler(number)["messages"][0]["content"] for number in range(12)]
    assert len({text[:2] for text in texts}) == 12 and all(len(text.split()) > 900 for text in texts)
    assert filler(3) == filler(3)
