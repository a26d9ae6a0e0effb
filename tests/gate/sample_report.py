"""Reports made by hand, as a run could have left them: for the tests of what is printed, and to look at."""

import io
import random
from dataclasses import replace

from rich.console import Console

from isotherm.gate.answer import Answer, TokenScore, ToolCall, float32_bits
from isotherm.gate.arms import Arm
from isotherm.gate.compare import compare
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response
from isotherm.gate.terminal import TerminalObserver, print_report

HOSTILE = "</pre><script>alert(1)</script>&\"' \x1b[31mred\x1b[0m [bold]m[/bold] \u202egnp.exe\u202c \x00\x9b]8;;x\x07 \ud800 ]]>"

FORECAST = ToolCall("get_forecast", '{"city": "Bergen", "days": 3}')
WEATHER = ToolCall("get_weather", '{"city": "Yakutsk"}')
CASES = [f"a-{name}" for name in ("weather", "forecast", "agenda", "currency", "reminder", "timer", "stock", "parcel")]
COLD = "It is -38.5 degrees Celsius in Yakutsk now, with light snow and a wind of 12 km/h from the north."


def answer(text: str = "", calls: tuple[ToolCall, ...] = (), length: int = 48, seed: int = 0, **more: object) -> Answer:
    """An answer with `length` made-up tokens."""
    rng = random.Random(ascii((text, calls, seed)))
    ids = tuple(rng.randrange(32_000) for _ in range(length))
    scores = tuple(
        TokenScore(f"t{i}", float32_bits(-rng.random()), tuple((f"t{j}", float32_bits(-1.0 - j)) for j in range(3)))
        for i in ids
    )
    made = Answer(
        text=text,
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        prompt_ids=tuple(range(400)),
        token_ids=ids,
        scores=scores,
        completion_tokens=length,
        cached_tokens=0,
        ttft_s=0.03 + rng.random() / 50,
        total_s=0.4,
    )
    return replace(made, **more)


def flip(known: Answer, place: int) -> Answer:
    """The same answer with one bit of one log-probability flipped."""
    score = known.scores[place]
    return replace(
        known, scores=(*known.scores[:place], replace(score, bits=score.bits ^ 1), *known.scores[place + 1 :])
    )


def depart(known: Answer, place: int, text: str, calls: tuple[ToolCall, ...] = ()) -> Answer:
    """An answer whose tokens leave the known one's at `place`."""
    other = answer(text, calls, seed=place)
    cut = len(known.token_ids[:place])
    return replace(
        other,
        token_ids=known.token_ids[:cut] + other.token_ids[cut:],
        scores=known.scores[:cut] + other.scores[cut:],
    )


def reference_answers() -> dict[tuple[str, int], Answer]:
    """What caching off says: a call a case, and the answer to its result."""
    answers: dict[tuple[str, int], Answer] = {}
    for number, case in enumerate([*CASES, "repro-second"]):
        call = WEATHER if case == "repro-second" else FORECAST
        answers[case, 0] = answer("", (call,), seed=number)
        answers[case, 1] = answer(COLD, seed=number)
    return answers


def arm_result(arm: Arm, answers: dict[tuple[str, int], Answer], **more: object) -> ArmResult:
    """Compared with `reference_answers`, each second turn having followed the first one's tool result."""
    rows = []
    for (case, turn), known in reference_answers().items():
        got = answers[case, turn]
        previous = reference_answers()[case, 0].tool_calls if turn else ()
        hit = 64 * (1 + 4 * turn) if arm.caching and case != CASES[0] else 0
        cached = got.cached_tokens if got.cached_tokens else hit
        got = replace(got, cached_tokens=cached, ttft_s=(got.ttft_s or 0.03) / (8 if cached else 1))
        unmet = None if not turn or "-38.5" in got.text else "'-38.5' is not in the answer"
        rows.append(
            Response(case, turn, got, compare(known, got, previous_calls=previous), hit, known.ttft_s, unmet, True)
        )
    return ArmResult(arm, tuple(rows), start_s=1.5, seconds=9.0, **more)


def published() -> GateReport:
    """Native arms red in several ways, exact arms green."""
    known = reference_answers()
    split = dict(known)
    split["a-agenda", 1] = depart(known["a-agenda", 1], 9, COLD.replace("light snow", "some light snow"))
    split["a-stock", 0] = depart(
        known["a-stock", 0], 20, "", (ToolCall("get_forecast", '{"days": 3, "city": "Bergen"}'),)
    )
    split["a-parcel", 1] = flip(known["a-parcel", 1], 30)
    restored = dict(split)
    restored["repro-second", 1] = depart(known["repro-second", 1], 0, "", (WEATHER,))
    restored["a-timer", 1] = flip(known["a-timer", 1], 2)
    off = Arm("off", "native, caching off", ("--no-enable-prefix-caching",))
    arms = (
        off,
        replace(off, name="off again", setting="native, caching off, the same again", control=True),
        Arm("A2", "last pass split at floor((N-1)/16)*16-16, no restore", may_differ=True, must_differ_bits=True),
        Arm("A3", "restore below the match, KV between reused", caching=True, may_differ=True, must_differ_bits=True),
        Arm("exact-on", "numerics exact, caching on", caching=True),
    )
    answers = (known, known, split, restored, known)
    results = tuple(
        arm_result(arm, given, checksums=(16, 16) if arm.caching else None)
        for arm, given in zip(arms, answers, strict=True)
    )
    return GateReport(
        results,
        tuple(arm.name for arm in arms),
        ("a", "repro"),
        model="embedded",
        version="0.2.0",
        build={"code": "0.2.0", "kernels": "5f1c9b2e", "compiler": "gcc 14.2.0 -O3 -ffp-contract=off", "isa": "avx512"},
        logs="/tmp/isotherm-gate-x1",
        command=("isotherm", "gate", "--arms", "published", "--html", "gate.html"),
    )


def hostile() -> GateReport:
    """A server that answers with what could steer a terminal or a page, and differs everywhere; its case ids are no better."""
    arm = Arm(HOSTILE, HOSTILE)
    known = answer(HOSTILE, (ToolCall(HOSTILE, HOSTILE),))
    other = replace(depart(known, 3, HOSTILE + "2", (ToolCall(HOSTILE, HOSTILE + "3"),)), finish_reason=HOSTILE)
    dead = Answer(error=HOSTILE)
    first = ArmResult(Arm("off", "off"), (Response(HOSTILE, 0, known, compare(known, known), None),))
    rows = (Response(HOSTILE, 0, other, compare(known, other), None, None, HOSTILE, True),)
    second = ArmResult(arm, rows, error=HOSTILE, not_compared=(HOSTILE,))
    third = ArmResult(replace(arm, name="dead"), (Response(HOSTILE, 0, dead, compare(known, dead), None),))
    return GateReport(
        (first, second, third),
        ("off", HOSTILE, "dead"),
        (HOSTILE,),
        model=HOSTILE,
        version=HOSTILE,
        build={HOSTILE: HOSTILE},
        error=HOSTILE,
        logs=HOSTILE,
        command=("isotherm", HOSTILE),
    )


def printed(report: GateReport, width: int) -> str:
    """What a terminal of this width shows of it."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    observer = TerminalObserver(console)
    for result in report.arms:
        observer.arm_started(result.arm, len(result.responses))
        observer.arm_finished(result)
    print_report(report, console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]
